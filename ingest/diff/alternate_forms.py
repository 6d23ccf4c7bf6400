"""Other forms of a document: for printers, pages that name it as canonical, versions, all its pages in one.

Content decides: an address or a `link` element only says where to look. A translation has other words, and so
is never another form. Source: RFC 6596 (canonical); A. Z. Broder, On the resemblance and containment of
documents, 1997 (shingles).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from types import MappingProxyType
from zlib import crc32

from ingest.diff.address_forms import markdown_forms, plain_forms, slash_forms, version_forms
from ingest.diff.moves import MIN_WORDS, by_preference
from ingest.urls import folder_of
from schemas.documents import READABLE, DocumentState, KnownDocument
from schemas.formats import media_type

SAME = 0.9
"""Part of a document's shingles that another must have, so that it is a form of the other."""

NEARLY = 0.95
"""The same of two versions of a page, where the site does not say that they are one. Of manuals one major
version apart about half of the pages are nearer than this, and what is new in one makes the others differ."""

PAGES = 4
"""Pages at least that a whole manual in one page consists of."""

WHOLE = 1_000
"""Words below which a page is no whole manual."""

LARGEST = 100
"""Documents of a source that are looked at for being a whole manual."""

NAMED = 0.6
"""Part of the shingles of a page, or of its Markdown, that the other must have: each may have more."""

_SIZES = (0.7, 1.5)
"""Words of the pages together, of those of the whole: navigation and summaries make the difference."""

_RUN, _KEPT = 5, 4
_WORD = re.compile(r"\w+")

Shingles = frozenset[int]
"""Hashes of the runs of words of a text; empty for what is no page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternateForm:
    """The document that a form is one of, and why."""

    original: str
    why: str


def shingles_of(texts: Iterable[str]) -> Shingles:
    """Hash every run of five words of texts that follow one another; one in four is kept, by its hash."""
    words = [word for text in texts for word in _WORD.findall(text.casefold())]
    runs = (" ".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)))
    hashes = (crc32(run.encode("utf-8", "replace")) for run in runs)
    return frozenset(number for number in hashes if number % _KEPT == 0)


def find_alternate_forms(
    known: Iterable[KnownDocument],
    *,
    shingles: Callable[[KnownDocument], Shingles],
    held: Collection[str] = (),
    seen: Collection[str] = (),
    stated: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Mapping[str, AlternateForm]:
    """Return what is only another form of a document of the source, by address.

    Args: shingles: of a document's text, asked for only where words and addresses agree. held: addresses of
    those that could only not be confirmed and whose content readers still see: their other forms wait, since
    a bad day proves nothing. seen: addresses that readers see. stated: pages whose heads link to Markdown, by
    its address.

    The document stays that the others name as canonical, that is not made for printers, that is of the
    preferred version, or that is one of the pages of a whole. Of two that name each other, the one stays that
    readers see, else the shorter. No address leads in a circle.
    """
    read = {d.uri: d for d in known if _is_read(d, held)}
    rows = {uri: d for uri, d in read.items() if (d.words or 0) >= MIN_WORDS}
    found = {
        **_wholes(read, shingles),
        **_versions(rows, shingles, seen),
        **_stated(rows, shingles, stated),
        **_pairs(rows, shingles),
        **_same_files(read),
    }
    twins: dict[str, AlternateForm] = {}
    for uri in sorted(found.keys() - set(held), key=lambda uri: (uri in seen, -len(uri), uri)):
        if _end(found[uri].original, twins) != uri:
            twins[uri] = found[uri]
    return {
        uri: AlternateForm(original=_end(twin.original, twins), why=twin.why) for uri, twin in twins.items()
    }


def _end(uri: str, twins: Mapping[str, AlternateForm]) -> str:
    while uri in twins:
        uri = twins[uri].original
    return uri


def _is_read(document: KnownDocument, held: Collection[str]) -> bool:
    alive = document.state in READABLE or document.state is DocumentState.DUPLICATE or document.uri in held
    return alive and document.parsed_sha is not None and document.parsed_sha == document.raw_sha


def _pairs(
    rows: Mapping[str, KnownDocument],
    shingles: Callable[[KnownDocument], Shingles],
) -> Mapping[str, AlternateForm]:
    found = {}
    for uri, document in rows.items():
        for original, why in _originals(document):
            other = rows.get(original)
            if other is None or other.content_hash == document.content_hash:
                continue
            if _is_form(document, other, shingles):
                found[uri] = AlternateForm(original=original, why=why)
                break
    return found


def _stated(
    rows: Mapping[str, KnownDocument],
    shingles: Callable[[KnownDocument], Shingles],
    stated: Mapping[str, Sequence[str]],
) -> Mapping[str, AlternateForm]:
    """Markdown whose page links to it from its head. A menu may link to any, so both must say the same."""
    found = {}
    for uri, document in rows.items():
        pages = (rows[page] for page in stated.get(uri, ()) if page in rows and _is_page(rows[page]))
        for page in pages if is_markdown(document) else ():
            one, other = shingles(document), shingles(page)
            if min(_part(one, other), _part(other, one)) >= NAMED:
                found[uri] = AlternateForm(original=page.uri, why=f"Markdown of {page.uri}")
                break
    return found


def _same_files(read: Mapping[str, KnownDocument]) -> Mapping[str, AlternateForm]:
    """Equal bytes under names of one file, which relative links lead from to different places."""
    found = {}
    for uri, document in read.items():
        same = (form for form in slash_forms(uri) if form in read)
        for form in (form for form in same if read[form].parsed_sha == document.parsed_sha):
            found[uri] = AlternateForm(original=form, why=f"same bytes as {form}")
    return found


def _versions(
    rows: Mapping[str, KnownDocument],
    shingles: Callable[[KnownDocument], Shingles],
    seen: Collection[str],
) -> Mapping[str, AlternateForm]:
    """Pages of several versions of a site that say nearly the same, each with that of the preferred version.

    Each is compared with those that stay, not with the one before it: many small steps make another text.
    """
    forms = version_forms(rows)
    groups: defaultdict[str, list[KnownDocument]] = defaultdict(list)
    for uri, form in forms.items():
        groups[form.page].append(rows[uri])
    found = {}
    for group in (group for group in groups.values() if len(group) > 1):
        kept: list[KnownDocument] = []
        for document in by_preference(group, forms, seen):
            same = (one for one in kept if _is_form(document, one, shingles, at_least=NEARLY))
            if (original := next(same, None)) is None:
                kept.append(document)
            elif original.content_hash != document.content_hash:
                why = f"version of {original.uri} that says nearly the same"
                found[document.uri] = AlternateForm(original=original.uri, why=why)
    return found


def _originals(document: KnownDocument) -> Iterator[tuple[str, str]]:
    if document.canonical is not None and document.canonical != document.uri:
        yield document.canonical, f"names {document.canonical} as canonical, which says the same"
    for page in markdown_forms(document.uri):
        yield page, f"Markdown of {page}"
    for form in slash_forms(document.uri):
        yield form, f"same as {form}"
    for plain in plain_forms(document.uri):
        yield plain, f"printable twin of {plain}"


def _is_form(
    document: KnownDocument,
    other: KnownDocument,
    shingles: Callable[[KnownDocument], Shingles],
    *,
    at_least: float = SAME,
) -> bool:
    if document.content_hash is not None and document.content_hash == other.content_hash:
        return True
    few, many = sorted((document.words or 0, other.words or 0))
    if _is_page(other) and not _is_page(document):
        one, two = shingles(document), shingles(other)
        return max(_part(one, two), _part(two, one)) >= NAMED
    if few < at_least * many:
        return False
    mine, theirs = shingles(document), shingles(other)
    return _part(mine, theirs) >= at_least and _part(theirs, mine) >= at_least


def is_markdown(document: KnownDocument) -> bool:
    """Whether a document came as Markdown, or as the plain text that some servers call it."""
    return media_type(document.content_type) in ("text/markdown", "text/x-markdown", "text/plain")


def _is_page(document: KnownDocument) -> bool:
    return "html" in (document.content_type or "html")


def _part(of: Shingles, among: Collection[int]) -> float:
    return sum(one in among for one in of) / len(of) if of else 0.0


def _wholes(
    rows: Mapping[str, KnownDocument],
    shingles: Callable[[KnownDocument], Shingles],
) -> Mapping[str, AlternateForm]:
    """Pages that hold a whole folder of others, each with the first page of the folder."""
    folders: defaultdict[str, list[KnownDocument]] = defaultdict(list)
    for document in rows.values():
        folders[folder_of(document.uri)].append(document)
    totals = {folder: sum(page.words or 0 for page in pages) for folder, pages in folders.items()}
    large = nlargest(LARGEST, rows.values(), key=lambda document: (document.words or 0, document.uri))
    found = {}
    for document in (one for one in large if (one.words or 0) >= WHOLE):
        for folder in sorted(folder for folder in folders if _is_near(document, folder, totals[folder])):
            parts = [page for page in folders[folder] if page.uri != document.uri]
            longest = max((page.words or 0 for page in parts), default=0)
            if len(parts) < PAGES or longest > SAME * (document.words or 0):
                continue
            first = min(parts, key=lambda page: (_is_inner(page.uri), len(page.uri), page.uri)).uri
            if _holds(shingles(document), parts, shingles):
                why = f"single-page version of the pages under {folder}"
                found[document.uri] = AlternateForm(original=first, why=why)
                break
    return found


def _is_near(document: KnownDocument, folder: str, total: int) -> bool:
    """Whether a folder at, beside or below the document's has together about as many words as it has.

    One beside it whose name has a digit may be another version of the same manual.
    """
    own, words = folder_of(document.uri), document.words or 0
    rest = total - words if folder == own else total
    return (folder.startswith(own) or _is_beside(folder, own)) and _SIZES[0] * words <= rest <= _SIZES[
        1
    ] * words


def _is_beside(folder: str, own: str) -> bool:
    names = [one.rstrip("/").rpartition("/")[2] for one in (folder, own)]
    same_parent = folder_of(own.rstrip("/")) == folder_of(folder.rstrip("/"))
    return same_parent and not any(map(str.isdigit, "".join(names)))


def _holds(
    whole: Shingles, parts: Iterable[KnownDocument], shingles: Callable[[KnownDocument], Shingles]
) -> bool:
    texts = [text for part in parts if (text := shingles(part))]
    within = [text for text in texts if _part(text, whole) >= SAME]
    return len(within) >= PAGES and _part(whole, frozenset().union(*within)) >= SAME


def _is_inner(uri: str) -> bool:
    """Whether an address is not that of a folder or of its start page."""
    name = uri[len(folder_of(uri)) :]
    return bool(name) and not name.lower().startswith(("index.", "toc.", "contents."))
