"""Ids that documents have of their own, looked up batch by batch."""

from collections.abc import Collection, Mapping
from typing import cast

from flows.derive.names import MOST_LOOKUPS, NextDocIds
from indexes.stores.ledger.generations import Generations
from schemas.changes import DocumentChange
from tests.fakes.ledger_rows import drop, make_live, put

HELD = {f"gov-{number}": f"page:{number}" for number in range(20)}


class CountedGenerations:
    """A base generation that counts how often it is asked, and for how many ids; None is all of them."""

    def __init__(self) -> None:
        self.asked: list[int | None] = []

    def by_doc_id(
        self, _number: int, ids: Collection[str] | None = None, *, without_docs: Collection[str] = ()
    ) -> Mapping[str, str]:
        self.asked.append(None if ids is None else len(ids))
        held = {one: doc for one, doc in HELD.items() if doc not in without_docs}
        return held if ids is None else {one: held[one] for one in ids if one in held}


def next_ids(counted: CountedGenerations, changes: Mapping[str, DocumentChange] | None = None) -> NextDocIds:
    return NextDocIds(generations=cast(Generations, counted), base=1, changes=changes or {})


def test_ids_are_asked_for_once_whatever_their_case() -> None:
    counted = CountedGenerations()
    ids = next_ids(counted)
    assert ids.among(["GOV-1", "gov-1", "nobody"]) == {"gov-1": "page:1"}
    assert ids.among(["Gov-1", "NOBODY"]) == {"gov-1": "page:1"}
    assert ids.among([]) == {}
    assert [number for number in counted.asked if number] == [2]


def test_after_many_batches_all_ids_are_read_once() -> None:
    counted = CountedGenerations()
    ids = next_ids(counted)
    for number in range(15):
        assert ids.among([f"GOV-{number}", f"none-{number}"]) == {f"gov-{number}": f"page:{number}"}
    assert counted.asked == [2] * MOST_LOOKUPS + [None]


def test_what_changes_has_its_new_id_and_of_equal_ids_the_lowest_node_wins() -> None:
    low, high = sorted((make_live(name, "2", doc_id="GOV-7") for name in "ab"), key=lambda live: live.doc)
    went = make_live("c", "1", doc_id="GOV-8")
    changed = {change.doc: change for change in (put(high), put(low), drop(went))}
    found = next_ids(CountedGenerations(), changed).among(["gov-7", "gov-9"])
    assert found == {"gov-7": min(low.doc, "page:7"), "gov-9": "page:9"}
