"""Files of an index that rot or get lost: `verify` names them, the next run puts them right."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import DamageFound
from tests.fakes.handbook import Handbook
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]


def files(folder: Path, count: int = 99) -> list[Path]:
    """Content-addressed files, in order."""
    return sorted(folder.glob("??/??/*.zst"))[:count]


def flip_a_bit(path: Path) -> None:
    """What a disk does now and then."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def make_due(index: Path, uri: str) -> None:
    """Let the time have come for one document alone."""
    ledger = open_ledger(f"sqlite:///{IndexLayout(index).ledger}")
    (known,) = ledger.documents.get("handbook", [uri]).values()
    ledger.documents.save([replace(known, next_due="2000-01-01T00:00:00+00:00")])
    ledger.close()


def test_what_rots_is_named_and_made_again_by_the_next_run(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    """Two fragments of which one also lost its bytes, and two bodies: only bodies are asked for in full."""
    layout, before = IndexLayout(index), sitegraph.export(index)
    for path in (*files(layout.fragments, 2), *files(layout.raw, 1)):
        flip_a_bit(path)
    files(layout.raw)[1].unlink()
    handbook.asked()

    damage = sitegraph.damage(index)
    report = sitegraph.run(source, index)

    assert sorted(what.partition("; ")[0] for _, what in damage) == [
        "parsed document no longer matches its hash",
        "parsed document no longer matches its hash",
        "what was fetched is missing",
        "what was fetched no longer matches its hash",
    ]
    assert {status: report["http"]["status"][status] for status in ("200", "304")} == {"200": 2, "304": 8}
    assert report["generation"] is None
    assert sitegraph.damage(index) == ()
    assert sitegraph.export(index) == before


def test_lost_bytes_that_readers_are_shown_are_named_where_newer_ones_are_whole(
    sitegraph: Sitegraph, handbook: Handbook, index: Path
) -> None:
    with closing(open_ledger(f"sqlite:///{IndexLayout(index).ledger}")) as ledger:
        live = next(iter(ledger.generations.live(1).values()))
        ledger.origins.save({live.fragment_sha: "0" * 64})

    assert sitegraph.damage(index) == ((live.uri, "the PDF whose pages are shown is missing or damaged"),)


def test_a_rotten_page_that_is_not_looked_at_stops_the_run_that_needs_it_and_not_the_one_after(
    sitegraph: Sitegraph, handbook: Handbook, source: Path, index: Path
) -> None:
    """The page that is due links to another once more, whose fragment is damaged, as all are."""
    layout = IndexLayout(index)
    for path in files(layout.fragments):
        flip_a_bit(path)
    handbook.link("/leases.html", "/tokens.html", "what the porter checks")
    make_due(index, handbook.site.url("/leases.html"))
    handbook.asked()
    with pytest.raises(DamageFound, match="run source 'handbook' again, which parses it"):
        sitegraph.run(source, index, due=True)
    report = sitegraph.run(source, index, due=True)

    assert report["published"]
    assert report["documents"] | {"scheduled": 1, "changed": 1} == report["documents"]
    assert handbook.asked() == ["/leases.html"], "what was fetched is not fetched again"
