"""Two sources in one index: each run leaves the other's rows alone, links go across."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import ConfigError
from tests.fakes.copies import copy_index
from tests.fakes.handbook import Handbook, serve_handbook, write_source
from tests.fakes.sitegraph_runs import Rows, Sitegraph

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def houses() -> Iterator[tuple[Handbook, Handbook]]:
    """Two sites; a page of the second links to one of the first."""
    with serve_handbook() as north, serve_handbook(("Gates", "Bells", "Lamps")) as south:
        south.link("/gates.html", north.site.url("/leases.html"), "leases of the north")
        yield north, south


@pytest.fixture(scope="module")
def both(
    sitegraph: Sitegraph, houses: tuple[Handbook, Handbook], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An index with the south first, so that its link waits for its target."""
    folder = tmp_path_factory.mktemp("both")
    for handbook, name in ((houses[1], "south"), (houses[0], "north")):
        sitegraph.run(write_source(folder, handbook, name=name), folder / "index")
    return folder


@pytest.fixture
def index(both: Path, tmp_path: Path) -> Path:
    return copy_index(both / "index", tmp_path / "index")


def test_a_link_becomes_an_edge_when_the_other_source_brings_its_target(
    sitegraph: Sitegraph, houses: tuple[Handbook, Handbook], index: Path
) -> None:
    exported = sitegraph.export(index)
    ids = {row["url"]: row["id"] for row in exported["documents"]}
    gates, leases = ids[houses[1].site.url("/gates.html")], ids[houses[0].site.url("/leases.html")]
    (across,) = [row for row in exported["edges"] if (row["src"], row["dst"]) == (gates, leases)]
    texts = {text for row in exported["chunks"] if row["doc"] == leases for text in row["anchor_texts"]}

    assert across["source"] == "south"
    assert "leases of the north" in texts
    assert sitegraph.damage(index) == ()


@pytest.mark.long
def test_the_order_of_the_sources_does_not_show(
    sitegraph: Sitegraph, both: Path, index: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    for name in ("north", "south"):
        sitegraph.run(both / f"{name}.yaml", other)

    assert sitegraph.export(other) == sitegraph.export(index)


def test_a_run_of_one_source_leaves_the_rows_of_the_other_alone(
    sitegraph: Sitegraph, houses: tuple[Handbook, Handbook], both: Path, index: Path
) -> None:
    """But for `similar_to`, which knows no sources: a passage of one may be nearest to one of the other."""
    before, old = without_similar(sitegraph.export(index, source="south"))
    article = houses[0].articles["/guards.html"]
    houses[0].edit("/guards.html", "Losing Guards", "Guards that are lost are looked for by the others.")
    try:
        report = sitegraph.run(both / "north.yaml", index)
    finally:
        houses[0].write("/guards.html", article)

    assert report["documents"]["changed"] == 1
    after, new = without_similar(sitegraph.export(index, source="south"))
    assert after == before
    there = {row["id"] for row in after["chunks"]}
    moved = {edge["src"] for edges in (old, new) for edge in edges if edge not in old or edge not in new}
    led_away = {edge["src"] for edge in (*old, *new) if edge["dst"] not in there}
    assert moved <= led_away, "what is near to passages of its own source alone keeps its edges"
    assert sum(report["edges"].values()) == len(sitegraph.export(index, source="north")["edges"])


def without_similar(exported: dict[str, Rows]) -> tuple[dict[str, Rows], Rows]:
    """An export without the edges between similar passages, and those."""
    similar = [row for row in exported["edges"] if row["kind"] == "similar_to"]
    others = [row for row in exported["edges"] if row["kind"] != "similar_to"]
    return {**exported, "edges": others}, similar


def test_dropping_a_source_takes_its_rows_and_the_edges_into_them(
    sitegraph: Sitegraph, houses: tuple[Handbook, Handbook], both: Path, index: Path, tmp_path: Path
) -> None:
    record = sitegraph.drop("north", index)

    alone = tmp_path / "alone"
    sitegraph.run(both / "south.yaml", alone)
    assert record["documents"] == len(houses[0].articles)
    assert sitegraph.export(index) == sitegraph.export(alone)
    assert sitegraph.damage(index) == ()
    with pytest.raises(ConfigError, match="no such source; this index has: south"):
        sitegraph.drop("north", index)
    assert sitegraph.run(both / "north.yaml", index)["documents"]["added"] == len(houses[0].articles)


def test_a_page_of_both_sources_stays_that_of_the_first(
    sitegraph: Sitegraph, houses: tuple[Handbook, Handbook], both: Path, index: Path
) -> None:
    """The third source looks at the same site as the second."""
    before = sitegraph.export(index)
    source = write_source(index.parent, houses[1], name="third")

    report = sitegraph.run(source, index)
    sitegraph.drop("south", index)
    inherited = sitegraph.run(source, index)

    assert report["documents"]["duplicate"] == report["documents"]["scheduled"] == 4
    assert report["generation"] is None
    assert inherited["documents"]["added"] == 4
    held = sitegraph.export(index)
    assert {row["source"] for row in held["documents"]} == {"north", "third"}
    assert [row["id"] for row in held["chunks"]] == [row["id"] for row in before["chunks"]]
