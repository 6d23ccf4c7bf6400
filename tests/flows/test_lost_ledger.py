"""A ledger that was lost while its index stayed: the next runs take up again what readers see."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from tests.fakes.handbook import Handbook, serve_handbook, write_source
from tests.fakes.pdfs import Text, pdf_bytes, prose
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_here

pytestmark = pytest.mark.system


@pytest.fixture
def houses() -> Iterator[tuple[Handbook, Handbook]]:
    """Two sites; a page of the second links to one of the first, through a redirect of the first."""
    with (
        serve_handbook(("Leases", "Ledgers", "Outboxes", "Readers", "Tokens")) as north,
        serve_handbook(("Gates", "Bells")) as south,
    ):
        north.link("/leases.html", "/old.html", "the old way")
        north.redirect("/old.html", "/ledgers.html")
        south.link("/gates.html", north.site.url("/leases.html"), "leases of the north")
        yield north, south


def lose_ledger(index: Path) -> None:
    for path in index.glob(f"{IndexLayout(index).ledger.name}*"):
        path.unlink()


def book(*topics: str) -> bytes:
    return pdf_bytes([[Text(prose(topic))] for topic in topics])


def test_a_lost_ledger_has_no_page_read_again_no_page_undrawn_and_no_error_page_taken_for_content(
    tmp_path: Path,
) -> None:
    """A site with a PDF and a page that is a login by now, and a folder with a PDF that no run looks at."""
    program, index, source, notes = (
        sitegraph_here(),
        tmp_path / "index",
        tmp_path / "site.yaml",
        tmp_path / "notes",
    )
    notes.mkdir()
    (notes / "own.pdf").write_bytes(book("keys", "doors"))
    folder = tmp_path / "notes.yaml"
    folder.write_text("name: notes\nkind: files\nroots: [notes]\n")
    with serve(Site({"/": Reply(b"<h1>Lamps</h1><a href=/book.pdf>All</a> <a href=/good>Good</a>")})) as site:
        site.pages["/book.pdf"] = Reply(book("lamps", "plugs"), content_type="application/pdf")
        site.pages["/good"] = Reply(f"<main><h1>Good</h1><p>{prose('lamps', 12)}</p></main>".encode())
        source.write_text(
            f"name: site\nkind: web\nseeds: ['{site.url('/')}']\nallow_private: ['{site.address}']\n"
            "rate: {per_host_delay: 0}\n"
        )
        read = [program.run(one, index)["pdf_pages"] for one in (source, folder)]
        before = program.export(index)
        lose_ledger(index)
        site.pages["/good"] = Reply(
            b"<h1>Sorry</h1><p>Nobody may read this without the key, ask for one.</p>"
        )

        first = program.run(source, index)
        drawn = [
            program.call("show", chunk["id"], "--index", str(index), "--out", str(tmp_path / "page.png"))
            for chunk in before["chunks"]
            if chunk["source"] == "notes"
        ]
        second = program.run(folder, index)

    assert read == [{"read": 2, "recognised": 0, "reused": 0}] * 2
    assert [one["pdf_pages"] for one in (first, second)] == [{"read": 0, "recognised": 0, "reused": 2}] * 2
    assert drawn
    assert {one.returncode for one in drawn} == {0}, drawn[0].stderr
    assert first["documents"]["quarantined"] == 1
    after = program.export(index)
    assert [row["id"] for row in after["chunks"]] == [row["id"] for row in before["chunks"]]


@pytest.mark.server
@pytest.mark.long
def test_after_a_lost_ledger_the_index_is_again_what_a_clean_one_would_be(
    sitegraph: Sitegraph, houses: tuple[Handbook, Handbook], tmp_path: Path
) -> None:
    """Meanwhile a page of the north vanished, one was edited, and its redirect leads elsewhere."""
    north, south = houses
    index, clean = tmp_path / "index", tmp_path / "clean"
    sources = [write_source(tmp_path, site, name=name) for site, name in ((north, "north"), (south, "south"))]
    for source in sources:
        sitegraph.run(source, index)
    lose_ledger(index)
    north.remove("/tokens.html", status=410)
    north.edit("/readers.html", "Losing Readers", "Readers that are lost are read aloud to by the porter.")
    north.redirect("/old.html", "/outboxes.html")

    damage = sitegraph.damage(index)
    first, second = (sitegraph.run(source, index) for source in sources)

    assert [subject for subject, _ in damage] == ["ledger"]
    assert (
        "set SITEGRAPH_LEDGER_URL to where it is, or, if it is lost, repair it with: sitegraph repair"
        in damage[0][1]
    )
    assert first["generation"] == 3
    assert first["chunks"]["embedded"] == 1
    assert second["chunks"]["embedded"] == 0
    assert sitegraph.damage(index) == ()
    for source in sources:
        sitegraph.run(source, clean)
    assert sitegraph.export(index) == sitegraph.export(clean)
    assert [sitegraph.run(source, index)["generation"] for source in sources] == [None, None]
