"""What a page of the wiki is, what it is called, and pages by the words they share with a question."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from retrieval.question.words import fold, full_stems, rarity_among
from schemas.errors import ConfigError
from schemas.ids import sha256_hex

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")


EVIDENCE, EVIDENCE_CHAIN = "Evidence", "Evidence chain"
"""Headings of what a filed page says of its sources; no question is answered from there."""


class PageStatus(StrEnum):
    """What the last look at a page found: only a current one is trusted."""

    CURRENT = "current"
    STALE = "stale"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A statement that a page rests on, as the graph states it; the ids are empty where a person wrote it."""

    subject: str
    predicate: str
    object: str
    subject_id: str = ""
    object_id: str = ""
    chunk: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two values of what can have one: the page says `object`, `chunk` or another `page` says `other`."""

    subject: str
    predicate: str
    object: str
    other: str
    chunk: str = ""
    page: str = ""

    @property
    def line(self) -> str:
        """The contradiction as a sentence."""
        by = self.chunk or self.page
        return f"{self.subject} {self.predicate} {self.object} here, {self.other} in {by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSet:
    """A set that an answer ranged over: edges of some `kinds` at a `node`, or documents of a filter.

    `name` is what people call it. `count` and `sha256` are of its members when the answer was filed; all are
    texts, as the front matter has them.
    """

    name: str
    kinds: str = ""
    node: str = ""
    documents: str = ""
    count: str = "0"
    sha256: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What it is a set of."""
        return (self.kinds, self.node, self.documents)

    def changed_to(self, now: "AnswerSet") -> str:
        """Say on a line what it was and is."""
        of = f"edges ({self.kinds}) of {self.name}" if self.kinds else f"documents ({self.documents})"
        return f"{of}: {self.count} then, {now.count} now" + (", others" if self.count == now.count else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPage:
    """A page by category and slug; `body` is Markdown without white space at its ends.

    `rests_on` maps chunk ids to the content hashes that they had, in the order of their labels;
    `ranges_over` are sets that its question asks for, as they were. `query` is
    the question that a filed page answers, `generation` the one that it was answered from, `filed_sha256` the
    hash of the body as it was filed. `extra` are keys of the front matter that only a person knows.
    """

    category: str
    slug: str
    title: str
    body: str
    summary: str = ""
    rests_on: Mapping[str, str] = field(default_factory=dict)
    ranges_over: tuple[AnswerSet, ...] = ()
    query: str = ""
    generation: int | None = None
    written_at: str = ""
    status: PageStatus = PageStatus.CURRENT
    status_since: str = ""
    facts: tuple[Fact, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    filed_sha256: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """`category/slug`, as links and commands name it."""
        return f"{self.category}/{self.slug}"

    @property
    def edited_by_hand(self) -> bool:
        """Whether it was never filed, or its text is no longer the one that was."""
        return self.filed_sha256 != sha256_hex(self.body)

    @property
    def links(self) -> tuple[str, ...]:
        """Targets of its `[[links]]` outside of code, in order, each once."""
        return tuple(dict.fromkeys(" ".join(found.split()) for found in _LINK.findall(_prose(self.body))))

    @property
    def text(self) -> str:
        """Everything that it says, without where it has that from."""
        said = (part for one in sections_of(self) for part in (one.heading, one.text))
        return "\n".join((self.title, self.summary, self.query, *said))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """A heading and what stands under it, up to the next heading of any level."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageProblem:
    """Why a file of the wiki is not read, or what could not be written; `path` is below its folder."""

    path: str
    message: str


def sections_of(page: WikiPage) -> tuple[PageSection, ...]:
    """Cut a body at its headings, not in code; sections without words, or of evidence, are left out."""
    heading, lines, found, fence = page.title, list[str](), list[PageSection](), ""
    for line in [*page.body.split("\n"), None]:
        mark = _FENCE.match(line) if line is not None else None
        match = _HEADING.match(line) if line is not None and not fence else None
        if line is None or match:
            text = "\n".join(lines).strip()
            if fold(text) and heading not in (EVIDENCE, EVIDENCE_CHAIN):
                found.append(PageSection(heading=heading, text=text))
            heading, lines = (_heading(match[1]) if match else ""), []
            continue
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        lines.append(line)
    return tuple(found)


def _heading(line: str) -> str:
    """Take the closing sequence of `#` off, which a space stands before (CommonMark 4.2): `C#` is none."""
    bare = line.rstrip().rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) or not bare else line.strip()


def _prose(body: str) -> str:
    kept, fence = list[str](), ""
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence:
            kept.append(re.sub(r"`[^`]*`", "", line))
    return "\n".join(kept)


LENGTH_MAX = 80
_MARK = 8
_SAFE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
"""Device names of Windows: no file may be called so there, whatever its extension."""


def slug_of(title: str) -> str:
    """Return the slug of a title: its words in lower case, joined by dashes, at most 80 characters.

    What plain letters and digits cannot say leaves a mark of eight hex digits of the title's hash behind,
    so that titles in other scripts, long ones, and reserved names have slugs of their own.
    """
    whole = unicodedata.normalize("NFKC", title)
    plain = "".join(char for char in unicodedata.normalize("NFKD", whole) if not unicodedata.combining(char))
    slug = "-".join(re.findall(r"[a-z0-9]+", plain.lower()))
    lost = any(char.isalnum() and not char.isascii() for char in plain)
    if lost or not is_safe(slug):
        return marked_slug(slug, title)
    return slug


def marked_slug(slug: str, title: str) -> str:
    """Return *slug* with a mark that follows from the title, for where the plain one means something else."""
    head = slug[: LENGTH_MAX - _MARK - 1].strip("-") or "page"
    return f"{head}-{sha256_hex(unicodedata.normalize('NFC', title))[:_MARK]}"


def is_safe(name: str) -> bool:
    """Whether a category or slug may be a file name: `[a-z0-9-]`, at most 80 characters, no reserved name."""
    return bool(_SAFE.fullmatch(name)) and len(name) <= LENGTH_MAX and name not in _RESERVED


def check_page_name(name: str, *, what: str) -> str:
    """Return a category or slug back if it is safe.

    Raises: ConfigError: it is not, as `../x`, `a/b`, `CON` or an empty one.
    """
    if not is_safe(name):
        raise ConfigError(
            f"is not a valid {what}: write lower-case letters, digits and single dashes, at most "
            f"{LENGTH_MAX}, and no name that a system reserves",
            subject=repr(name),
        )
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHit:
    """A page that shares words with a question; `coverage` as `cover` gives it for the whole page."""

    page: WikiPage
    score: float
    coverage: float


class PageIndex:
    """The words of all pages of a wiki, read once."""

    def __init__(self, pages: Collection[WikiPage]) -> None:
        self._words = [(page, full_stems(page.text)) for page in pages]
        self.rarity = rarity_among([there for _, there in self._words])

    def search(self, query: str, *, top_k: int) -> tuple[PageHit, ...]:
        """Return the best *top_k* pages that share a word with *query*.

        Score: the mean of two shares of the question: what title, summary and query of a page cover, and what
        all of it does; order (-score, category, slug).
        """
        asked = full_stems(query)
        hits = [self._hit(page, there, asked) for page, there in self._words if asked & there]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.page.category, hit.page.slug))[:top_k])

    def _hit(self, page: WikiPage, there: frozenset[str], asked: frozenset[str]) -> PageHit:
        head = self.rarity.cover(asked, full_stems(f"{page.title} {page.summary} {page.query}"))
        whole = self.rarity.cover(asked, there)
        return PageHit(page=page, score=round((head + whole) / 2, 6), coverage=round(whole, 6))
