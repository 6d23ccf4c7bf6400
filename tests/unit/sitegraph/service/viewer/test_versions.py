"""A passage followed through its versions."""

from collections.abc import Sequence
from pathlib import Path

from indexes.publish.current import write_current
from indexes.stores.ledger.generations import GenerationState
from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.settings import Settings
from sitegraph.actions.blame import STEPS_MAX, EntriesOf, became, was
from sitegraph.service.guard import RequestLimits
from sitegraph.service.parts import open_service_parts
from tests.fakes.ledger_index import ledger_index
from tests.fakes.ledger_rows import begin


def entry(generation: int, old: str | None, new: str | None) -> FeedEntry:
    change = FeedChange.REFRESHED if old == new else FeedChange.REPLACED
    return FeedEntry(
        kind=FeedKind.CHUNK,
        change=change,
        old_id=old,
        new_id=new,
        source="s",
        uri="u",
        reason="",
        generation=generation,
    )


def over(*entries: FeedEntry) -> EntriesOf:
    def entries_of(id_: str) -> Sequence[FeedEntry]:
        return [one for one in entries if id_ in (one.old_id, one.new_id)]

    return entries_of


LINE = over(entry(1, None, "a"), entry(2, "a", "a"), entry(3, "a", "b"), entry(5, "b", "c"))


def test_a_passage_is_followed_to_what_it_became() -> None:
    assert [one.new_id for one in became("a", LINE)] == ["b", "c"]
    assert became("c", LINE) == became("nobody", LINE) == ()


def test_a_passage_is_followed_back_to_where_it_was_new() -> None:
    assert [one.old_id for one in was("c", LINE)] == ["b", "a", None]
    assert [one.generation for one in was("a", LINE)] == [1]


def test_a_passage_that_went_became_nothing() -> None:
    assert [one.new_id for one in became("a", over(entry(1, None, "a"), entry(4, "a", None)))] == [None]


def test_a_passage_that_came_back_is_followed_from_where_it_went_last() -> None:
    line = over(entry(1, None, "a"), entry(2, "a", "b"), entry(3, "b", "a"), entry(4, "a", "c"))
    assert [one.new_id for one in became("a", line)] == ["c"]
    assert [one.old_id for one in was("c", line)] == ["a", "b", "a", None]


def test_a_passage_that_changes_for_ever_is_followed_for_a_while() -> None:
    line = over(*(entry(number, f"c{number}", f"c{number + 1}") for number in range(1, 100)))
    assert len(became("c1", line)) == len(was("c99", line)) == STEPS_MAX


def test_what_a_generation_did_that_was_rolled_back_is_not_told_of_an_id(tmp_path: Path) -> None:
    added = FeedEntry(
        kind=FeedKind.CHUNK, change=FeedChange.ADDED, old_id=None, new_id="a", source="s", uri="u", reason=""
    )
    with ledger_index(tmp_path) as index:

        def publish(base: int, *entries: FeedEntry) -> int:
            number = begin(index.ledger, base=base)
            index.ledger.generations.freeze(
                number, payloads=(), plan_sha="p", changes=(), details={}, feed=entries
            )
            index.ledger.generations.mark(number, GenerationState.PUBLISHED)
            write_current(tmp_path, number)
            return number

        first = publish(0, added)
        publish(first, entry(0, "a", "lost"))
        index.ledger.generations.roll_back(above=first)
        publish(first, entry(0, "b", "c"))

        with open_service_parts(Settings(index=str(tmp_path)), RequestLimits()) as parts:
            assert parts.last_change("a") is None
            assert getattr(parts.last_change("b"), "new_id", None) == "c"
