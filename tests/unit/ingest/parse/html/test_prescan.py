from ingest.parse.html.prescan import MAX_ATTRIBUTES, MAX_TAGS, cut_markup
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
