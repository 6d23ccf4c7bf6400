"""A generation as the rules of the linter read it, what they find, and which findings are told."""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from schemas.edges import LinkPosition
from schemas.nodes import BBox, Chunk, PageKind
from schemas.source import LintIgnore, LintOptions


class Severity(StrEnum):
    """How bad a finding is, from least to most; the words are those of SARIF's `level`."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """0 for a note, 2 for an error."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintPlace:
    """Where something stands: a page, a section, a sentence, a link.

    `uri` is the address in the index, `path` the file below the root of a source of files, `line` its line,
    from 1. `fragment` has no '#'. `page_no` counts from 1, `bbox` is in points of a PDF page. `text` is
    the sentence. `seek` is what stands in the file at that line, in the order of preference.
    """

    source: str
    uri: str
    url: str | None = None
    path: str | None = None
    fragment: str | None = None
    line: int | None = None
    page_no: int | None = None
    bbox: BBox | None = None
    heading_path: tuple[str, ...] = ()
    text: str = ""
    seek: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        """URL or path with the fragment, or with the page of a PDF."""
        fragment = f"page={self.page_no}" if self.page_no else self.fragment
        return f"{self.url or self.path or self.uri}{'#' + fragment if fragment else ''}"

    def at_line(self, line: int | None) -> "LintPlace":
        """Return this place with the line of its file."""
        return replace(self, line=line)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One thing that a rule found. `key` is what makes it this finding and no other, whatever else is edited.

    `places` begins with the one to fix; `more` counts further places that are not listed.
    """

    rule: str
    severity: Severity
    message: str
    places: tuple[LintPlace, ...]
    key: tuple[str, ...]
    more: int = 0

    @property
    def fingerprint(self) -> str:
        """32 hex digits of sha256 over rule and key."""
        return hashlib.sha256("\0".join((self.rule, *self.key)).encode()).hexdigest()[:32]


def in_order(findings: list[LintFinding]) -> tuple[LintFinding, ...]:
    """Return findings worst first, then by rule and place; of equal ones the first."""
    once = {one.fingerprint: one for one in reversed(findings)}
    return tuple(
        sorted(
            once.values(),
            key=lambda one: (-one.severity.rank, one.rule, one.places[0].uri, one.key),
        )
    )


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
        return replace(
            self.documents[chunk.doc].place,
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


def select_findings(
    findings: Iterable[LintFinding], options: Mapping[str, LintOptions]
) -> tuple[LintFinding, ...]:
    """Return the findings that the source files, by source, do not switch off."""
    return tuple(
        one for one in findings if not _is_off(one, options.get(one.places[0].source, LintOptions()))
    )


def _is_off(finding: LintFinding, options: LintOptions) -> bool:
    if finding.rule in options.disable:
        return True
    return any(_is_ignored(finding, ignore) for ignore in options.ignore)


def _is_ignored(finding: LintFinding, ignore: LintIgnore) -> bool:
    """Whether the first place, which is the one to fix, is one that the glob means."""
    place = finding.places[0]
    names = (place.path, place.url, place.uri)
    return ignore.rule in (finding.rule, "*") and any(
        name and fnmatchcase(name, ignore.path) for name in names
    )


def split_by_baseline(
    findings: Iterable[LintFinding], known: Collection[str]
) -> tuple[tuple[LintFinding, ...], tuple[str, ...]]:
    """Return the findings that a baseline does not know, and its fingerprints that are found no more."""
    all_ = tuple(findings)
    found = {one.fingerprint for one in all_}
    return tuple(one for one in all_ if one.fingerprint not in known), tuple(sorted(set(known) - found))
