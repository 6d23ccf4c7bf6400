"""What an index takes up while its site goes on changing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from tests.fakes.handbook import Handbook, serve_handbook, topic_article, write_source
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.server, pytest.mark.long]


@pytest.fixture
def handbook() -> Iterator[Handbook]:
    with serve_handbook(("Leases", "Ledgers")) as served:
        yield served


def stored(index: Path) -> dict[str, int]:
    """Files by folder."""
    layout = IndexLayout(index)
    folders = {"raw": layout.raw, "fragments": layout.fragments, "outbox": layout.outbox}
    return {name: sum(1 for _ in folder.glob("??/??/*")) for name, folder in folders.items()}


def test_ten_runs_over_a_changing_site_keep_what_three_generations_need(
    sitegraph: Sitegraph, handbook: Handbook, tmp_path: Path
) -> None:
    """Each run sees an edited page and a page that came for another; every third, a footer alone."""
    source, index = write_source(tmp_path, handbook), tmp_path / "index"
    most: list[dict[str, int]] = []
    for number in range(10):
        handbook.set_footer(f"Printed on day {number}")
        if number % 3:
            handbook.edit("/leases.html", "Losing Leases", f"Whoever loses it pays {number} coins.")
            handbook.write(f"/day-{number}.html", topic_article(f"Day {number}"))
            handbook.link("/ledgers.html", f"/day-{number}.html", f"day {number}")
            handbook.unlink("/ledgers.html", f"/day-{number - 1}.html")
            handbook.remove(f"/day-{number - 1}.html", status=410)
        sitegraph.run(source, index, accept=True)
        most.append(stored(index))

    assert max(count["raw"] for count in most) <= 4 + 3, "the pages of today, and those that may come back"
    assert max(count["fragments"] for count in most) <= 4 + 3 * 3
    assert max(count["outbox"] for count in most) <= 4 * 3, "documents, similar passages (twice), entities"
    assert sitegraph.damage(index) == ()
    sitegraph.run(source, tmp_path / "clean")
    assert sitegraph.export(index) == sitegraph.export(tmp_path / "clean")
