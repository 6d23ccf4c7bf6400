"""Answers of 200 that are no content: logins, cookie walls, empty shells, collapsed or repeated text.

Only a suspicious version is judged: one that keeps less than half of the words of the last good version, or
one of a document that is new and tiny or seems to stand in for content. A rewritten page is suspicious and
by this still good; `drift.py` judges how far it moved. A site does not rewrite many pages to one text,
whatever it says.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from urllib.parse import urlsplit
from zlib import crc32

from ingest.diff.page_features import asks_password, is_unfilled
from ingest.urls import registrable_domain
from schemas.documents import DocumentState, KnownDocument, SoftError
from schemas.fragment import GraphFragment
from schemas.nodes import DocumentKind, Section

TINY_WORDS = 30
"""Words below which a new page may be an error page, a login or a shell rather than a page."""

SHELL_WORDS = 10
"""Words that an unfilled JavaScript page may still have: a title, "Loading"."""

FORM_WORDS = 200
"""Words that a login page or a cookie wall may have; a longer page has a form in it, or is about cookies."""

COLLAPSED = 0.2
"""Part of its earlier text below which a page has collapsed (crawl rules, section 10)."""

_KEPT = 0.5
_ALIKE = 0.8
_COOKIE_SHARE = 0.02
_LOGIN, _COOKIES = "a login page", "a cookie wall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What one version of a document says, as far as its worth can be told by that."""

    text: str
    asks_password: bool = False
    is_unfilled: bool = False

    @property
    def words(self) -> list[str]:
        """The words, in lower case, in reading order."""
        return self.text.lower().split()


def read_version(fragment: GraphFragment, data: bytes = b"") -> Version:
    """Return what a version says; *data*, its bytes, tells a form and a shell apart from content."""
    if fragment.kind != DocumentKind.HTML:
        return Version(text=fragment.text)
    return Version(text=fragment.text, asks_password=asks_password(data), is_unfilled=is_unfilled(data))


def is_suspicious(now: Version, before: Version | None) -> bool:
    """Whether the version may be no content at all; *before* is the last good one, if there is one."""
    if before is None:
        return len(now.words) < TINY_WORDS
    old = set(before.words)
    return bool(old) and len(old & set(now.words)) < _KEPT * len(old)


def bad_content(
    now: Version,
    before: Version | None,
    *,
    missing: Callable[[], Version | None],
    soft_error: SoftError | None = None,
) -> str | None:
    """Say why a version is put aside; None for a good one.

    Args: soft_error: what the page alone tells of it. missing: gives what the host answers, with 200, to an
    address that nobody has, or None where it is honest about those; it costs a request and is asked only
    where nothing else tells.
    """
    if soft_error is not None and (soft_error.sure or before is not None) and replaces_content(now, before):
        return soft_error.reason
    if is_suspicious(now, before):
        if reason := _form_of(now, before):
            return reason
    elif before is not None or soft_error is None:
        return None
    elsewhere = missing()
    if elsewhere is not None and _alike(now, elsewhere):
        return "what the host answers to addresses that nobody has"
    return None


def is_named_by(linking: GraphFragment, fragment: GraphFragment, now: Version) -> bool:
    """Whether the text of another page links to this one by what its heading says.

    A help page about signing in is called that where a site lists its pages; what stands in for another page
    has another heading than its links say. A form, and a page of a few words, may be called so as well.
    """
    if now.asks_password or len(now.words) < TINY_WORDS:
        return False
    heading = next((one.heading for one in fragment.nodes if isinstance(one, Section) and one.heading), "")
    links = (link for link in linking.links if link.target == fragment.uri and link.places)
    names = {" ".join(link.text.casefold().split()) for link in links}
    return " ".join((heading or fragment.title).casefold().split()) in names


def replaces_content(now: Version, before: Version | None) -> bool:
    """Whether less than half of the words of the last good version are left, if there was one."""
    return before is None or is_suspicious(now, before)


def _form_of(now: Version, before: Version | None) -> str | None:
    if now.is_unfilled and len(now.words) < SHELL_WORDS and _had_text(before):
        return "an empty page that JavaScript would fill"
    if len(now.words) > FORM_WORDS:
        return None
    if now.asks_password:
        return _LOGIN
    return _COOKIES if _is_cookie_wall(now) else None


def has_collapsed(now: Version, before: Version | None) -> bool:
    """Whether less than a fifth of the earlier text is left; a page of a few words has nothing to lose."""
    if before is None or not _had_text(before):
        return False
    return len(now.text) < COLLAPSED * len(before.text)


def redirects_to_homepage(document: KnownDocument, homes: Iterable[str]) -> bool:
    """Whether a deep page now redirects to the start of its site or source: gone in all but name."""
    target = document.location
    if target is None or document.uri in homes or _is_start(document.uri):
        return False
    if target in homes:
        return True
    return _is_start(target) and registrable_domain(target) == registrable_domain(document.uri)


def is_form(document: KnownDocument) -> bool:
    """Whether what a site answers to whoever has no session was put aside, and not the document itself."""
    return document.state is DocumentState.QUARANTINED and document.reason in (_LOGIN, _COOKIES)


def _had_text(before: Version | None) -> bool:
    """Whether there was anything to lose: a manual's search page is an empty shell, and as it should be."""
    return before is not None and len(before.words) >= TINY_WORDS


def _is_start(uri: str) -> bool:
    parts = urlsplit(uri)
    return parts.path.rpartition("/")[0] == "" and not parts.query and parts.path.lower() in _STARTS


_STARTS = ("", "/", "/index.html", "/index.htm", "/index.php")


def _is_cookie_wall(now: Version) -> bool:
    mentions = sum("cookie" in word for word in now.words)
    return mentions >= 2 and mentions >= _COOKIE_SHARE * len(now.words)


def _alike(now: Version, missing: Version) -> bool:
    mine, theirs = set(now.words), set(missing.words)
    return not mine | theirs or len(mine & theirs) >= _ALIKE * len(mine | theirs)


ALIKE = 0.8
"""Part of the words of two texts that are in both, from which on they are one: addresses and dates vary."""

_SKETCHED = 64
_GROUPS = 50
"""Texts that are counted side by side: one of which that many pages come is found in any order."""

Sketch = frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A page that readers see and that has another text now: sketches of both texts."""

    uri: str
    before: Sketch
    now: Sketch


@dataclass(slots=True)
class _Group:
    first: Rewrite
    uris: list[str] = field(default_factory=list)


def sketch(words: Collection[str]) -> Sketch:
    """The least hashes of a text's words, which are as alike as the texts are.

    Source: A. Z. Broder, On the resemblance and containment of documents, 1997 (bottom-k sketches).
    """
    return frozenset(sorted({crc32(word.encode("utf-8", "replace")) for word in words})[:_SKETCHED])


def resemblance(one: Sketch, other: Sketch) -> float:
    """Estimate which part of all words of two texts is in both, from 0 to 1; two empty texts are one."""
    least = sorted(one | other)[:_SKETCHED]
    return sum(word in one and word in other for word in least) / len(least) if least else 1.0


def same_text_limit(same_text: int, *, live: int) -> int:
    """Pages from which on a change to one text is held: *same_text*, or half of a smaller source."""
    return min(same_text, max(2, ceil(live / 2)))


def find_same_text(rewrites: Sequence[Rewrite], *, at_least: int) -> Mapping[str, str]:
    """Return the pages that now have one text and had different ones, each with another page that has it too.

    Pages that were alike before may change alike: only those count that are more alike than they were.
    """
    groups: list[_Group] = []
    for rewrite in sorted(rewrites, key=lambda rewrite: rewrite.uri):
        _put(groups, rewrite)
    found = [sorted(group.uris) for group in groups if len(group.uris) >= at_least]
    return {uri: uris[1] if uri == uris[0] else uris[0] for uris in found for uri in uris}


def _put(groups: list[_Group], rewrite: Rewrite) -> None:
    alike = ((one, resemblance(one.first.now, rewrite.now)) for one in groups)
    group, now = next(((one, now) for one, now in alike if now >= ALIKE), (None, 0.0))
    if group is None:
        if len(groups) >= _GROUPS:
            groups.remove(min(groups, key=lambda one: len(one.uris)))
        groups.append(_Group(rewrite, [rewrite.uri]))
    elif resemblance(group.first.before, rewrite.before) < now:
        group.uris.append(rewrite.uri)
