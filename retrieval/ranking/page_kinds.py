"""What is cited last: indexes, searches, errors; changes, unless they are asked for; examples of asking."""

import re

from retrieval.question.title_words import stems
from schemas.nodes import Chunk, PageKind

_CHANGES = re.compile(
    r"\d\.\d|\b(?:19|20)\d\d\b"
    r"|\b(?:version|release|chang|new\b|news\b|added|adds|remov|deprecat|since|fixe[ds]|upgrad|updat|migrat"
    r"|histor|introduc|backport|obsolete|renamed|when\b)",
    re.IGNORECASE,
)
"""What a question about changes says: a version, a year, or a word of changing."""
_QUOTED = re.compile(r"[\"'“‘«`]([^\"'“”‘’«»`\n]{3,200})[\"'”’»`]")
_COMMAND = re.compile(r"\s*[^\sA-Z].*[^.\s]\s*$")
"""A line that neither begins nor ends as sentences do."""


def asks_for_changes(question: str) -> bool:
    """Whether a list of changes may be what answers a question."""
    return _CHANGES.search(question) is not None


def is_cited_last(kind: PageKind, *, changes_asked: bool) -> bool:
    """Whether a page of this kind stands after all content."""
    return kind is not PageKind.CONTENT and not (kind is PageKind.CHANGES and changes_asked)


def only_asks(chunk: Chunk, asked: frozenset[str]) -> bool:
    """Whether most of these stems of a question stand in a passage only where a line of code asks it, as in
    `curl -d '{"query": "how do I rotate the signing key"}'`.
    """
    lines = chunk.text.splitlines()
    others = [line for line in lines if not _asks(line, asked)]
    if len(others) == len(lines):
        return False
    return 2 * len(asked & stems(" ".join((*chunk.heading_path, *others)))) < len(asked)


def _asks(line: str, asked: frozenset[str]) -> bool:
    quoted = (stems(match[1]) for match in _QUOTED.finditer(line))
    return any(len(one) > 1 and one <= asked for one in quoted) and bool(_COMMAND.match(line))
