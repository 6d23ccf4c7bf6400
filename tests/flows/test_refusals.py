"""What stops a run: guards, wrong input, other people's folders; readers keep what they had."""

import json
from pathlib import Path

import pytest

from schemas.errors import GuardRefused
from tests.fakes.handbook import Handbook
from tests.fakes.prefect_server import free_port
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server


def test_mass_removal_is_refused_until_it_is_accepted(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    before = sitegraph.export(index)
    for name in ("tokens", "guards", "batches"):
        handbook.remove(f"/{name}.html", status=410)

    done = sitegraph.call("run", str(source), "--index", str(index))
    refused = sitegraph.export(index)
    report = sitegraph.run(source, index, accept=True)

    assert done.returncode == 4
    assert "3 of 10 documents would be removed" in done.stderr
    assert f"to go ahead: sitegraph run {source} --accept --index {index}" in done.stderr
    assert refused == before
    assert report["documents"]["gone"] == 3
    assert report["guard"] == "3 of 10 documents would be removed"
    assert len(sitegraph.export(index)["documents"]) == 7


def test_a_site_that_recovers_after_a_refusal_is_unchanged(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    articles = dict(handbook.articles)
    for name in ("tokens", "guards", "batches"):
        handbook.remove(f"/{name}.html", status=410)
    with pytest.raises(GuardRefused) as refused:
        sitegraph.run(source, index)
    again = f"sitegraph.index_source({str(source)!r}, index={str(index)!r}, accept=True)"
    assert again in str(refused.value), "a program is told the call, not a command"
    for path, article in articles.items():
        handbook.write(path, article)

    report = sitegraph.run(source, index)

    assert report["generation"] is None
    assert report["documents"]["unchanged"] == 10


def test_an_unreadable_seed_is_refused_and_forgiven(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    page = handbook.site.pages["/index.html"]
    handbook.site.pages["/index.html"] = Reply(b"away", 404)

    with pytest.raises(GuardRefused, match=r"index\.html cannot be read"):
        sitegraph.run(source, index)

    handbook.site.pages["/index.html"] = page
    assert sitegraph.run(source, index)["documents"]["unchanged"] == 10


@pytest.mark.long
def test_a_host_that_does_not_answer_exits_4_and_leaves_no_index(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    address = f"127.0.0.1:{free_port()}"
    source = tmp_path / "away.yaml"
    source.write_text(
        f"name: away\nkind: web\nseeds: ['http://{address}/']\n"
        f"allow_private: ['{address}']\nrate: {{per_host_delay: 0}}\n"
    )

    done = sitegraph.command("run", str(source), "--index", str(tmp_path / "index"))

    assert done.returncode == 4
    assert f"http://{address}/ cannot be read" in done.stderr
    assert not (tmp_path / "index").exists()


def test_a_site_without_a_word_is_refused(sitegraph: Sitegraph, tmp_path: Path) -> None:
    with serve(Site({"/": Reply(b"<html><body></body></html>")})) as site:
        source = tmp_path / "empty.yaml"
        source.write_text(
            f"name: empty\nkind: web\nseeds: ['{site.url('/')}']\n"
            f"allow_private: ['{site.address}']\nrate: {{per_host_delay: 0}}\n"
        )

        with pytest.raises(GuardRefused):
            sitegraph.run(source, tmp_path / "index")


def test_a_root_that_is_not_there_is_refused_and_deletes_nothing(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("# One\n\nThe only note in this folder says so.\n")
    source, index = tmp_path / "notes.yaml", tmp_path / "index"
    source.write_text("name: notes\nkind: files\nroots: [notes]\n")
    sitegraph.run(source, index)
    before = sitegraph.export(index)
    (tmp_path / "notes").rename(tmp_path / "elsewhere")

    with pytest.raises(GuardRefused, match="does not exist"):
        sitegraph.run(source, index)

    assert sitegraph.export(index) == before


def test_a_folder_that_is_no_index_exits_2(sitegraph: Sitegraph, source: Path, tmp_path: Path) -> None:
    other = tmp_path / "somebody-elses"
    other.mkdir()
    (other / "letter.txt").write_text("dear reader")

    run = sitegraph.call("run", str(source), "--index", str(other))
    query = sitegraph.call("query", "anything", "--index", str(other))

    assert (run.returncode, query.returncode) == (2, 2)
    assert [path.name for path in other.iterdir()] == ["letter.txt"]


def test_an_index_of_another_model_exits_4_and_says_what_a_change_costs(
    sitegraph: Sitegraph, source: Path, index: Path
) -> None:
    done = sitegraph.call("run", str(source), "--index", str(index), SITEGRAPH_MODEL="bge-small-en-v1.5")

    assert done.returncode == 4
    assert "passages again" in done.stderr
    assert (index / "CURRENT").read_text().startswith("1\n")


def test_an_index_keeps_its_kind_of_graph(sitegraph: Sitegraph, source: Path, index: Path) -> None:
    done = sitegraph.call("run", str(source), "--index", str(index), "--graph", "neo4j")

    assert done.returncode == 2
    assert "keeps its graph in lance" in done.stderr


def test_one_bad_document_is_a_problem_and_the_run_goes_on(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    handbook.link("/index.html", "/broken.pdf", "a broken file")
    broken = Reply(b"%PDF-1.7\nnothing of use", content_type="application/pdf")
    handbook.site.pages["/broken.pdf"] = broken

    done = sitegraph.call("run", str(source), "--index", str(index), "--format", "json")

    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["published"]
    assert report["documents"]["failed"] == 1
    assert [problem["url"] for problem in report["problems"]] == [handbook.site.url("/broken.pdf")]


def test_a_prefect_server_that_is_away_is_exit_code_3_and_nothing_is_changed(
    sitegraph: Sitegraph, source: Path, index: Path
) -> None:
    before = sitegraph.export(index)
    away = f"http://127.0.0.1:{free_port()}/api"

    done = sitegraph.command("run", str(source), "--index", str(index), PREFECT_API_URL=away)

    assert done.returncode == 3
    assert done.stderr.startswith(
        f"sitegraph: Prefect server {away}/: cannot be reached; set PREFECT_API_URL"
    )
    assert done.stderr.count("\n") == 1
    assert sitegraph.export(index) == before
