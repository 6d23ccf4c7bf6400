import re

import pytest

from ingest.parse.html.charset import MAX_ATTRIBUTES, MAX_TAGS, cut_markup
from tests.fakes.pages import parse_page


def test_an_ordinary_page_is_left_alone() -> None:
    page = b"<p class=\"a>b\" title='c'>x</p><!-- <p y> --><br/>1 < 2"
    assert cut_markup(page) == (page, False)


def test_attributes_after_the_limit_go_alone() -> None:
    names = [b"a%d" % number for number in range(MAX_ATTRIBUTES + 500)]
    cut, truncated = cut_markup(b"<p " + b" ".join(names) + b' b=">" >kept</p>')
    assert truncated
    assert cut == b"<p " + b" ".join(names[:MAX_ATTRIBUTES]) + b" >kept</p>"


def test_tags_after_the_limit_go_with_what_follows() -> None:
    cut, truncated = cut_markup(b"<p>x" * (MAX_TAGS + 10))
    assert truncated
    assert cut == b"<p>x" * MAX_TAGS


def test_unclosed_quotes_are_scanned_once() -> None:
    page = b'<a b="' * 50_000
    assert cut_markup(page)[1]


def test_a_page_that_was_cut_says_so() -> None:
    assert parse_page("<h1>A</h1><p " + "a b " * 5_000 + ">x").warnings == (
        "truncated: more tags or attributes than any page needs",
    )


@pytest.mark.parametrize("unit", ["<font><p>Lamp {} burns.</p>", "<blockquote><p>Lamp {} burns."])
@pytest.mark.parametrize("depth", [120, 700])
def test_text_nested_deeper_than_libxml2_reads_is_kept_in_order(unit: str, depth: int) -> None:
    page = parse_page("<h1>Lamps</h1>" + "".join(map(unit.format, range(depth))) + "<p>All are lit.")
    text = " ".join(chunk.text for chunk in page.chunks)
    assert re.findall(r"Lamp (\d+) burns|(All)", text)[-1] == ("", "All")
    assert [int(number) for number in re.findall(r"Lamp (\d+)", text)] == list(range(depth))
    assert not page.warnings


def test_a_page_nested_without_end_is_cut_and_says_so() -> None:
    assert parse_page("<h1>A</h1>" + "<b>" * 30_000 + "x").warnings == (
        "truncated: more tags or attributes than any page needs",
    )
