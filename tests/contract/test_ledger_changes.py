"""The change feed in the ledger, over SQLite files and a real PostgreSQL."""

from collections.abc import Iterable

import pytest

from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.history import KEEP_STEPS, path_between
from indexes.stores.ledger.ledger import Ledger
from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.errors import ChangesUnavailable, ConfigError
from tests.fakes.ledger_rows import ODD_NAME, begin


def added(id_: str, *, source: str = "site") -> FeedEntry:
    return FeedEntry(
        kind=FeedKind.CHUNK,
        change=FeedChange.ADDED,
        old_id=None,
        new_id=id_,
        source=source,
        uri=f"https://site.test/{id_}",
        reason="new document",
    )


def freeze(ledger: Ledger, number: int, feed: Iterable[FeedEntry]) -> None:
    ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=(), details={}, feed=feed)


def publish(ledger: Ledger, *ids: str, base: int) -> int:
    number = begin(ledger, base=base)
    freeze(ledger, number, [added(id_) for id_ in ids])
    ledger.generations.mark(number, GenerationState.PUBLISHED)
    return number


def ids(
    ledger: Ledger, since: int, until: int, *, current: int | None = None, source: str | None = None
) -> list[str]:
    feed = ledger.changes.read(since=since, until=until, current=current or until, source=source)
    assert (feed.since, feed.until) == (since, until)
    return [f"{entry.generation}{entry.new_id}" for entry in feed.entries]


def test_entries_come_back_whole_and_in_the_order_they_were_frozen(ledger: Ledger) -> None:
    publish(ledger, "c", "a", base=0)
    publish(ledger, "b", base=1)

    assert ids(ledger, 0, 2) == ["1c", "1a", "2b"]
    assert ids(ledger, 1, 2) == ["2b"]
    assert ids(ledger, 0, 1, current=2) == ["1c", "1a"]
    assert ids(ledger, 2, 2) == []
    (entry,) = ledger.changes.read(since=1, until=2, current=2).entries
    assert entry == FeedEntry(
        kind=FeedKind.CHUNK,
        change=FeedChange.ADDED,
        old_id=None,
        new_id="b",
        source="site",
        uri="https://site.test/b",
        reason="new document",
        generation=2,
    )


def test_one_source_is_told_apart(ledger: Ledger) -> None:
    name = ODD_NAME
    number = begin(ledger, base=0)
    freeze(ledger, number, [added("a"), added("b", source=name)])

    assert ids(ledger, 0, 1, source=name) == ["1b"]
    assert ids(ledger, 0, 1, source="nobody") == []


def test_what_was_aborted_or_rolled_back_is_never_told(ledger: Ledger) -> None:
    publish(ledger, "a", base=0)
    aborted = begin(ledger, base=1)
    freeze(ledger, aborted, [added("b")])
    ledger.generations.abort(aborted)
    assert publish(ledger, "c", base=1) == 3
    ledger.generations.roll_back(above=1)
    assert publish(ledger, "d", base=1) == 4

    assert ids(ledger, 0, 4) == ["1a", "4d"]
    assert ids(ledger, 1, 4) == ["4d"]


def test_freezing_again_replaces_the_feed(ledger: Ledger) -> None:
    number = begin(ledger, base=0)
    freeze(ledger, number, [added("a"), added("b")])
    freeze(ledger, number, [added("c")])

    assert ids(ledger, 0, 1) == ["1c"]


def test_the_feed_outlives_generations_and_is_bounded(ledger: Ledger) -> None:
    for base in range(KEEP_STEPS + 2):
        publish(ledger, "x", base=base)
    newest = KEEP_STEPS + 2
    ledger.generations.forget_before(newest)

    assert len(ids(ledger, 2, newest)) == KEEP_STEPS
    with pytest.raises(ChangesUnavailable, match="generation 1: the feed goes back to generation 2 only"):
        ids(ledger, 1, newest)
    with pytest.raises(ChangesUnavailable, match=f"continue with: sitegraph changes --since {newest}"):
        ids(ledger, 0, newest)


BASES = {1: 0, 2: 1, 3: 2, 4: 2, 6: 4}
"""3 was rolled back, 5 never began, 6 is current."""


@pytest.mark.parametrize(
    ("since", "until", "path"),
    [(0, 6, (1, 2, 4, 6)), (2, 6, (4, 6)), (1, 4, (2, 4)), (6, 6, ()), (0, 0, ()), (4, 6, (6,))],
)
def test_the_path_follows_what_each_generation_was_built_on(
    since: int, until: int, path: tuple[int, ...]
) -> None:
    assert path_between(BASES, since=since, until=until, current=6) == path


@pytest.mark.parametrize(
    ("since", "until", "current", "error", "words"),
    [
        (3, 6, 6, ChangesUnavailable, "generation 3: did not lead to generation 6"),
        (5, 6, 6, ChangesUnavailable, "generation 5: did not lead"),
        (6, 4, 4, ChangesUnavailable, "generation 6: did not lead to generation 4.* --since 4"),
        (9, 6, 6, ConfigError, "--since: generation 9 is not published; readers see 6"),
        (4, 2, 6, ConfigError, "--until: generation 2 comes before generation 4"),
        (0, 3, 6, ConfigError, "--until: generation 3 is not one that readers saw: 0, 1, 2, 4, 6"),
        (2, 7, 6, ConfigError, "--until: generation 7 is not one that readers saw"),
    ],
)
def test_a_generation_that_leads_nowhere_is_refused(
    since: int, until: int, current: int, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        path_between(BASES, since=since, until=until, current=current)


def replaced(old: str | None, new: str | None, *, source: str = "site") -> FeedEntry:
    return FeedEntry(
        kind=FeedKind.CHUNK,
        change=FeedChange.REPLACED,
        old_id=old,
        new_id=new,
        source=source,
        uri="https://site.test/page",
        reason="other text",
    )


def publish_former(
    ledger: Ledger, entries: Iterable[FeedEntry], former: dict[str, str], *, base: int, keep: int = KEEP_STEPS
) -> int:
    number = begin(ledger, base=base)
    ledger.generations.freeze(
        number,
        payloads=(),
        plan_sha="p",
        changes=(),
        details={},
        feed=entries,
        former=former.items(),
        keep_changes=keep,
    )
    ledger.generations.mark(number, GenerationState.PUBLISHED)
    return number


def test_what_a_passage_said_is_kept_as_long_as_the_change_that_took_it_out(ledger: Ledger) -> None:
    publish_former(ledger, [replaced(None, "a"), replaced(None, "b")], {}, base=0, keep=2)
    publish_former(ledger, [replaced("a", "c"), replaced("b", None)], {"a": "A\0!", "b": "B"}, base=1, keep=2)
    assert ledger.lineage.former_texts(["a", "b", "c"]) == {"a": "A\ufffd!", "b": "B"}

    publish_former(ledger, [replaced(None, "b")], {}, base=2, keep=2)
    publish_former(ledger, [replaced("b", "d")], {"b": "B"}, base=3, keep=2)

    assert ledger.lineage.former_texts(["a", "b"]) == {"b": "B"}, "b went once more in generation 4"
    publish_former(ledger, [], {}, base=4, keep=2)
    publish_former(ledger, [], {}, base=5, keep=2)
    assert ledger.lineage.former_texts(["a", "b"]) == {}


def test_the_texts_of_a_generation_that_will_not_be_are_taken_back(ledger: Ledger) -> None:
    publish_former(ledger, [replaced("a", "b")], {"a": "A"}, base=0)
    number = begin(ledger, base=1)
    ledger.generations.freeze(
        number,
        payloads=(),
        plan_sha="p",
        changes=(),
        details={},
        feed=[replaced("b", "c"), replaced("a", None)],
        former=[("b", "B"), ("a", "A")],
    )
    ledger.generations.abort(number)
    assert ledger.lineage.former_texts(["a", "b"]) == {"a": "A"}


def test_a_source_that_is_dropped_leaves_no_text_of_what_it_said(ledger: Ledger) -> None:
    entries = [replaced("a", None), replaced("b", None, source="other")]
    publish_former(ledger, entries, {"a": "A", "b": "B"}, base=0)
    ledger.documents.forget("site")
    assert ledger.lineage.former_texts(["a", "b"]) == {"b": "B"}
    assert len(ledger.changes.read(since=0, until=1, current=1).entries) == 2
