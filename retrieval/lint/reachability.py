"""Pages that no reader comes to by links."""

from collections import Counter
from collections.abc import Iterator

from retrieval.lint.findings import LintFinding, Severity
from retrieval.lint.site import LintDocument, LintedSite
from schemas.edges import LinkPosition
from schemas.nodes import PageKind

JOINED = 0.5
"""Least share of a source's documents that others link to, for one that nothing links to to stand out."""

_REACHED_OTHERWISE = frozenset({PageKind.SEARCH, PageKind.NOT_FOUND})
"""A form leads to the first, and a server to the second."""


def orphans(site: LintedSite) -> Iterator[LintFinding]:
    """Find documents that no link of another document leads to."""
    for one in _judged(site):
        if not site.linked_from.get(one.doc):
            yield LintFinding(
                rule="orphan",
                severity=Severity.WARNING,
                message=f"{_named(one)} is linked from no other page",
                places=(one.place,),
                key=(one.source, one.uri),
            )


def unlinked(site: LintedSite) -> Iterator[LintFinding]:
    """Find documents that only menus lead to: no sentence of another document does."""
    for one in _judged(site):
        found = site.linked_from.get(one.doc, frozenset())
        if found and LinkPosition.BODY not in found:
            where = " and ".join(sorted({"menus" if at is LinkPosition.NAV else f"the {at}" for at in found}))
            yield LintFinding(
                rule="unlinked",
                severity=Severity.NOTE,
                message=f"{_named(one)} is linked from {where} only, from the text of no page",
                places=(one.place,),
                key=(one.source, one.uri),
            )


def _judged(site: LintedSite) -> Iterator[LintDocument]:
    """Yield documents that links should lead to, of sources whose documents links join."""
    totals = Counter(one.source for one in site.documents.values())
    linked = Counter(one.source for one in site.documents.values() if site.linked_from.get(one.doc))
    for one in site.documents.values():
        joined = linked[one.source] >= JOINED * totals[one.source]
        if joined and not one.start and one.page_kind not in _REACHED_OTHERWISE:
            yield one


def _named(one: LintDocument) -> str:
    return f'"{one.title}"' if one.title else one.name
