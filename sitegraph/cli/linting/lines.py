"""The lines of files that findings stand at, found in the bytes that were indexed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from flows.run.index import Index
from retrieval.lint.findings import LintFinding, LintPlace
from schemas.documents import KnownDocument
from schemas.errors import DamageFound

_WORD = re.compile(r"\w+")
_FIRST = 6
"""Words of a sentence by which it is found; what follows may be marked up."""


def with_lines(findings: Sequence[LintFinding], index: Index) -> tuple[LintFinding, ...]:
    """Return findings with the line of each place in a file, where its bytes are kept and are text."""
    files = _Files(index, findings)
    return tuple(
        replace(one, places=tuple(place.at_line(files.line_of(place)) for place in one.places))
        for one in findings
    )


class _Files:
    """Texts of the files that places are in, read once."""

    def __init__(self, index: Index, findings: Sequence[LintFinding]) -> None:
        self._index = index
        wanted: dict[str, set[str]] = {}
        for place in _in_files(findings):
            wanted.setdefault(place.source, set()).add(place.uri)
        self._known: Mapping[tuple[str, str], KnownDocument] = {
            (source, uri): known
            for source, uris in wanted.items()
            for uri, known in index.ledger.documents.get(source, sorted(uris)).items()
        }
        self._texts: dict[tuple[str, str], str] = {}

    def line_of(self, place: LintPlace) -> int | None:
        """Return the line of what the place is to be sought by; 1 for a file as a whole."""
        if place.path is None or place.page_no is not None:
            return None
        text = self._text(place)
        found = (line_in(text, one) for one in place.seek)
        return next((line for line in found if line is not None), 1 if text else None)

    def _text(self, place: LintPlace) -> str:
        key = (place.source, place.uri)
        if key not in self._texts:
            self._texts[key] = self._read(self._known.get(key))
        return self._texts[key]

    def _read(self, known: KnownDocument | None) -> str:
        if known is None or not known.raw_sha:
            return ""
        try:
            return self._index.raw.get(known.raw_sha).decode("utf-8", errors="replace")
        except DamageFound:
            return ""


def _in_files(findings: Sequence[LintFinding]) -> Iterator[LintPlace]:
    return (place for one in findings for place in one.places if place.path is not None)


def line_in(text: str, sought: str) -> int | None:
    """Return the line, from 1, at which *sought* begins: as it is written, else by its first words.

    >>> line_in("<p>one\\n<p>The <b>server</b> waits\\n30 seconds.", "The server waits 30 seconds.")
    2
    """
    at = text.find(sought) if sought else -1
    words = _WORD.findall(sought)[:_FIRST]
    if at < 0 and len(words) > 2:
        between = r"(?:\W|<[^<>]*>)+"
        match = re.search(between.join(map(re.escape, words)), text)
        at = match.start() if match else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else None
