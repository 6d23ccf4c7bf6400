"""What a person wrote into the file of a page stays, to the byte, where nothing is new of it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.wiki.front_matter import dump_page, parse_page, plain_line, restate_page
from retrieval.wiki.page import Contradiction, PageStatus, WikiPage
from tests.fakes.wiki import NOW, hand_page

FLAG = Contradiction(subject="D", predicate="owner", object="P", other="S", chunk="chunk:x")
THEIRS = """---
# Do not touch.
zip: 01234   # the office
title:   'Leases'
opens: 12:30
contradictions:
- {subject: A, predicate: owner, object: B, other: C}

# Norway
country: NO
summary: >
  Who holds
  what.
status: current
---


# Leases\x0c

Held by the porter.  \n\n"""


def parse(text: str) -> WikiPage:
    return parse_page(text, category="topic", slug="by-hand")


def test_a_mark_changes_its_own_lines_and_no_other_byte() -> None:
    page = parse(THEIRS)
    stale = replace(page, status=PageStatus.STALE, status_since=NOW)
    marked = THEIRS.replace("status: current\n", f"status: stale\nstatus_since: '{NOW}'\n")
    assert restate_page(THEIRS, page, stale) == marked
    gone = THEIRS.replace("contradictions:\n- {subject: A, predicate: owner, object: B, other: C}\n", "")
    assert restate_page(THEIRS, page, replace(page, contradictions=())) == gone


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    text = "\ufeff" + THEIRS.replace("\n", "\r\n")
    page = parse(text)
    marked = restate_page(text, page, replace(page, status=PageStatus.STALE))
    assert marked == text.replace("status: current", "status: stale")


def test_a_body_is_put_in_the_place_of_another_and_the_keys_stay() -> None:
    page = parse(THEIRS)
    restated = restate_page(THEIRS, page, replace(page, body="Gone."))
    assert restated == THEIRS.partition("\n---\n\n")[0] + "\n---\n\nGone.\n"


@pytest.mark.parametrize(
    "text",
    [
        "---\n{title: A, x: 1}\n---\nB",
        "---\n  title: A\n  status: current\n---\nB",
        "---\ntitle: A\nstatus: current\nstatus: current\n---\nB",
        "---\ntitle: A\n...",
        "---\ntitle: A\nsummary: |\n  x\n\n---\nB",
    ],
)
def test_front_matter_of_another_form_reads_as_the_new_page_too(text: str) -> None:
    page = parse(text)
    for by in (
        replace(page, status=PageStatus.STALE, status_since=NOW),
        replace(page, body="C", summary="S", contradictions=(FLAG,)),
    ):
        assert parse(restate_page(text, page, by)) == by


BARE = hand_page("A", "", extra={"tags": ["x"]})
LINES = st.text(max_size=20).map(plain_line)
VALUES = st.builds(
    dict,
    summary=LINES,
    body=LINES,
    query=LINES,
    status=st.sampled_from(PageStatus),
    status_since=st.sampled_from(["", NOW]),
    rests_on=st.dictionaries(LINES.filter(bool), LINES.filter(bool), max_size=2),
    contradictions=st.sampled_from([(), (FLAG,), (FLAG, FLAG)]),
    generation=st.none() | st.integers(0, 9),
)


@given(VALUES, VALUES)
@settings(max_examples=60, deadline=None)
def test_whatever_differs_the_file_reads_as_the_new_page(old: dict[str, Any], new: dict[str, Any]) -> None:
    page = replace(BARE, **old)
    by = replace(BARE, **new)
    text = dump_page(page)
    assert parse(restate_page(text, page, by)) == by
    assert restate_page(text, page, page) == text
