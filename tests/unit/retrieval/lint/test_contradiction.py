"""Which pairs of statements the linter calls a contradiction."""

import pytest

from retrieval.lint.contradiction import contradictions
from retrieval.lint.findings import LintFinding
from schemas.nodes import PageKind
from tests.fakes.lint_sites import document, passage, site_of_texts

ENTRY = ("Settings", "idle_timeout")


def found(
    one: str, other: str, *, entries: tuple[tuple[str, ...], tuple[str, ...]] = (ENTRY, ENTRY)
) -> list[LintFinding]:
    passages = (passage("admin", one, heading=entries[0]), passage("guide", other, heading=entries[1]))
    return list(contradictions(site_of_texts(*passages)))


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (
            "The server closes an idle connection after 30 seconds.",
            "The server closes an idle connection after 60 seconds.",
            "gives 30 seconds where the other has 60 seconds",
        ),
        (
            "The server closes an idle connection after 30 seconds.",
            "The server closes an idle connection after 30 minutes.",
            "gives 30 seconds where the other has 30 minutes",
        ),
        (
            "The default value of idle_timeout is 10 minutes.",
            "The default value of idle_timeout is 5 minutes.",
            "gives 10 minutes where the other has 5 minutes",
        ),
        (
            "The old interface is removed on 1 March 2027 from all servers.",
            "The old interface is removed on 1 May 2027 from all servers.",
            "gives 1 march 2027 where the other has 1 may 2027",
        ),
        (
            "An idle connection is closed by the server without notice to its client.",
            "An idle connection is not closed by the server without notice to its client.",
            "says what the other denies",
        ),
        (
            "Compression of idle connections is enabled by default on the server.",
            "Compression of idle connections is disabled by default on the server.",
            'says "enabled" where the other says "disabled"',
        ),
    ],
)
def test_one_telling_word_apart_is_a_contradiction(one: str, other: str, told: str) -> None:
    (finding,) = found(one, other)

    assert told in finding.message
    assert [place.text for place in finding.places] == [one, other]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # the same amount in other words
        (
            "The server closes an idle connection after 120 seconds.",
            "The server closes an idle connection after 2 minutes.",
        ),
        # two things, by their names
        (
            "The default value of idle_timeout is 10 minutes.",
            "The default value of lock_timeout is 5 minutes.",
        ),
        # examples and versions
        (
            "For example, the server closes an idle connection after 30 seconds.",
            "For example, the server closes an idle connection after 60 seconds.",
        ),
        (
            "Since version 3, the server closes an idle connection after 30 seconds.",
            "Since version 3, the server closes an idle connection after 60 seconds.",
        ),
        # rows of tables
        (
            "idle_timeout | 30 seconds | closes an idle connection.",
            "idle_timeout | 60 seconds | closes an idle connection.",
        ),
        # two telling words apart: worded for two cases
        (
            "The primary server closes an idle connection after 30 seconds.",
            "The secondary server closes an idle connection after 60 seconds.",
        ),
        # numbers of chapters measure nothing
        (
            "Idle connections of the server are described in chapter 12.",
            "Idle connections of the server are described in chapter 14.",
        ),
    ],
)  # fmt: skip
def test_two_things_and_one_thing_in_other_words_are_none(one: str, other: str) -> None:
    assert found(one, other) == []


def test_short_statements_under_two_headings_are_of_two_things() -> None:
    texts = ("The default is 30 seconds for all of them.", "The default is 60 seconds for all of them.")

    assert found(*texts, entries=(("Settings", "idle_timeout"), ("Settings", "lock_timeout"))) == []
    assert len(found(*texts)) == 1


def test_a_sentence_that_both_pages_have_beside_it_says_what_a_short_denial_is_of() -> None:
    beside = "The archive holds what the server wrote before it stopped."
    texts = ("All old segments are kept there.", "All old segments are not kept there.")
    numbers = ("All old segments are kept for 30 days.", "All old segments are kept for 60 days.")

    assert found(*texts, entries=((), ())) == []
    assert len(found(*(f"{beside} {one}" for one in texts), entries=((), ()))) == 1
    assert found(*(f"{beside} {one}" for one in numbers), entries=((), ())) == []


def test_a_page_that_has_both_statements_tells_cases_apart() -> None:
    one = "The server closes an idle connection after 30 seconds."
    other = "The server closes an idle connection after 60 seconds."
    both = site_of_texts(
        passage("admin", f"{one}\n\n{other}", heading=ENTRY), passage("guide", other, heading=ENTRY)
    )

    assert list(contradictions(both)) == []


def test_two_versions_of_a_manual_may_differ() -> None:
    one = "The server closes an idle connection after 30 seconds."
    other = "The server closes an idle connection after 60 seconds."
    passages = (passage("old", one, heading=ENTRY), passage("new", other, heading=ENTRY))
    by_address = [
        document("old", uri="https://example.org/15/a.html"),
        document("new", uri="https://example.org/17/a.html"),
    ]
    by_statement = [document("old", version="15"), document("new", version="17")]

    assert list(contradictions(site_of_texts(*passages, documents=by_address))) == []
    assert list(contradictions(site_of_texts(*passages, documents=by_statement))) == []
    assert len(list(contradictions(site_of_texts(*passages)))) == 1


def test_a_changelog_contradicts_nobody() -> None:
    one = passage(
        "log",
        "The server closes an idle connection after 30 seconds.",
        heading=ENTRY,
        page_kind=PageKind.CHANGES,
    )
    other = passage("guide", "The server closes an idle connection after 60 seconds.", heading=ENTRY)

    assert list(contradictions(site_of_texts(one, other))) == []


def test_the_fingerprint_stays_when_headings_and_order_change() -> None:
    one = "The server closes an idle connection after 30 seconds."
    other = "The server closes an idle connection after 60 seconds."
    (before,) = found(one, other)
    moved = ("Reference", "Settings", "idle_timeout")
    passages = (
        passage("admin", "Read this first.", heading=("Start",)),
        passage("admin", one, heading=moved, ordinal=1, fragment="new-id"),
        passage("guide", other, heading=moved),
    )
    (after,) = contradictions(site_of_texts(*passages))

    assert after.fingerprint == before.fingerprint


def test_no_heading_takes_long() -> None:
    one, other = (f"The server closes an idle connection after {count} seconds." for count in (30, 60))
    for line in ("_" * 20_000, "_" * 20_000 + " Date"):
        entry = ("Form", f"Name{line}")
        assert bool(found(one, other, entries=(entry, entry))) == line.endswith("_")
