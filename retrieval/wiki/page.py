"""What a page of the wiki is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from retrieval.question.words import fold
from schemas.hashing import sha256_hex

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
