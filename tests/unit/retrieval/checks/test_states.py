"""Whether passages bear a statement out."""

import pytest

from retrieval.checks.examine import find_statement
from schemas.nodes import Chunk

HEADINGS = ("Guide", "Leases")


def chunk(
    text: str, *, ordinal: int = 0, section: str = "section:a", headings: tuple[str, ...] = HEADINGS
) -> Chunk:
    return Chunk(
        id=f"chunk:{ordinal}",
        kind="html",
        source="guide",
        doc="page:a",
        text=text,
        content_hash="",
        ordinal=ordinal,
        offsets=(0, len(text)),
        token_count=10,
        heading_path=headings,
        section_id=section,
    )


PASSAGE = (
    "A lease is what a run holds while it writes. "
    "It is valid for 30 seconds and may be renewed by its holder. "
    "Readers never hold a lease."
)


@pytest.mark.parametrize(
    "statement",
    [
        "It is valid for 30 seconds and may be renewed by its holder.",
        "valid for 30 seconds",
        "It is valid  for\n30 seconds",
        "A lease is valid for thirty seconds.",
        "Readers never hold a lease",
    ],
)
def test_what_the_passage_says_is_met(statement: str) -> None:
    assert find_statement(statement, [chunk(PASSAGE)]).met


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("A lease is valid for 30 seconds.", PASSAGE.replace("30", "300")),
        ("It is valid for 30 seconds and may be renewed by its holder.", PASSAGE.replace("30", "33")),
        ("It may be renewed by its holder.", PASSAGE.replace("may be renewed", "may not be renewed")),
        ("Readers never hold a lease.", PASSAGE.replace("never hold", "always hold")),
        ("Readers never hold a lease.", PASSAGE.replace(" Readers never hold a lease.", "")),
        ("It is valid for 30 seconds.", "This section is being written again."),
        (
            "The record matches attempts made over TCP/IP, but only when the connection is encrypted.",
            "The record matches attempts made over TCP/IP, but not only when the connection is encrypted.",
        ),
        ("version 1.5", "It came with version 1.5.2 of the program."),
    ],
)
def test_what_it_says_otherwise_or_no_longer_is_not(statement: str, passage: str) -> None:
    found = find_statement(statement, [chunk(passage)])
    assert not found.met
    assert found.why


def test_what_is_shown_is_what_stands_there_instead() -> None:
    found = find_statement("It is valid for 30 seconds.", [chunk(PASSAGE.replace("30", "45"))])
    assert "45 seconds" in found.text


def test_nothing_is_said_where_nothing_is_left() -> None:
    assert not find_statement("It is valid.", []).met


def test_a_section_that_is_cut_elsewhere_says_the_same() -> None:
    first, second = PASSAGE[:60], PASSAGE[60:]
    parts = [chunk(second, ordinal=1), chunk(first, ordinal=0)]
    assert find_statement("Readers never hold a lease.", parts).met


def test_a_number_of_another_section_does_not_count() -> None:
    other = chunk(
        "The queue is valid for 30 seconds.", ordinal=1, section="section:b", headings=("Guide", "Queues")
    )
    changed = chunk(PASSAGE.replace("30", "45"))
    assert not find_statement(
        "It is valid for 30 seconds and may be renewed by its holder.", [changed, other]
    ).met
