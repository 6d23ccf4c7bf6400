"""The file of a page: what is written reads back equal, and what cannot be read says why."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.wiki.front_matter import dump_page, parse_page, plain_line, plain_text
from retrieval.wiki.page import Contradiction, Fact, PageStatus, WikiPage
from schemas.errors import ParseError

LINES = st.text(max_size=40).map(plain_line)
NAMES = LINES.filter(bool)
PAGES = st.builds(
    WikiPage,
    category=st.just("topic"),
    slug=st.just("leases"),
    title=NAMES,
    body=st.text(max_size=200).map(plain_text),
    summary=LINES,
    rests_on=st.dictionaries(NAMES, NAMES, max_size=3),
    query=LINES,
    generation=st.none() | st.integers(0, 10**6),
    written_at=st.just("2026-03-01T09:00:00+00:00"),
    status=st.sampled_from(PageStatus),
    status_since=st.just("") | st.just("2026-03-01"),
    facts=st.lists(
        st.builds(Fact, subject=NAMES, predicate=NAMES, object=NAMES, chunk=LINES), max_size=2
    ).map(tuple),
    contradictions=st.lists(
        st.builds(Contradiction, subject=NAMES, predicate=NAMES, object=NAMES, other=NAMES, page=LINES),
        max_size=2,
    ).map(tuple),
    filed_sha256=st.just("") | st.just("0" * 64),
    extra=st.just({}) | st.just({"tags": ["a", 1], "draft": True}),
)


def parse(text: str) -> WikiPage:
    return parse_page(text, category="topic", slug="leases")


@given(PAGES)
@settings(max_examples=50, deadline=None)
def test_what_is_written_reads_back_equal(page: WikiPage) -> None:
    assert parse(dump_page(page)) == page


def test_a_page_needs_no_more_than_a_title() -> None:
    page = parse("---\ntitle: Leases\n---\nHeld by the porter.\n")
    assert (page.title, page.body, page.status, page.rests_on) == (
        "Leases",
        "Held by the porter.",
        "current",
        {},
    )


def test_a_page_saved_with_a_byte_order_mark_and_windows_line_ends_reads_as_any_other() -> None:
    page = parse("\ufeff---\r\ntitle: Leases\r\n---\r\nOne.\r\n\r\nTwo.\r\n")
    assert page.body == "One.\n\nTwo."


def test_a_rule_in_the_body_is_no_front_matter() -> None:
    assert parse("---\ntitle: A\n---\nOne.\n\n---\n\nTwo.").body == "One.\n\n---\n\nTwo."


def test_keys_that_only_a_person_knows_are_kept_when_a_page_is_written_again() -> None:
    page = parse("---\ntitle: A\ntags: [x, 1]\nreviewed: 2026-01-01\n---\n")
    assert parse(dump_page(page)).extra == page.extra
    assert list(page.extra) == ["tags", "reviewed"]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("", "must be keys and values"),
        ("- a\n- b\n", "must be keys and values"),
        ("1: x\n", "must be keys and values"),
        ("summary: x\n", "title is missing"),
        ("title: yes\n", "title must be a text; put it in quotes"),
        ("title: 2026-01-01\n", "title must be a text"),
        ("title: [a]\n", "title must be a text"),
        ("title: a\nsummary: 3\n", "summary must be a text"),
        ("title: a\ncategory: other\n", "category must be 'topic'"),
        ("title: a\nstatus: good\n", "status must be one of current, stale, contradicted"),
        ("title: a\nstatus: [x]\n", "status must be one of"),
        ("title: a\ngeneration: many\n", "generation must be a whole number"),
        ("title: a\ngeneration: true\n", "generation must be a whole number"),
        ("title: a\nrests_on: [x]\n", "rests_on must map"),
        ("title: a\nrests_on: {x: 1}\n", "rests_on must map"),
        ("title: a\nfacts: x\n", "facts must be a list"),
        ("title: a\nfacts: [{subject: a}]\n", "facts must be a list"),
        ("title: a\ncontradictions: [{subject: a, other: 1}]\n", "contradictions must be a list"),
        ("title: 'a\n", "not valid YAML"),
        ("title: a\n  b: c: d\n", ", line 3"),
        ("title: &a x\nsummary: *a\n", "anchors and aliases are not allowed"),
        ("title: !!python/object/apply:os.system [ls]\n", "not valid YAML"),
        ("title: a\nx: !!bool maybe\n", "tags are not allowed"),
        ("title: a\nx: !!int ''\n", "tags are not allowed"),
        ("title: a\nx: !!timestamp soon\n", "tags are not allowed"),
        ("title: a\nx: !!set [a]\n", "tags are not allowed"),
        ("title: a\nx: \x01\n", "not valid YAML"),
        ("title: " + "[" * 60_000 + "\n", "nested too deeply"),
        ("title: " + "x" * 70_000 + "\n", "longer than"),
    ],
)
def test_a_broken_front_matter_says_what_is_wrong(block: str, words: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"---\n{block}---\nbody")
    assert words in str(caught.value)
    assert caught.value.subject == "topic/leases.md"


@pytest.mark.parametrize("text", ["", "# Leases\n", "---\ntitle: a\n", "--- title: a ---"])
def test_a_page_without_front_matter_says_how_to_begin(text: str) -> None:
    with pytest.raises(ParseError, match="has no front matter: begin with a line ---"):
        parse(text)


@given(st.text(max_size=300))
@settings(max_examples=50, deadline=None)
def test_no_text_whatsoever_makes_reading_fail_otherwise(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n", f"---\ntitle: a\n{text}\n---\n"):
        try:
            page: Any = parse(whole)
        except ParseError:
            continue
        assert isinstance(page, WikiPage)
