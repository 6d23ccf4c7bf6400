"""Depth is the shortest way from a seed, whatever was looked at first."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from flows.crawl.plan import enqueue, enqueue_targets
from ingest.plan.frontier import Frontier, plan_frontier
from schemas.documents import DocumentState, KnownDocument
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, Link
from schemas.ids import canonical_json
from schemas.nodes import DocumentKind
from schemas.records import to_record
from schemas.report import Problem
from schemas.source import Scope
from tests.fakes.known import SITE, web_source
from tests.fakes.plain_crawl import crawl, page
from tests.fakes.plain_run import PlainRun, open_plain_run, source_of
from tests.fakes.site_server import Reply, Site, serve

LINKS: Mapping[str, tuple[str, ...]] = {
    "": ("far1", "near"),
    "far1": ("far2",),
    "far2": ("target",),
    "near": ("target",),
    "target": ("below",),
    "below": ("deepest",),
    "deepest": (),
}
DEPTHS = {"": 0, "far1": 1, "near": 1, "far2": 2, "target": 2, "below": 3, "deepest": 4}


def parsed(plain: PlainRun, known: KnownDocument) -> tuple[KnownDocument, GraphFragment]:
    """The document as parsing would leave it."""
    links = LINKS[known.uri.removeprefix(SITE)]
    fragment = GraphFragment(
        uri=known.uri,
        doc=f"page:{known.uri}",
        kind=DocumentKind.HTML,
        content_hash="c",
        nodes=(),
        edges=(),
        chunks=(),
        links=tuple(Link(target=SITE + link, text="", position=LinkPosition.BODY) for link in links),
    )
    sha = plain.index.fragments.put(canonical_json(to_record(fragment)).encode())
    row = KnownDocument(
        source=known.source, uri=known.uri, depth=known.depth, state=DocumentState.FETCHED, fragment_sha=sha
    )
    return row, fragment


def look_at(plain: PlainRun, known: KnownDocument) -> None:
    """Parse one document, with its row as it was read earlier."""
    row, fragment = parsed(plain, known)
    enqueue_targets(plain.crawling, [row], lambda d: plan_frontier(plain.source, fragment, depth=d.depth))


def depths(plain: PlainRun) -> dict[str, int]:
    rows = plain.index.ledger.documents.of_source("handbook")
    return {row.uri.removeprefix(SITE): row.depth for row in rows}


def start(plain: PlainRun) -> None:
    enqueue(plain.crawling, Frontier(documents=(KnownDocument(source="handbook", uri=SITE),)))


@pytest.mark.parametrize("first", ["far1", "near"])
def test_a_shorter_way_lowers_a_document_and_all_that_it_leads_to(tmp_path: Path, first: str) -> None:
    with open_plain_run(tmp_path, web_source()) as plain:
        start(plain)
        left = ["", first, "far1", "far2", "target", "below", "deepest", "near"]
        for name in dict.fromkeys(left):
            known = plain.index.ledger.documents.get("handbook", [SITE + name])
            look_at(plain, known[SITE + name])
        assert depths(plain) == DEPTHS


def test_a_row_read_before_its_document_came_nearer_does_not_push_it_away_again(tmp_path: Path) -> None:
    with open_plain_run(tmp_path, web_source()) as plain:
        start(plain)
        for name in ("", "far1", "far2"):
            look_at(plain, plain.index.ledger.documents.get("handbook", [SITE + name])[SITE + name])
        early = plain.index.ledger.documents.get("handbook", [SITE + "target"])[SITE + "target"]
        assert early.depth == 3
        look_at(plain, plain.index.ledger.documents.get("handbook", [SITE + "near"])[SITE + "near"])
        look_at(plain, early)
        assert depths(plain) == {name: depth for name, depth in DEPTHS.items() if name != "deepest"}


def test_what_was_too_deep_comes_in_by_a_shorter_way(tmp_path: Path) -> None:
    with open_plain_run(tmp_path, web_source(scope=Scope(max_depth=3))) as plain:
        start(plain)
        for name in ("", "far1", "far2", "target"):
            look_at(plain, plain.index.ledger.documents.get("handbook", [SITE + name])[SITE + name])
        assert "below" not in depths(plain)
        look_at(plain, plain.index.ledger.documents.get("handbook", [SITE + "near"])[SITE + "near"])
        assert depths(plain)["below"] == 3


def test_a_document_asleep_for_its_depth_wakes_by_a_shorter_way(tmp_path: Path) -> None:
    with open_plain_run(tmp_path, web_source(scope=Scope(max_depth=3))) as plain:
        asleep = KnownDocument(
            source="handbook", uri=SITE + "a", depth=9, state=DocumentState.OUT_OF_SCOPE, reason="deeper"
        )
        plain.index.ledger.documents.save([asleep])
        enqueue(
            plain.crawling,
            Frontier(documents=(KnownDocument(source="handbook", uri=SITE + "a", depth=2),)),
        )
        (row,) = plain.index.ledger.documents.of_source("handbook")
        assert (row.state, row.depth) == (DocumentState.NEW, 2)


def test_links_in_a_circle_come_to_rest(tmp_path: Path) -> None:
    """Each of a ring of pages links to the next; a late short cut lowers them all once."""
    ring = [f"/p{number}" for number in range(12)]
    pages = {path: page(path, following) for path, following in zip(ring, [*ring[1:], ring[0]], strict=True)}
    with serve(Site({"/": page("Start", "/p0"), **pages})) as site:
        first = crawl(tmp_path, source_of(site))
        site.pages["/"] = page("Start", "/p0", "/p6")
        crawled = crawl(tmp_path, source_of(site), run_id="run-2")
    before = {urlsplit(uri).path: row.depth for uri, row in first.rows.items()}
    after = {urlsplit(uri).path: row.depth for uri, row in crawled.rows.items()}
    assert before == {"/": 0, **{path: number + 1 for number, path in enumerate(ring)}}
    assert after == {"/": 0, **{path: number % 6 + 1 for number, path in enumerate(ring)}}


def test_a_redirect_passes_its_depth_on(tmp_path: Path) -> None:
    moved = Reply(b"", 301, {"Location": "/new"})
    chain = {"/": page("Start", "/a"), "/a": page("A", "/b"), "/b": page("B", "/old"), "/old": moved}
    with serve(Site({**chain, "/new": page("New", "/last"), "/last": page("Last")})) as site:
        crawl(tmp_path, source_of(site))
        site.pages["/"] = page("Start", "/a", "/old")
        crawled = crawl(tmp_path, source_of(site), run_id="run-2")
    found = {urlsplit(uri).path: row.depth for uri, row in crawled.rows.items()}
    assert found == {"/": 0, "/a": 1, "/b": 2, "/old": 1, "/new": 1, "/last": 2}


def test_stops_met_on_the_way_are_kept(tmp_path: Path) -> None:
    with open_plain_run(tmp_path, web_source()) as plain:
        enqueue(plain.crawling, Frontier(stopped=(Problem(url=SITE, reason="deep"),)))
        assert [count.documents for count in plain.index.ledger.stops.counts("run-1")] == [1]
