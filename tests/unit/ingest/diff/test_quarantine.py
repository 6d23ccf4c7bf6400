"""Which answers of 200 are no content, and which are pages that somebody rewrote."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.diff.quarantine import (
    Version,
    bad_content,
    has_collapsed,
    is_suspicious,
    read_version,
    redirects_to_homepage,
)
from schemas.documents import DocumentState as S
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, DocumentKind
from tests.fakes.known import SITE, known

PAGE = Version(text=" ".join(f"word{number}" for number in range(100)))
OTHER = Version(text=" ".join(f"other{number}" for number in range(100)))
SORRY = Version(text="Sorry, the page you asked for is not here any more. Try the search.")
LOGIN = b"<form><input name=user><input name=pw type='password'></form>"


def honest() -> Version | None:
    """A host that answers 404 to an address nobody has."""
    return None


def fragment(text: str, kind: DocumentKind = DocumentKind.HTML, **fields: Any) -> GraphFragment:
    """A page of one chunk."""
    chunk = Chunk(
        id="chunk:1",
        kind=kind,
        source="handbook",
        doc="page:1",
        text=text,
        content_hash="c",
        ordinal=0,
        offsets=(0, len(text)),
        token_count=1,
    )
    parts = {"uri": SITE, "doc": "page:1", "content_hash": "c", "nodes": (), "edges": (), "chunks": (chunk,)}
    return GraphFragment(**{"kind": kind, **parts, **fields})


def part_of(version: Version, words: int) -> Version:
    """The first words of a version."""
    return Version(text=" ".join(version.text.split()[:words]))


@pytest.mark.parametrize(
    ("now", "before", "suspicious"),
    [
        (PAGE, PAGE, False),
        (part_of(PAGE, 50), PAGE, False),
        (part_of(PAGE, 49), PAGE, True),
        (OTHER, PAGE, True),
        (Version(text=f"{PAGE.text} {OTHER.text}"), PAGE, False),
        (Version(text=PAGE.text.upper()), PAGE, False),
        (part_of(PAGE, 29), None, True),
        (part_of(PAGE, 30), None, False),
        (Version(text=""), Version(text=""), False),
    ],
)
def test_a_version_is_suspicious_if_it_lost_half_of_its_words_or_is_new_and_tiny(
    now: Version, before: Version | None, suspicious: bool
) -> None:
    assert is_suspicious(now, before) is suspicious


@pytest.mark.parametrize("before", [PAGE, None])
@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (Version(text="Sign in to go on", asks_password=True), "a login page"),
        (Version(text="We use cookies. Accept all cookies to read on."), "a cookie wall"),
        (SORRY, "what the host answers to addresses that nobody has"),
        (Version(text="Short but honest."), None),
    ],
)
def test_each_kind_of_bad_answer_is_told_apart(now: Version, before: Version | None, reason: str) -> None:
    assert bad_content(now, before, missing=lambda: SORRY) == reason


def test_an_unfilled_page_is_bad_only_where_there_was_text() -> None:
    """The search page of every manual made by Sphinx is such a shell, and nothing is wrong with it."""
    shell = Version(text="Search", is_unfilled=True)
    assert bad_content(shell, PAGE, missing=honest) == "an empty page that JavaScript would fill"
    assert bad_content(shell, None, missing=honest) is None
    assert bad_content(shell, Version(text="Please activate JavaScript to search."), missing=honest) is None


def test_a_rewritten_page_is_good_whatever_widget_it_now_has() -> None:
    widget = Version(text=f"{PAGE.text} cookies cookies cookies", asks_password=True, is_unfilled=True)
    assert bad_content(widget, PAGE, missing=lambda: PAGE) is None
    assert bad_content(OTHER, PAGE, missing=honest) is None


def test_a_host_is_asked_only_where_nothing_else_tells() -> None:
    asked: list[str] = []

    def ask() -> None:
        asked.append("asked")

    bad_content(PAGE, PAGE, missing=ask)
    bad_content(Version(text="Sign in", asks_password=True), PAGE, missing=ask)
    assert asked == []
    bad_content(SORRY, PAGE, missing=ask)
    assert asked == ["asked"]


def test_an_error_page_that_names_the_address_is_still_the_same_error_page() -> None:
    text = "Sorry, the page {} that you asked for is not here any more. Try the search or go home."
    now, missing = Version(text=text.format("/a/b.html")), Version(text=text.format("/sitegraph-1"))
    assert bad_content(now, PAGE, missing=lambda: missing) is not None
    assert bad_content(SORRY, PAGE, missing=lambda: OTHER) is None


@pytest.mark.parametrize(
    ("words", "of", "collapsed"),
    [(19, PAGE, True), (25, PAGE, False), (0, PAGE, True), (1, part_of(PAGE, 29), False), (0, None, False)],
)
def test_less_than_a_fifth_of_the_text_is_a_collapse(words: int, of: Version | None, collapsed: bool) -> None:
    assert has_collapsed(part_of(PAGE, words), of) is collapsed


@pytest.mark.parametrize(
    ("data", "asks", "unfilled"),
    [
        (LOGIN, True, False),
        (b'<INPUT ID=x TYPE="Password">', True, False),
        (b"<!-- " + LOGIN + b" -->", False, False),
        (b"<script>var form = '<input type=password>'</script>", False, False),
        (b"<p>type=password</p>", False, False),
        (b'<div id="root"></div><script src="/app.js"></script>', False, True),
        (b"<my-app> </my-app><script type=module src=a.js></script>", False, True),
        (b"<noscript>You need to enable JavaScript.</noscript><script src=a.js></script>", False, True),
        (b'<div id="root"></div>', False, False),
        (b'<div id="root"><p>Text</p></div><script></script>', False, False),
        (b"<script><div id='root'></div></script>", False, False),
    ],
)
def test_forms_and_shells_are_seen_in_the_markup_and_nowhere_else(
    data: bytes, asks: bool, unfilled: bool
) -> None:
    version = read_version(fragment("Text."), data)
    assert (version.asks_password, version.is_unfilled) == (asks, unfilled)


def test_bytes_of_a_pdf_are_not_read_as_markup() -> None:
    version = read_version(fragment("Text.", DocumentKind.PDF), LOGIN)
    assert version == Version(text="Text.")


@given(
    st.lists(st.sampled_from([b"<!--", b"-->", b"<script", b"</script>", b"<div id=", b"<a-", b">", b"x"]))
)
def test_broken_markup_is_no_obstacle(parts: list[bytes]) -> None:
    read_version(fragment(""), b"".join(parts))


def test_hostile_markup_costs_no_more_than_its_length() -> None:
    """Each would take minutes if a repetition could start anywhere and run to the end."""
    for part in (b"<script ", b"<div id=", b"<input type", b"<a-", b"<!-- ", b"<noscript "):
        read_version(fragment(""), part * 100_000)


@given(st.text(max_size=200), st.text(max_size=200))
def test_an_unchanged_version_is_never_put_aside(text: str, extra: str) -> None:
    before = Version(text=text)
    grown = Version(text=f"{text} {extra}", asks_password=True, is_unfilled=True)
    assert bad_content(grown, before, missing=lambda: grown) is None
    assert not has_collapsed(grown, before)


@pytest.mark.parametrize(
    ("uri", "location", "home"),
    [
        ("https://docs.example.org/a/b.html", "https://docs.example.org/", True),
        ("https://docs.example.org/a/b.html", "https://docs.example.org/index.html", True),
        ("https://docs.example.org/a/b.html", "https://www.example.org/", True),
        ("https://docs.example.org/handbook/b.html", SITE, True),
        ("https://docs.example.org/a/b.html", "https://docs.example.org/a/c.html", False),
        ("https://docs.example.org/a/b.html", "https://other.example.net/", False),
        ("https://docs.example.org/index.html", "https://docs.example.org/", False),
        (SITE, "https://docs.example.org/", False),
        ("https://docs.example.org/a/b.html", "https://docs.example.org/?page=b", False),
    ],
)
def test_a_deep_page_that_redirects_to_the_start_is_gone_in_all_but_name(
    uri: str, location: str, home: bool
) -> None:
    assert redirects_to_homepage(known(uri, state=S.REDIRECTED, location=location), [SITE]) is home
