"""What a rule says is wrong, where, and by what it is known again after unrelated edits."""

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum

from schemas.geometry import BBox


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
