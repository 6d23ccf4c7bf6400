"""Since when each sentence of a passage stands, decided from its versions."""

import pytest

from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.documents import Ancestor
from sitegraph.actions.blame import PassageVersion, date_sentences, versions_of
from sitegraph.actions.word_difference import Mark


def version(generation: int | None, text: str | None) -> PassageVersion:
    return PassageVersion(
        id=f"v{generation}",
        generation=generation,
        as_of=f"2026-01-0{generation}" if generation else None,
        change=FeedChange.REPLACED,
        reason="",
        text=text,
    )


def dated(*versions: PassageVersion) -> list[tuple[str, int | None, bool]]:
    return [(one.text, one.generation, one.or_before) for one in date_sentences(versions)]


def test_a_sentence_is_as_old_as_the_oldest_version_that_has_had_it_ever_since() -> None:
    assert dated(
        version(7, "Leases last a day. They may be renewed. Ask the porter."),
        version(4, "Leases last an hour. They may be renewed. Ask the porter."),
        version(2, "Leases last an hour. Ask the porter."),
    ) == [
        ("Leases last a day.", 7, False),
        ("They may be renewed.", 4, False),
        ("Ask the porter.", 2, False),
    ]


def test_a_sentence_that_came_back_is_as_old_as_its_coming_back() -> None:
    assert dated(version(3, "It is so."), version(2, "It is not so."), version(1, "It is so.")) == [
        ("It is so.", 3, False)
    ]


def test_white_space_makes_no_sentence_newer() -> None:
    assert dated(version(2, "It  is\tso. Really so."), version(1, "It is so.\nReally so.")) == [
        ("It is so.", 1, False),
        ("Really so.", 1, False),
    ]


def test_behind_a_text_that_is_kept_no_longer_a_sentence_may_be_older() -> None:
    assert dated(version(5, "One. Two."), version(4, "One."), version(3, None)) == [
        ("One.", 4, True),
        ("Two.", 5, False),
    ]


def test_what_the_feed_does_not_reach_is_older_than_all_that_is_known() -> None:
    assert dated(version(5, "One. Two."), version(None, "One.")) == [("One.", None, True), ("Two.", 5, False)]
    assert dated(version(None, "One.")) == [("One.", None, True)]


def step(generation: int, old: str | None, new: str) -> FeedEntry:
    return FeedEntry(
        kind=FeedKind.CHUNK,
        change=FeedChange.REPLACED if old else FeedChange.ADDED,
        old_id=old,
        new_id=new,
        source="s",
        uri="u",
        reason="why",
        generation=generation,
    )


LINE = tuple(
    Ancestor(generation=n, base=n - 1, as_of=f"2026-01-0{n}", source="s", run_id="r", changes_kept=True)
    for n in (3, 2, 1)
)


@pytest.mark.parametrize("known", [True, False])
def test_versions_are_those_that_changes_led_through(known: bool) -> None:
    steps = (step(3, "b", "c"), step(2, "a", "b"), *([step(1, None, "a")] if known else []))
    newest, middle, oldest = versions_of("c", steps, texts={"c": "now", "a": "once"}, line=LINE)
    assert (newest.id, newest.generation, newest.as_of, newest.text) == ("c", 3, "2026-01-03", "now")
    assert (middle.id, middle.text, middle.pieces) == ("b", None, None)
    assert (oldest.generation, oldest.text) == (1 if known else None, "once")


def test_a_version_tells_what_it_changed_word_by_word() -> None:
    steps = (step(2, "a", "b"), step(1, None, "a"))
    texts = {"b": "It lasts a whole day here.", "a": "It lasts a whole hour here."}
    newest, oldest = versions_of("b", steps, texts=texts, line=LINE)
    assert newest.pieces is not None
    assert [piece.text.strip() for piece in newest.pieces if piece.mark is not Mark.SAME] == ["hour", "day"]
    assert oldest.pieces is None
