"""Generations in the ledger, over SQLite files and a real PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.ledger import Ledger
from schemas.errors import StaleLease, StoreUnavailable
from tests.fakes.ledger_rows import (
    A1,
    A2,
    A3,
    B1,
    C1,
    ODD_NAME,
    begin,
    drop,
    freeze,
    held,
    holding,
    make_live,
    publish,
    put,
    table,
)


def test_a_generation_is_numbered_above_every_one_before_and_above_its_base(ledger: Ledger) -> None:
    assert publish(ledger, put(A1), base=0) == 1
    assert publish(ledger, put(A2), base=1) == 2
    assert publish(ledger, put(A3), base=7) == 8


def test_a_generation_tells_what_it_was_begun_and_frozen_with(ledger: Ledger) -> None:
    details = {"sources": {"o'neill": {"chunks": {"html": 3}}}, "changed": [{"url": 'x"y', "reason": "λ"}]}
    number = begin(ledger, base=0, source="o'neill", run_id="run 1")
    begun = ledger.generations.get(number)
    freeze(ledger, number, [put(A1)], payloads=["p2", "p1"], details=details)
    frozen = ledger.generations.get(number)

    assert begun is not None
    assert frozen is not None
    assert (begun.state, begun.plan_sha, begun.details) == (GenerationState.STAGING, None, {})
    assert (begun.base, begun.source, begun.run_id, begun.token) == (0, "o'neill", "run 1", 1)
    assert (frozen.state, frozen.plan_sha, frozen.details) == (GenerationState.APPLYING, "p" * 64, details)
    assert ledger.generations.payloads(number) == ("p2", "p1")
    assert ledger.generations.get(number + 1) is None
    assert ledger.generations.of_run("run 1") == (frozen,)
    assert ledger.generations.of_run("run 2") == ()


def test_every_generation_holds_what_it_was_frozen_with(ledger: Ledger) -> None:
    publish(ledger, put(A1), put(B1), base=0)
    publish(ledger, put(A2), put(C1), base=1)
    publish(ledger, drop(B1), base=2)

    assert [held(ledger, generation) for generation in range(4)] == [
        {},
        holding(A1, B1),
        holding(A2, B1, C1),
        holding(A2, C1),
    ]


def test_live_documents_come_back_with_every_field(ledger: Ledger) -> None:
    full = make_live(
        "a", "1", doc_id="GOV-0017", fetched_at="2026-01-01T00:00:00+00:00", last_modified="yesterday"
    )
    publish(ledger, put(full), base=0)

    assert ledger.generations.live(1) == {full.doc: full}


def test_files_of_tools_are_told_from_the_documents_of_their_source(ledger: Ledger) -> None:
    tools = replace(make_live("t", "1"), uri="tools://site/tools.yaml")
    theirs = replace(make_live("u", "1", source="o'neill"), uri="tools://o'neill/tools.yaml")
    publish(ledger, put(A1), put(tools), put(theirs), base=0)

    assert ledger.generations.tools(1, source="site") == {tools.doc: tools}
    assert ledger.generations.tools(0, source="site") == {}


def test_live_documents_of_one_source_or_by_name(ledger: Ledger) -> None:
    theirs = make_live("b", "1", source="o'neill")
    publish(ledger, put(A1), put(theirs), base=0)

    assert ledger.generations.live(1, source="o'neill") == {theirs.doc: theirs}
    assert ledger.generations.live(1, docs=[A1.doc, "page:unknown"]) == {A1.doc: A1}
    assert ledger.generations.live(1, source="o'neill", docs=[A1.doc]) == {}
    assert ledger.generations.live(1, docs=[]) == {}
    assert list(ledger.generations.live(1)) == sorted([A1.doc, theirs.doc])


def test_the_owners_of_documents_are_told_without_the_documents(ledger: Ledger) -> None:
    a, b = make_live("a", "1"), replace(make_live("b", "1"), source="other")
    base = publish(ledger, put(a), put(b), base=0)
    later = publish(ledger, drop(a), base=base)

    asked = [a.doc, b.doc, "page:unknown"]
    assert ledger.generations.owners(base, docs=asked) == {a.doc: a.source, b.doc: "other"}
    assert ledger.generations.owners(later, docs=asked) == {b.doc: "other"}
    assert [ledger.generations.count(number) for number in (0, base, later)] == [0, 2, 1]


def test_a_document_that_was_removed_may_come_back(ledger: Ledger) -> None:
    publish(ledger, put(A1), base=0)
    publish(ledger, drop(A1), base=1)
    publish(ledger, put(A1), base=2)

    assert [held(ledger, generation) for generation in (1, 2, 3)] == [holding(A1), {}, holding(A1)]


def test_freezing_again_replaces_what_was_frozen(ledger: Ledger) -> None:
    publish(ledger, put(A1), put(B1), base=0)
    number = begin(ledger, base=1)
    freeze(ledger, number, [put(A2), drop(B1)], payloads=["p1", "p2"])
    freeze(ledger, number, [put(A3)], payloads=["p3"])

    assert held(ledger, number) == holding(A3, B1)
    assert held(ledger, 1) == holding(A1, B1)
    assert ledger.generations.payloads(number) == ("p3",)


def test_only_what_was_neither_published_nor_closed_is_unfinished(ledger: Ledger) -> None:
    publish(ledger, put(A1), base=0)
    number = begin(ledger, base=1)
    for step in (
        lambda: None,
        lambda: freeze(ledger, number, [put(A2)]),
        lambda: ledger.generations.mark(number, GenerationState.VERIFIED),
    ):
        step()
        assert [row.generation for row in ledger.generations.unfinished()] == [number]

    ledger.generations.mark(number, GenerationState.PUBLISHED)
    assert ledger.generations.unfinished() == ()


def test_marking_may_be_repeated(ledger: Ledger) -> None:
    number = publish(ledger, put(A1), base=0)
    ledger.generations.mark(number, GenerationState.PUBLISHED)

    row = ledger.generations.get(number)
    assert row is not None
    assert row.state is GenerationState.PUBLISHED


def test_a_run_that_was_overtaken_can_neither_freeze_nor_mark_nor_begin(ledger: Ledger) -> None:
    """It held the lease once; the next holder has closed its generation and is at work itself."""
    late = begin(ledger, base=0)
    ledger.generations.abort(late)
    begin(ledger, base=0)

    for refused in (
        lambda: freeze(ledger, late, [put(A1)]),
        lambda: ledger.generations.mark(late, GenerationState.VERIFIED),
        lambda: begin(ledger, base=0),
    ):
        with pytest.raises(StaleLease, match="generation"):
            refused()
    assert table(ledger, "doc_rev") == []


def test_of_several_that_begin_at_once_one_does(ledger: Ledger) -> None:
    def race(_: int) -> int | None:
        try:
            return begin(ledger, base=0)
        except (StaleLease, StoreUnavailable):
            return None

    with ThreadPoolExecutor(6) as pool:
        begun = [number for number in pool.map(race, range(6)) if number is not None]

    assert begun == [1]
    assert [row.generation for row in ledger.generations.unfinished()] == [1]


def test_document_ids_fold_case_and_the_lowest_node_wins(ledger: Ledger) -> None:
    low, high = sorted((make_live(n, "1", doc_id="GOV-0017") for n in "ab"), key=lambda live: live.doc)
    other = make_live("c", "1", doc_id="Straße-1")
    publish(ledger, put(low), put(high), put(other), put(make_live("d", "1")), base=0)
    publish(ledger, drop(low), base=1)

    ids = ("gov-0017", "strasse-1", "gov-0018", "é")
    assert ledger.generations.by_doc_id(1, ids) == {"gov-0017": low.doc, "strasse-1": other.doc}
    assert ledger.generations.by_doc_id(2, ids) == {"gov-0017": high.doc, "strasse-1": other.doc}
    assert ledger.generations.by_doc_id(1, ["gov-0017"]) == {"gov-0017": low.doc}
    assert ledger.generations.by_doc_id(2) == {"gov-0017": high.doc, "strasse-1": other.doc}
    assert ledger.generations.by_doc_id(1, ()) == ledger.generations.by_doc_id(0, ids) == {}
    left = ledger.generations.by_doc_id(1, ids, without_docs=[low.doc])
    assert left == {"gov-0017": high.doc, "strasse-1": other.doc}


def test_a_thousand_document_ids_are_looked_up_at_once(ledger: Ledger) -> None:
    publish(ledger, put(make_live("a", "1", doc_id="Straße-7")), put(make_live("b", "1")), base=0)
    found = ledger.generations.by_doc_id(1, [f"strasse-{n}" for n in range(1000)])
    assert found == {"strasse-7": make_live("a", "1").doc}


def test_odd_names_are_data(ledger: Ledger) -> None:
    name = ODD_NAME
    live = make_live(name, name, source=name, doc_id=name)
    publish(ledger, put(live), base=0, source=name)

    assert ledger.generations.live(1, source=name, docs=[live.doc]) == {live.doc: live}


def test_thousands_of_documents_are_frozen_changed_and_removed(ledger: Ledger) -> None:
    old = [make_live(f"{n}", "1") for n in range(3000)]
    new = [make_live(f"{n}", "2") for n in range(3000)]
    publish(ledger, *map(put, old), base=0)
    publish(ledger, *map(put, new[:2000]), *map(drop, old[2000:]), base=1)

    assert held(ledger, 1) == holding(*old)
    assert held(ledger, 2) == holding(*new[:2000])
    assert ledger.generations.live(2, docs=[live.doc for live in old]).keys() == {n.doc for n in new[:2000]}


def test_forgetting_leaves_the_kept_generations_as_they_were(ledger: Ledger) -> None:
    publish(ledger, put(A1), put(B1), base=0, payloads=["p1", "shared"])
    publish(ledger, put(A2), base=1, payloads=["p2"])
    publish(ledger, drop(B1), put(C1), base=2, payloads=["p3", "shared"])
    kept = {generation: held(ledger, generation) for generation in (2, 3)}

    assert ledger.generations.forget_before(2) == {"p2", "p3", "shared"}
    assert {generation: held(ledger, generation) for generation in (2, 3)} == kept
    assert ledger.generations.payloads(1) == ()
    assert len(table(ledger, "doc_rev")) == 3
    assert publish(ledger, put(A3), base=3) == 4


def test_forgetting_before_the_first_generation_forgets_nothing(ledger: Ledger) -> None:
    publish(ledger, put(A1), base=0, payloads=["p1"])

    assert ledger.generations.forget_before(0) == {"p1"}
    assert held(ledger, 1) == holding(A1)


def test_a_detail_of_a_source_holds_until_that_source_is_published(ledger: Ledger) -> None:
    source = ODD_NAME

    def says(name: str = source) -> bool:
        return ledger.generations.still_says("again", name)

    number = publish(ledger, base=0, source=source)
    row = ledger.generations.get(number)
    assert row is not None
    assert not says()
    ledger.generations.restore([replace(row, details={"again": source})], [])
    assert says()
    other = publish(ledger, base=number, source="another")
    assert (says(), says("another")) == (True, False)
    last = publish(ledger, base=other, source=source)
    assert not says()
    ledger.generations.roll_back(above=other)
    assert says(), last
