"""What a page is to its site, by its structure: content, or an index, a list of changes, a search, an error.

Generators name these pages differently and in every language; what they look like is the same.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from ingest.parse.outline import OutlineSection
from schemas.nodes import PageKind

LETTERS = 2
"""Headings, or lines, of a single sign that an alphabetical index has at the least."""

INDEX_SHARE = 0.3
"""Least share of an index's text that leads elsewhere; DocBook links page titles, and not the terms."""

LISTING_SHARE, LISTING_LINKS = 0.85, 10
"""A listing says next to nothing but what its links say. The overview of a manual, with its contents, reaches
.82 (debian-policy), a list of acronyms .68 (PostgreSQL)."""

LISTED_SHARE, BARE_WORDS = 0.5, 1.5
"""A listing that adds something to each link (`add() : Berth`, a date) has half of its text in links, and for
each at most so many words outside."""

PROSE_WORDS, PROSE_RATE = 8, 4
"""A line that says something itself has so many plain words outside of links, and so many for each link."""

SENTENCE_WORDS = 4
"""So many are enough where a line has no link and ends as a sentence does: a short page has no longer one."""

INDEX_PROSE = 0.02
"""Share of an index's words in such lines: long entries look like one (PostgreSQL: 26 of 14,000 words)."""

NO_PASSAGES = "which is followed and gives no passages"
"""How the warning about an index ends."""

CHANGES, CHANGES_SHARE = 3, 0.6
"""Headings of a list of changes that are a version or a date, and least share of those below the title."""

HEADING_LENGTH = 200
"""Characters of a heading that is looked at: versions without end make the pattern slow."""

FEW_WORDS = 60
"""A search form or an error page that has more to say is content."""

LINK_LISTS = frozenset({PageKind.INDEX, PageKind.LISTING, PageKind.SEARCH, PageKind.NOT_FOUND})
"""Pages whose links are all that they are for."""

_VERSION = r"[\[(]?v?\d+(?:\.\d+)+[\w.+~-]*[\])]?"
_DATE = r"\d{4}-\d{2}-\d{2}"
_VERSIONED = re.compile(rf"(?:[^\W\d][\w.+-]*\s+){{0,3}}{_VERSION}(?:\s*[-\u2013\u2014(:,/|].{{0,40}})?")
_DATED = re.compile(rf"\W*{_DATE}\W*(?:{_VERSION})?\W*")
_RELEASE = re.compile(r"(?:[^\W\d][\w.+-]*\s+){1,3}v?\d+(?:\.\d+)*[\w.+~-]*")
_RELEASED = re.compile(rf"^.{{0,40}}{_DATE}", re.DOTALL)
_NOT_FOUND = re.compile(r"\b404\b")
_PLAIN_WORD = re.compile(r"\W*[^\W\d_]+(?:['\u2019-][^\W\d_]+)*\W*")
_TWO_SIGNS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2}")
_DAY = re.compile(
    rf"{_DATE}|\b\w{{3,12}}\.? \d{{1,2}},? \d{{4}}\b"
    r"|\b\d{1,2}\.? \w{3,12}\.? \d{4}\b|\b(?:\d{1,2}[/.]){2}\d{4}\b"
)
_NUMBER = re.compile(r"(?<!\S)[^\w\s(\[]*\d")
_LINK = "\0"


def page_kind(
    outline: Sequence[OutlineSection],
    *,
    title: str,
    uri: str,
    on_site: int = 0,
    has_search: bool = False,
    is_empty: bool = False,
    is_index: bool = False,
) -> PageKind:
    """Tell what a page is, by its sections.

    Args: on_site: how many links of its text lead to pages of the same host; has_search: there is a form in
    its content that asks for words; is_empty: nothing stands where its content should, so that its text is
    that of its frame; is_index: its generator says that it is one.
    """
    words = sum(len(section.text.split()) for section in outline)
    if words <= FEW_WORDS and _NOT_FOUND.search(" ".join((title, *_headings(outline), _file(uri)))):
        return PageKind.NOT_FOUND
    if has_search and (words <= FEW_WORDS or is_empty):
        return PageKind.SEARCH
    if is_index or _is_index(outline):
        return PageKind.INDEX
    if _is_listing(outline, on_site):
        return PageKind.LISTING
    return PageKind.CHANGES if _is_changes(outline, title) else PageKind.CONTENT


def _headings(outline: Sequence[OutlineSection]) -> list[str]:
    return [section.heading for section in outline if section.heading]


def _file(uri: str) -> str:
    return unquote(urlsplit(uri).path).rpartition("/")[2].rpartition(".")[0]


def linked_share(outline: Sequence[OutlineSection]) -> float:
    """Return how much of the text of a page leads elsewhere, in [0, 1]."""
    text = sum(len(section.text) for section in outline)
    linked = sum(end - start for section in outline for start, end, _ in section.links)
    return linked / text if text else 0.0


def gives_passages(
    kind: PageKind, outline: Sequence[OutlineSection], *, is_index: bool = False, is_empty: bool = False
) -> bool:
    """Whether a page of this kind says anything that the pages it leads to do not say.

    An index and a listing do by prose, a listing also by numbers, a search page by links of its own.

    Args: as of `page_kind`.
    """
    match kind:
        case PageKind.INDEX:
            words = sum(len(line.split()) for line in _lines(outline))
            return not is_index and _prose(outline) > INDEX_PROSE * words
        case PageKind.LISTING:
            return _prose(outline) > 0 or _gives_values(outline)
        case PageKind.SEARCH:
            return not is_empty and any(section.links for section in outline)
        case _:
            return True


def _lines(outline: Sequence[OutlineSection]) -> Iterator[str]:
    """Yield the lines under the headings, with a sign in place of the words of each link."""
    for section in outline:
        pieces, at = [], 0
        for start, end, _ in sorted(section.links, key=lambda link: link[:2]):
            pieces += [section.text[at:start], _LINK if end > max(start, at) else ""]
            at = max(at, end)
        text = "".join((*pieces, section.text[at:]))
        yield from text.split("\n") if section.text != section.heading else ()


def _prose(outline: Sequence[OutlineSection]) -> int:
    """Count the plain words of lines that say something themselves; one that ends in a colon names a list."""
    words = 0
    for line in _lines(outline):
        own = line.replace(_LINK, " ")
        found = sum(map(bool, map(_PLAIN_WORD.fullmatch, own.split()))) + len(_TWO_SIGNS.findall(own))
        links = line.count(_LINK)
        is_sentence = not links and own.rstrip().endswith((".", "!", "?", "\u3002"))
        is_prose = found >= max(SENTENCE_WORDS if is_sentence else PROSE_WORDS, PROSE_RATE * links)
        words += found if is_prose and not line.rstrip(" |").endswith((":", "\uff1a")) else 0
    return words


def _names_alone(outline: Sequence[OutlineSection]) -> bool:
    """Whether a page has links and, for each, hardly more than a name or a date."""
    lines = [_DAY.sub("", line) for line in _lines(outline)]
    links = sum(line.count(_LINK) for line in lines)
    bare = sum(any(map(str.isalnum, word)) for line in lines for word in line.replace(_LINK, " ").split())
    is_alone = links >= LISTING_LINKS and bare <= BARE_WORDS * links
    return is_alone and not _prose(outline) and not _gives_values(outline)


def _gives_values(outline: Sequence[OutlineSection]) -> bool:
    """Whether most lines have a number behind their link, no date and in no brackets: a code, a price."""
    behind = [_DAY.sub("", line).rpartition(_LINK)[2] for line in _lines(outline) if _LINK in line]
    return 2 * sum(_NUMBER.search(rest) is not None for rest in behind) > len(behind) >= LISTING_LINKS


def _is_index(outline: Sequence[OutlineSection]) -> bool:
    headings = _headings(outline)
    letters = sum(len(heading.strip(" -\u2013\u2014.")) == 1 for heading in headings)
    if letters and 2 * letters >= len(headings) and _names_alone(outline):
        return True
    if letters < LETTERS or 2 * letters < len(headings):
        lines = [line.strip(" |") for section in outline for line in section.text.splitlines()]
        letters = sum(len(line) == 1 and line.isalpha() for line in lines)
        if letters < LETTERS or len(headings) > 2:
            return False
    return linked_share(outline) >= INDEX_SHARE


def _is_listing(outline: Sequence[OutlineSection], on_site: int) -> bool:
    links, share = sum(len(section.links) for section in outline), linked_share(outline)
    if links < LISTING_LINKS or on_site < LISTING_SHARE * links:
        return False
    return share >= LISTING_SHARE or (share >= LISTED_SHARE and _names_alone(outline))


def _is_changes(outline: Sequence[OutlineSection], title: str) -> bool:
    """Whether most headings are versions or dates, or the page is one dated release.

    Headings that are numbered ("1.1 Scope") go on after the number.
    """
    below = [heading for heading in _headings(outline) if heading != title]
    of_changes = sum(_is_of_changes(heading) for heading in below)
    if of_changes >= CHANGES and of_changes >= CHANGES_SHARE * len(_top(outline, below)):
        return True
    first = next((section.text for section in outline if section.text != section.heading), "")
    return _RELEASE.fullmatch(title) is not None and _RELEASED.match(first) is not None


def _top(outline: Sequence[OutlineSection], below: Sequence[str]) -> list[str]:
    """Headings of the level that has the most versions and dates; each may have sections of its own."""
    levels: dict[int, list[str]] = {}
    for section in outline:
        if section.heading in below:
            levels.setdefault(section.level, []).append(section.heading)
    return max(levels.values(), key=lambda names: sum(map(_is_of_changes, names)), default=[])


def _is_of_changes(heading: str) -> bool:
    if len(heading) > HEADING_LENGTH:
        return False
    return _VERSIONED.fullmatch(heading) is not None or _DATED.fullmatch(heading) is not None
