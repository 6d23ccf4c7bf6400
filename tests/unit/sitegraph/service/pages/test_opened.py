"""Citations, documents, runs and neighbourhoods as pages, over an index of two generations."""

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest
from starlette.testclient import TestClient

from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from schemas.nodes import Chunk
from schemas.settings import Settings
from sitegraph.actions.health import read_health
from sitegraph.service.guard import RequestLimits
from sitegraph.service.parts import open_service_parts
from tests.fakes.copies import copy_index
from tests.fakes.governance import governance_documents
from tests.fakes.next_generation import publish_next
from tests.fakes.second_generation import WAL_NOW, Changed, publish_second
from tests.fakes.small_index import page
from tests.unit.sitegraph.service.conftest import serving

BROWSER = {"Accept": "text/html"}
NOBODY = "a" * 26


@pytest.fixture(scope="module")
def second(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Changed]:
    root = copy_index(folder, tmp_path_factory.mktemp("second") / "index")
    return root, publish_second(root)


@pytest.fixture(scope="module")
def changed(second: tuple[Path, Changed]) -> Changed:
    return second[1]


@pytest.fixture(scope="module")
def browser(second: tuple[Path, Changed]) -> Iterator[TestClient]:
    with serving(second[0]) as opened:
        opened.headers.update(BROWSER)
        yield opened


def shown(browser: TestClient, path: str) -> str:
    """The text of a page that is there."""
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def chunks() -> list[Chunk]:
    return [chunk for _, found in governance_documents()[0] for chunk in found]


def test_a_passage_is_marked_in_its_section_and_leads_on(browser: TestClient, changed: Changed) -> None:
    text = shown(browser, f"/cite/{changed.now}")
    assert f'<mark id="passage">{WAL_NOW}</mark>' in text
    assert "backup.md#wal-size" in text
    for address in (f"/doc/{changed.doc}", f"/near/{changed.now}", f"/cite/{changed.first}#passage"):
        assert f'href="{address}"' in text


def test_a_passage_tells_what_it_was_before(browser: TestClient, changed: Changed) -> None:
    text = shown(browser, f"/cite/{changed.now}")
    assert f'href="/cite/{changed.before}">what it said before generation 2' in text


def test_the_id_of_an_earlier_version_shows_both_and_what_differs(
    browser: TestClient, changed: Changed
) -> None:
    text = shown(browser, f"/cite/{changed.before}")
    assert "between <del>two </del><ins>three </ins>checkpoints." in text
    assert f'href="/cite/{changed.now}#passage"' in text
    assert "other text" in text


def test_the_id_of_a_passage_that_went_says_so_and_what_it_said(
    browser: TestClient, changed: Changed
) -> None:
    text = shown(browser, f"/cite/{changed.removed}")
    assert "It was removed in generation 2." in text
    assert "Stop the server, unpack the base backup and replay the log." in text


def test_what_a_generation_said_that_is_kept_no_longer_is_said_to_be_gone(
    second: tuple[Path, Changed], tmp_path: Path
) -> None:
    root = copy_index(second[0], tmp_path / "index")
    from indexes.wiring import OpenedStores

    stores = OpenedStores(root, Settings())
    stores.chunks.writer().prune(keep={2})
    stores.close()
    with serving(root) as client:
        text = shown_by(client, f"/cite/{second[1].before}")
    assert "kept no longer" in text
    assert WAL_NOW in text
    assert "<del>" not in text


def shown_by(client: TestClient, path: str) -> str:
    client.headers.update(BROWSER)
    return shown(client, path)


def test_without_the_ledger_a_passage_is_shown_and_what_changed_is_not_known(
    second: tuple[Path, Changed], tmp_path: Path
) -> None:
    root, changed = copy_index(second[0], tmp_path / "index"), second[1]
    for file in root.glob("ledger.sqlite*"):
        file.unlink()
    with serving(root) as client:
        assert "ledger of this index cannot be read" in shown_by(client, f"/cite/{changed.now}")
        assert "ledger of this index cannot be read" in shown_by(client, f"/doc/{changed.doc}")
        assert "ledger of this index cannot be read" in shown_by(client, "/runs")
        assert "the ledger, which knows earlier ones" in client.get(f"/cite/{changed.before}").text
    assert list(root.glob("ledger.sqlite*")) == []


def test_pages_write_nothing_to_the_ledger(second: tuple[Path, Changed], browser: TestClient) -> None:
    ledger = IndexLayout(second[0]).ledger
    before = ledger.read_bytes()
    for path in ("/runs", f"/doc/{second[1].doc}", f"/cite/{second[1].before}"):
        shown(browser, path)
    assert ledger.read_bytes() == before


def test_a_page_of_a_pdf_is_a_picture_under_its_boxes(folder: Path) -> None:
    cited = next(chunk for chunk in chunks() if chunk.page_no == 3)
    with serving(folder) as client:
        text = shown_by(client, f"/cite/{cited.id}")
        assert 'viewBox="0 0 612.0 792.0"' in text
        assert '<rect class="box cited" x="72.0" y="100.0" width="468.0" height="60.0">' in text
        assert f'<mark id="passage">{cited.text}</mark>' in text
        picture = re.search(r'<image[^>]* href="([^"]+)"', text)
        assert picture is not None
        drawn = client.get(picture[1].replace("&amp;", "&"))
        assert drawn.headers["content-type"] == "image/png"
        assert (pymupdf.Pixmap(drawn.content).width, pymupdf.Pixmap(drawn.content).height) == (935, 1210)
        assert f'href="/cite/{cited.id}?page=2&amp;zoom=0"' in text
        assert "Next page" not in text
        before = shown_by(client, f"/cite/{cited.id}?page=1&zoom=150")
        assert 'width="1224"' in before
        assert "Back to page 3, which is cited" in before
        assert 'class="box cited"' not in before
        assert client.get(f"/cite/{cited.id}?page=4").status_code == 404
        other = picture[1].replace("&amp;", "&").replace("generation=1", "generation=2")
        assert client.get(other).status_code == 404
        assert client.get(picture[1].replace("/110.", "/5000.")).status_code == 404


def test_a_page_that_cannot_be_drawn_says_so_and_has_its_text(folder: Path, tmp_path: Path) -> None:
    cited = next(chunk for chunk in chunks() if chunk.page_no == 3)
    root = copy_index(folder, tmp_path / "index")
    shutil.rmtree(root / "raw")
    with serving(root) as client:
        text = shown_by(client, f"/cite/{cited.id}")
    assert "There is no picture" in text
    assert cited.text in text


def test_a_document_has_its_outline_its_state_and_what_changed(browser: TestClient, changed: Changed) -> None:
    text = shown(browser, f"/doc/{changed.doc}")
    assert '<span class="badge bad">quarantined</span>' in text
    assert "looks like an error page" in text
    assert f'<a href="/cite/{changed.now}#passage"><bdi>WAL size</bdi></a>' in text
    assert "between <del>two </del><ins>three </ins>checkpoints." in text
    assert "<del>Stop the server, unpack the base backup and replay the log.</del>" in text
    assert "1 passage kept the text and got other fields" in text


def test_a_document_names_what_links_to_it(browser: TestClient) -> None:
    storage = next(chunk for chunk in chunks() if chunk.file_path == "storage.md")
    text = shown(browser, f"/doc/{storage.doc}")
    assert "“<bdi>tape archive</bdi>”" in text
    policy = next(chunk for chunk in chunks() if chunk.file_path == "gov-0017.md")
    linked = shown(browser, f"/doc/{policy.doc}")
    assert '<span class="badge">depends_on</span>' in linked
    assert "1 more link here only where every page of their site does" in linked


def test_runs_tell_what_generations_changed_and_what_runs_cost(browser: TestClient) -> None:
    text = shown(browser, "/runs")
    assert "1 replaced, 1 refreshed, 1 removed" in text
    for cost in ("3.2 s", "5.3 kB", "670 MiB"):
        assert f"<dd>{cost}</dd>" in text
    assert "<summary>1.8 s</summary><ul><li>embed 1.50</li><li>fetch 0.25</li></ul>" in text
    assert "<dd>3 of 41</dd>" in text
    assert "1 × looks like an error page" in text
    assert '<span class="badge good">finished</span>' in text
    assert "1 quarantined" in text
    assert '<span class="badge bad">stale</span>' in text
    assert "promised every 36.0 h" in text
    assert "1 due" in text


def test_runs_name_the_sources_that_an_agent_is_told_and_none_that_was_dropped(
    second: tuple[Path, Changed], tmp_path: Path
) -> None:
    root = copy_index(second[0], tmp_path / "index")
    with closing(open_ledger(f"sqlite:///{IndexLayout(root).ledger}")) as ledger:
        for name, state in (("dropped", "finished"), ("refused", "refused")):
            ledger.runs.start(name, source=name, now="2026-01-01T00:00:00+00:00")
            ledger.runs.finish(name, state=state, now="2026-01-01T00:01:00+00:00", report=None)
    with open_service_parts(Settings(index=str(root)), RequestLimits()) as parts:
        health = parts.retriever.read(lambda readers: read_health(readers, parts.archive))
        told = parts.retriever.read(parts.sources)["sources"]
    assert health is not None
    names = [one.name for one in health.sources]
    assert names == list(told)
    assert "refused" in names
    assert "dropped" not in names


def test_a_neighbourhood_is_a_picture_of_links_and_a_list(browser: TestClient, changed: Changed) -> None:
    text = shown(browser, f"/near/{changed.doc}")
    svg = text[text.index("<svg") : text.index("</svg>")]
    listed = text[text.index('id="list"') :]
    ends = set(re.findall(r'<a href="(/near/[^"]+)"', svg))
    assert len(ends) > 3
    assert ends - {f"/near/{changed.doc}"} <= set(re.findall(r'<a href="(/near/[^"]+)"', listed))
    assert "style=" not in svg
    assert "<style" not in svg
    assert "links_to →" in shown(browser, f"/near/{changed.doc}?kind=links_to&hops=2")
    assert "Nothing stands around it by edges of this kind" in shown(
        browser, f"/near/{changed.doc}?kind=names"
    )


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/cite/chunk:{NOBODY}", 404),
        (f"/doc/page:{NOBODY}", 404),
        (f"/near/entity:{NOBODY}", 404),
        ("/cite/1", 422),
        ("/doc/1", 422),
        ("/near/1", 422),
        (f"/near/page:{NOBODY}?hops=3", 422),
        (f"/near/page:{NOBODY}?kind=nothing", 422),
        (f"/doc/pdfdoc:{NOBODY}/pages/1/110.png?generation=2", 503),
    ],
)
def test_what_is_not_there_is_said_on_a_page(browser: TestClient, path: str, status: int) -> None:
    answer = browser.get(path)
    assert answer.status_code == status, answer.text
    assert "<h1>" in answer.text


def test_what_a_site_says_is_text_on_every_page(folder: Path, tmp_path: Path) -> None:
    evil = '<script>alert("x")</script><svg onload=x> {{ 7*7 }} \u202edesrever'
    root = copy_index(folder, tmp_path / "index")
    nodes, rows = page("evil", {evil: evil}, url="javascript:alert(1)")
    publish_next(root, [(nodes, rows)])
    with serving(root) as client:
        for path in (f"/cite/{rows[0].id}", f"/doc/{rows[0].doc}", f"/near/{rows[0].doc}"):
            text = shown_by(client, path)
            assert "&lt;script&gt;" in text
            assert "<script" not in text
            assert "<svg onload" not in text
            assert "\u202e" not in text
            assert 'href="javascript' not in text
        assert "\ufffddesrever" in shown(client, f"/cite/{rows[0].id}")
