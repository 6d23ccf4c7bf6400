"""What is told of one document, from the ledger alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.run.index import Index
from schemas.documents import DocumentState as S
from schemas.documents import FetchAttempt, KnownDocument
from schemas.source import Scope
from sitegraph.actions.explain import explain, how_found, spans
from tests.fakes.known import NOW, SITE, known, web_source
from tests.fakes.ledger_index import ledger_index
from tests.fakes.ledger_rows import begin, freeze, make_live, publish, put

HUB, PAGE, OLD, OLDER = SITE + "hub.html", SITE + "leave.html", SITE + "old.html", SITE + "older.html"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """A page that a redirect led to, which a hub names, which the seed names."""
    with ledger_index(tmp_path / "index") as opened:
        opened.ledger.sources.save(web_source())
        opened.ledger.documents.add_new(
            [
                known(SITE),
                known(HUB, found_by=SITE, depth=1),
                known(OLD, found_by=HUB, depth=2),
                known(OLDER),
                known(PAGE, found_by=OLD, depth=2, hops=1),
            ]
        )
        opened.ledger.documents.save(
            [
                known(OLD, found_by=HUB, state=S.REDIRECTED, location=PAGE),
                known(OLDER, state=S.REDIRECTED, location=OLD),
            ]
        )
        yield opened


def told(index: Index, name: str) -> dict[str, object]:
    (record,) = explain(index, name)["documents"]
    return dict(record)


def test_the_way_to_a_document_is_told_back_to_the_seed(index: Index) -> None:
    trail = told(index, PAGE)["found"]

    assert isinstance(trail, list)
    assert [(step["uri"], step["how"], step["by"]) for step in trail] == [
        (PAGE, "redirect", OLD),
        (OLD, "link", HUB),
        (HUB, "link", SITE),
        (SITE, "seed", None),
    ]
    assert all(step["at"] for step in trail)


def test_a_ring_of_links_ends(index: Index) -> None:
    index.ledger.documents.save([known(HUB, found_by=PAGE)])
    trail = told(index, PAGE)["found"]
    assert isinstance(trail, list)
    assert [step["uri"] for step in trail] == [PAGE, OLD, HUB]


@pytest.mark.parametrize(
    ("document", "with_source", "way"),
    [
        (known(SITE), True, "seed"),
        (known(PAGE), True, "sitemap"),
        (known(PAGE), False, "unknown"),
        (known(PAGE, found_by=HUB), False, "link"),
    ],
)
def test_what_nothing_led_to_was_listed(document: KnownDocument, with_source: bool, way: str) -> None:
    assert how_found(document, None, web_source() if with_source else None) == way


@pytest.mark.parametrize(
    ("listed", "way"),
    [(("inventory", "sitemap"), "sitemap"), (("inventory", "llms.txt"), "inventory"), (("feed",), "feed")],
)
def test_what_lists_a_document_is_named_and_a_sitemap_first(listed: tuple[str, ...], way: str) -> None:
    assert how_found(known(PAGE), None, web_source(), listed) == way


def test_all_addresses_that_lead_to_a_document_are_its_aliases(index: Index) -> None:
    assert told(index, PAGE)["aliases"] == [OLD, OLDER]
    assert told(index, HUB)["aliases"] == []
    assert told(index, OLD)["leads_to"] == PAGE


def test_looks_state_and_due_time_are_told(index: Index) -> None:
    at = NOW.isoformat()
    seen = known(PAGE, state=S.FETCHED, http_status=200, checked_at=at, next_due="2027", interval=60.0)
    index.ledger.documents.save([seen], {PAGE: FetchAttempt(conditional=True, bytes=7)})
    record = told(index, PAGE)

    assert (record["state"], record["robots"]) == ("fetched", "allowed")
    assert isinstance(record["looks"], dict)
    assert {"last": at, "next_due": "2027", "interval_seconds": 60.0}.items() <= record["looks"].items()
    assert isinstance(record["history"], list)
    assert [(e["event"], e["bytes"], e["conditional"]) for e in record["history"]] == [
        ("found", None, None),
        ("looked", 7, True),
    ]


@pytest.mark.parametrize(("state", "due"), [(S.FETCHED, "2027"), (S.GONE, None), (S.OUT_OF_SCOPE, None)])
def test_what_sleeps_is_not_due(index: Index, state: S, due: str | None) -> None:
    index.ledger.documents.save([known(PAGE, state=state, next_due="2027", checked_at="2026")])
    looks = told(index, PAGE)["looks"]
    assert isinstance(looks, dict)
    assert looks["next_due"] == due


@pytest.mark.parametrize(
    ("state", "status", "robots"),
    [(S.NEW, None, "not asked yet"), (S.DISALLOWED, None, "forbidden"), (S.MISSING, 404, "allowed")],
)
def test_robots_say_what_they_said_at_the_last_look(
    index: Index, state: S, status: int | None, robots: str
) -> None:
    index.ledger.documents.save([known(PAGE, state=state, http_status=status)])
    assert told(index, PAGE)["robots"] == robots


def test_scope_is_that_of_the_last_run(index: Index) -> None:
    assert told(index, PAGE)["scope"] == {"included": True, "reason": ""}
    index.ledger.sources.save(web_source(scope=Scope(exclude=("*/leave.html",))))
    assert told(index, PAGE)["scope"] == {"included": False, "reason": "excluded by scope.exclude"}


def test_what_was_never_published_is_in_no_generation(index: Index) -> None:
    live = make_live("a", "1", source="handbook")
    index.ledger.documents.save([known(live.uri, doc=live.doc, state=S.FETCHED)])
    number = begin(index.ledger, base=0, source="handbook")
    freeze(index.ledger, number, [put(live)])
    index.ledger.generations.abort(number)
    assert told(index, live.uri)["index"] is None


def test_generations_that_held_a_document_are_told_and_rolled_back_ones_are_not(index: Index) -> None:
    first, other = make_live("a", "1"), make_live("b", "1")
    index.ledger.documents.save([known(first.uri, doc=first.doc, state=S.GONE)])
    publish(index.ledger, put(first), base=0)
    publish(index.ledger, put(other), base=1)
    index.ledger.generations.roll_back(above=1)

    record = told(index, first.uri)["index"]
    assert isinstance(record, dict)
    assert (record["generations"], record["current"], record["chunks"]) == ([[1, 1]], False, 0)


def test_numbers_are_folded_into_spans() -> None:
    assert spans([]) == []
    assert spans([1, 2, 3, 5, 7, 8]) == [(1, 3), (5, 5), (7, 8)]
