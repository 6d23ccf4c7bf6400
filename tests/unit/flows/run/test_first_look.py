"""A source that cannot be read leaves no index behind, nor the folder of one."""

from pathlib import Path

import pytest

from flows.crawl.fetch import fetch_batch
from flows.crawl.plan import plan_next_wave, plan_source
from flows.run.opening import open_run
from runtime.settings import read_settings
from schemas.errors import GuardRefused
from tests.fakes.site_server import Reply, Site, serve
from tests.unit.flows.run.test_create_index import write_model


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the index would be; its model is not exported, since nothing is encoded."""
    monkeypatch.setenv("SITEGRAPH_MODEL", write_model(tmp_path / "model"))
    monkeypatch.setattr("flows.run.resources.Resources.export_encoder", lambda _pipeline, **_: None)
    return tmp_path / "made" / "index"


def web_source(folder: Path, site: Site, *paths: str) -> str:
    seeds = ", ".join(f"'{site.url(path)}'" for path in paths)
    (folder / "web.yaml").write_text(
        f"name: web\nkind: web\nseeds: [{seeds}]\nallow_private: ['{site.address}']\n"
        "rate: {per_host_delay: 0}\n"
    )
    return str(folder / "web.yaml")


def files_source(folder: Path, root: str) -> str:
    (folder / "notes.yaml").write_text(f"name: notes\nkind: files\nroots: [{root}]\n")
    return str(folder / "notes.yaml")


@pytest.mark.parametrize("status", [404, 403, 410])
def test_a_seed_that_cannot_be_read_leaves_no_folder(tmp_path: Path, index: Path, status: int) -> None:
    with serve(Site({"/": Reply(b"<p>here</p>"), "/away": Reply(b"away", status)})) as site:
        source = web_source(tmp_path, site, "/", "/away")
        with (
            pytest.raises(GuardRefused, match="/away cannot be read"),
            open_run(source, read_settings(str(index))),
        ):
            pass

    assert not index.parent.exists()


def test_a_root_that_is_not_there_leaves_no_folder(tmp_path: Path, index: Path) -> None:
    source = files_source(tmp_path, "nowhere")
    with (
        pytest.raises(GuardRefused, match="root folder does not exist"),
        open_run(source, read_settings(str(index))),
    ):
        pass

    assert not index.parent.exists()


def test_roots_without_a_file_leave_no_folder(tmp_path: Path, index: Path) -> None:
    (tmp_path / "empty").mkdir()
    source = files_source(tmp_path, "empty")
    with (
        pytest.raises(GuardRefused, match="no readable document"),
        open_run(source, read_settings(str(index))),
    ):
        pass

    assert not index.parent.exists()


def test_what_the_seeds_answered_is_not_asked_for_again(tmp_path: Path, index: Path) -> None:
    pages = {"/": Reply(b"<p>here</p>"), "/old": Reply(b"", 301, {"Location": "/"})}
    with serve(Site(pages)) as site:
        source = web_source(tmp_path, site, "/", "/old")
        with open_run(source, read_settings(str(index)), quiet=True) as opened:
            plan_source(opened.crawling())
            for batch in plan_next_wave(opened.crawling(), due_by=None):
                fetch_batch(opened.crawling(), batch.uris)
            known = opened.index.ledger.documents.of_source("web")

        assert sorted(document.state.value for document in known) == ["fetched", "redirected"]
        assert sorted(path for path in site.paths() if path in pages) == ["/", "/old"]
        assert opened.index.manifest.index_id


def test_an_index_that_is_there_stays_when_a_seed_cannot_be_read(tmp_path: Path, index: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("# One\n")
    with open_run(files_source(tmp_path, "notes"), read_settings(str(index)), quiet=True):
        pass

    gone = files_source(tmp_path, "nowhere")
    with (
        pytest.raises(GuardRefused, match="does not exist"),
        open_run(gone, read_settings(str(index)), quiet=True) as opened,
    ):
        plan_source(opened.crawling())

    assert (index / "index.json").exists()
    assert (index / "CURRENT").read_text() == "0\n"
