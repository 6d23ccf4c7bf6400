"""Pages that are cited last: indexes, searches, errors; lists of changes, unless they are asked for."""

import re

from schemas.nodes import PageKind

_CHANGES = re.compile(
    r"\d\.\d|\b(?:19|20)\d\d\b"
    r"|\b(?:version|release|chang|new\b|news\b|added|adds|remov|deprecat|since|fixe[ds]|upgrad|updat|migrat"
    r"|histor|introduc|backport|obsolete|renamed|when\b)",
    re.IGNORECASE,
)
"""What a question about changes says: a version, a year, or a word of changing."""


def asks_for_changes(question: str) -> bool:
    """Whether a list of changes may be what answers a question."""
    return _CHANGES.search(question) is not None


def is_cited_last(kind: PageKind, *, changes_asked: bool) -> bool:
    """Whether a page of this kind stands after all content."""
    return kind is not PageKind.CONTENT and not (kind is PageKind.CHANGES and changes_asked)
