"""What a page says of itself: its links, its sections, and whether a person has edited it."""

from dataclasses import replace

import pytest

from retrieval.wiki.page import PageSection, sections_of
from schemas.ids import sha256_hex
from tests.fakes.wiki import hand_page

BODY = """Lead, see [[Readers]] and [[topic/vectors|vectors]].

## Code
```
# no heading
[[no link]]
```
`[[nor this]]`

## Empty

## Evidence
- [S1] chunk
"""


def test_links_are_read_outside_of_code_each_once() -> None:
    page = hand_page("Leases", BODY + "[[Readers]] again")
    assert page.links == ("Readers", "topic/vectors")


def test_a_body_is_cut_at_its_headings_and_not_inside_of_code() -> None:
    lead, code = sections_of(hand_page("Leases", BODY))
    assert lead == PageSection(heading="Leases", text="Lead, see [[Readers]] and [[topic/vectors|vectors]].")
    assert (code.heading, code.text[:16]) == ("Code", "```\n# no heading")


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("## Why ##", "Why"),
        ("# C#", "C#"),
        ("#  A  #  # ", "A  #"),
        ("# #", ""),
        (f"# A{' ' * 20_000}B", f"A{' ' * 20_000}B"),
    ],
)
def test_a_heading_ends_before_its_closing_signs_however_much_white_space_it_has(
    line: str, heading: str
) -> None:
    (section,) = sections_of(hand_page("Leases", f"{line}\ntext"))
    assert section == PageSection(heading=heading, text="text")


def test_what_a_page_says_of_its_sources_is_no_part_of_its_text() -> None:
    page = hand_page("Leases", BODY, summary="A lead.", query="What are leases?")
    assert "chunk" not in page.text
    assert {"Leases", "A lead.", "What are leases?"} <= set(page.text.split("\n"))


def test_a_page_is_edited_by_hand_once_its_body_is_not_what_was_filed() -> None:
    filed = hand_page("Leases", "As filed.", filed_sha256=sha256_hex("As filed."))
    assert not filed.edited_by_hand
    assert replace(filed, body="As mended.").edited_by_hand
    assert hand_page("Leases", "Never filed.").edited_by_hand
