"""A generation as the rules of the linter read it: documents, passages, links that need a word."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from retrieval.lint.findings import LintPlace
from schemas.edges import LinkPosition
from schemas.nodes import Chunk, PageKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LintDocument:
    """A document; `start`: a reader gets there without a link, as to a seed or the index page of a folder."""

    doc: str
    source: str
    uri: str
    title: str
    kind: str
    url: str | None = None
    path: str | None = None
    page_kind: PageKind = PageKind.CONTENT
    version: str | None = None
    start: bool = False

    @property
    def name(self) -> str:
        """Path or URL, for messages."""
        return self.path or self.url or self.uri

    @property
    def place(self) -> LintPlace:
        """The document as a whole."""
        return LintPlace(source=self.source, uri=self.uri, url=self.url, path=self.path)


class LinkFault(StrEnum):
    """What is wrong with a link."""

    MISSING = "missing"
    NO_FRAGMENT = "no_fragment"
    REDIRECTED = "redirected"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyLink:
    """A link of `doc` that does not lead where it says; `target` has no fragment, and is shown as `shown`.

    `chunk` is the passage it stands in, None outside of the text. `why` says what is known of the target.
    """

    doc: str
    target: str
    shown: str
    fault: LinkFault
    position: LinkPosition
    text: str
    fragment: str | None = None
    chunk: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintedSite:
    """What is linted. `passages` are ordered by document and reading order.

    `linked_from` has for each document the positions of links to it on other documents.
    """

    documents: Mapping[str, LintDocument]
    passages: tuple[Chunk, ...]
    faulty: tuple[FaultyLink, ...] = ()
    linked_from: Mapping[str, frozenset[LinkPosition]] = field(default_factory=dict)

    def place_of(self, chunk: Chunk, text: str = "") -> LintPlace:
        """Return where a passage, or a sentence of it, stands."""
        document = self.documents[chunk.doc]
        return LintPlace(
            source=document.source,
            uri=document.uri,
            url=document.url,
            path=document.path,
            fragment=chunk.fragment,
            page_no=chunk.page_no,
            bbox=chunk.bbox,
            heading_path=chunk.heading_path,
            text=text,
            seek=tuple(filter(None, (text, chunk.fragment and f'"{chunk.fragment}"'))),
        )


_VERSION = re.compile(
    r"^(?:v|release[-_]?|version[-_]?)?\d+(?:\.\d+|\.x)*$|^(?:latest|stable|devel|dev|main|master)$"
)


def version_in(document: LintDocument) -> str:
    """Return the version that a document is of: the stated one, else what its address says.

    >>> version_in(LintDocument(doc="d", source="s", uri="https://e.org/15/a.html", title="", kind="html"))
    '15'
    """
    if document.version:
        return document.version
    segments = document.uri.split("/")[3:-1]
    return "/".join(one for one in segments if _VERSION.match(one.casefold()))


def same_version(documents: Iterable[LintDocument]) -> bool:
    """Whether documents are of one version, as far as that can be told."""
    return len({version_in(one) for one in documents}) <= 1
