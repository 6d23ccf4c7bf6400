"""What differs between two looks at a page is a clock or a counter; all else is content."""

from typing import Any

import pytest

from ingest.diff.volatile import CLOCK_SECONDS, is_unchanged, looks_wanted
from schemas.fragment import GraphFragment
from schemas.nodes import DocumentKind
from tests.fakes.pages import parse_page

WORDS = "The relay keeps each message until the next station has said that it holds a copy. " * 3


def told(text: str, **stated: Any) -> GraphFragment:
    """A page of this text."""
    words = {"nodes": (), "edges": (), "chunks": (), "title": f"{WORDS} {text}"}
    page = {"uri": "https://e.org/", "doc": "d", "kind": DocumentKind.HTML, "content_hash": ""}
    return GraphFragment(**{**page, **words, **stated})


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Edited 3 minutes ago by Ann", "Edited 2 hours ago by Ann"),
        ("Edited just now by Ann", "Edited an hour ago by Ann"),
        ("Updated: about 1 day ago", "Updated: about 3 weeks ago"),
        ("Built 1 hour, 3 minutes ago", "Built 4 days ago"),
        ("Posted 5m ago", "Posted 3h ago"),
        ("Zuletzt vor einer Stunde geändert", "Zuletzt vor 3 Tagen geändert"),
        ("Modifié il y a 3 jours", "Modifié il y a 2 semaines"),
        ("Editado hace 5 minutos", "Editado hace 2 días"),
        ("3 giorni fa", "2 ore fa"),
        ("更新于 3 分钟前", "更新于 2 小时前"),
    ],
)
def test_how_long_ago_something_was_is_told_by_one_look(before: str, now: str) -> None:
    assert is_unchanged(told(before), [told(now)])


@pytest.mark.parametrize(
    ("before", "now", "again"),
    [
        ("Views: 1204", "Views: 1310", "Views: 1311"),
        ("1,204 views", "998 views", "1,000 views"),
        ("1\u202f204 vues", "998 vues", "999 vues"),
        ("Answered in 132ms.", "Answered in 98ms.", "Answered in 101ms."),
        ("(4821 readers)", "(17 readers)", "(18 readers)"),
        ("Request id: req_8fK3jd92xx", "Request id: req_0aaZ31mmQp", "Request id: req_77Hd92kkLw"),
        (
            "Trace 0f8fad5b-d9cb-469f-a165-70867728950e",
            "Trace 7c9e6679-7425-40de-944b-e07fc1f90ae7",
            "Trace fffeabcd-abcd-abcd-abcd-abcdefabcdef",
        ),
        ("It is 09:41:07 now", "It is 17:03:12 now", "It is 17:03:13 now"),
    ],
)
def test_what_moves_between_two_looks_is_no_content(before: str, now: str, again: str) -> None:
    assert is_unchanged(told(before), [told(now), told(again)])
    assert not is_unchanged(told(before), [told(now)]), "one look does not tell"
    assert not is_unchanged(told(before), [told(now), told(now)]), "it stands still: an edit"


@pytest.mark.parametrize(
    ("before", "now", "again"),
    [
        ("The fee is 12 crowns", "The fee is 14 crowns", "The fee is 14 crowns"),
        ("Keep it for 30 minutes", "Keep it for 45 minutes", "Keep it for 45 minutes"),
        ("3 errors, 120 views", "3 warnings, 121 views", "3 warnings, 122 views"),
        ("Limit 3, 120 views", "Limit 5, 121 views", "Limit 5, 122 views"),
        ("Edited 3 minutes ago by Ann", "Edited 4 minutes ago by Bob", "Edited 4 minutes ago by Bob"),
        ("120 views", "121 views and more", "122 views and more"),
        ("Say yes to 120", "Say no to 120", "Say maybe to 120"),
        ("1 2 3 4 5 6 7", "8 9 10 11 12 13 14", "15 16 17 18 19 20 21"),
        ("vor 3 Häusern", "vor 3 Gärten", "vor 3 Gärten"),
    ],
)
def test_what_stands_still_or_has_other_words_is_a_change(before: str, now: str, again: str) -> None:
    assert not is_unchanged(told(before), [told(now), told(again)])


@pytest.mark.parametrize(
    ("before", "now", "wanted"),
    [
        ("It is 09:41:07", "It is 17:03:12", (0.0, CLOCK_SECONDS)),
        ("Stamp 1764485592", "Stamp 1764485999", (0.0, CLOCK_SECONDS)),
        ("Views: 120", "Views: 121", (0.0,)),
        ("Edited 2 days ago", "Edited 3 days ago", ()),
        ("Say yes", "Say no", ()),
    ],
)
def test_a_page_is_looked_at_as_often_as_it_may_tell(
    before: str, now: str, wanted: tuple[float, ...]
) -> None:
    assert looks_wanted(told(before), told(now)) == wanted


def test_what_leads_elsewhere_or_is_not_to_be_indexed_has_changed() -> None:
    before, looks = told("120 views"), [told("121 views", noindex=True), told("122 views", noindex=True)]
    assert not is_unchanged(before, looks)
    assert looks_wanted(before, looks[0]) == ()


AROUND = f"<p>{WORDS}</p>"


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("<pre>if x:\n    a()\nb()</pre>", "<pre>if x:\n    a()\n    b()</pre>"),
        ("<pre>a\nb c</pre>", "<pre>a b\nc</pre>"),
        ("<h2>Keys</h2><p>Text.</p>", "<h3>Keys</h3><p>Text.</p>"),
        ("<h2 id=old>Keys</h2><p>Text.</p>", "<h2 id=new>Keys</h2><p>Text.</p>"),
        ("<pre><code class=language-sh>ls</code></pre>", "<pre><code class=language-bat>ls</code></pre>"),
    ],
)
@pytest.mark.parametrize("clock", ["", "<p>Edited {} minutes ago.</p>"])
def test_words_that_stand_otherwise_are_a_change_whatever_moves_beside_them(
    before: str, now: str, clock: str
) -> None:
    one, other = (
        parse_page(f"<main><h1>Relay</h1>{AROUND}{body}{clock.format(minutes)}{AROUND}</main>".encode())
        for body, minutes in ((before, 3), (now, 5))
    )
    assert not is_unchanged(one, [other])
    assert is_unchanged(one, [one])
