"""A ledger that was lost while its index stayed: the next runs take up again what readers see."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from tests.fakes.handbook import Handbook, serve_handbook, write_source
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server


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
    for path in index.glob(f"{IndexLayout(index).ledger.name}*"):
        path.unlink()
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
