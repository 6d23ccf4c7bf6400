"""Links that lead nowhere, pages that no reader comes to, and pages that do not say what they are."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from retrieval.lint.site import (
    FaultyLink,
    LinkFault,
    LintDocument,
    LintedSite,
    LintFinding,
    LintPlace,
    Severity,
)
from schemas.edges import LinkPosition
from schemas.nodes import Chunk, PageKind

SHOWN = 5
"""Places of one broken target that a finding lists; a link of the navigation stands on every page."""


def dead_links(site: LintedSite) -> Iterator[LintFinding]:
    """Find links within the scope to a page that is missing, gone or an error page."""
    for target, links in _by_target(site, LinkFault.MISSING).items():
        yield _finding(site, "dead-link", Severity.ERROR, links[0].shown, links, target)


def dead_fragments(site: LintedSite) -> Iterator[LintFinding]:
    """Find links to an id that the page they lead to does not have."""
    for target, links in _by_target(site, LinkFault.NO_FRAGMENT).items():
        shown = f"{links[0].shown}#{links[0].fragment}"
        yield _finding(site, "dead-fragment", Severity.ERROR, shown, links, target)


def redirected_links(site: LintedSite) -> Iterator[LintFinding]:
    """Find links of the text to an address that leads on to another."""
    for target, links in _by_target(site, LinkFault.REDIRECTED).items():
        if body := [one for one in links if one.position is LinkPosition.BODY]:
            yield _finding(site, "redirected-link", Severity.NOTE, body[0].shown, body, target)


def _by_target(site: LintedSite, fault: LinkFault) -> Mapping[str, Sequence[FaultyLink]]:
    """Return faulty links by where they should lead; links of the text first, then in the order of pages."""
    found: dict[str, list[FaultyLink]] = {}
    for link in site.faulty:
        if link.fault is fault:
            found.setdefault(f"{link.target}#{link.fragment or ''}".rstrip("#"), []).append(link)
    for links in found.values():
        links.sort(key=lambda one: (one.position is not LinkPosition.BODY, site.documents[one.doc].uri))
    return dict(sorted(found.items()))


def _finding(
    site: LintedSite, rule: str, severity: Severity, shown: str, links: Sequence[FaultyLink], target: str
) -> LintFinding:
    once = {(one.doc, one.chunk): one for one in reversed(links)}
    standing = [one for one in links if once[(one.doc, one.chunk)] is one]
    wanted = {one.chunk for one in standing[:SHOWN]}
    passages = {one.id: one for one in site.passages if one.id in wanted}
    places = tuple(_place(site, one, passages) for one in standing[:SHOWN])
    more = len(standing) - len(places)
    where = f" (and {more} more places)" if more > 0 else ""
    return LintFinding(
        rule=rule,
        severity=severity,
        message=f"links to {shown}, {links[0].why}{where}",
        places=places,
        key=(site.documents[links[0].doc].source, target),
        more=more,
    )


def _place(site: LintedSite, link: FaultyLink, passages: Mapping[str, Chunk]) -> LintPlace:
    """Return where a link stands: in its passage, else on its page."""
    chunk = passages.get(link.chunk or "")
    name = link.target.rpartition("/")[2]
    ends = (f"{name}#{link.fragment}", f"#{link.fragment}") if link.fragment else (name,)
    seek = tuple(f"{end}{close}" for end in ends if end for close in ('"', "'", ")", ">", " ", ""))
    place = site.place_of(chunk) if chunk else site.documents[link.doc].place
    return replace(place, text=link.text, seek=seek)


JOINED = 0.5
"""Least share of a source's documents that others link to, for one that nothing links to to stand out."""

_REACHED_OTHERWISE = frozenset({PageKind.SEARCH, PageKind.NOT_FOUND})
"""A form leads to the first, and a server to the second."""


def orphans(site: LintedSite) -> Iterator[LintFinding]:
    """Find documents that no link of another document leads to."""
    for one in _judged(site):
        if not site.linked_from.get(one.doc):
            message = f"{_named(one)} is linked from no other page"
            yield _of_document(one, "orphan", Severity.WARNING, message)


def unlinked(site: LintedSite) -> Iterator[LintFinding]:
    """Find documents that only menus lead to: no sentence of another document does."""
    for one in _judged(site):
        found = site.linked_from.get(one.doc, frozenset())
        if found and LinkPosition.BODY not in found:
            where = " and ".join(sorted({"menus" if at is LinkPosition.NAV else f"the {at}" for at in found}))
            message = f"{_named(one)} is linked from {where} only, from the text of no page"
            yield _of_document(one, "unlinked", Severity.NOTE, message)


def _of_document(one: LintDocument, rule: str, severity: Severity, message: str) -> LintFinding:
    return LintFinding(
        rule=rule, severity=severity, message=message, places=(one.place,), key=(one.source, one.uri)
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


def missing_titles(site: LintedSite) -> Iterator[LintFinding]:
    """Find documents of content without a title and without a heading."""
    headed = {one.doc for one in site.passages if one.heading_path}
    read = {one.doc for one in site.passages}
    for one in site.documents.values():
        if (
            one.page_kind is PageKind.CONTENT
            and one.doc in read - headed
            and _is_untitled(one.title, one.uri)
        ):
            message = f"{one.name} has neither a title nor a heading"
            yield _of_document(one, "missing-title", Severity.WARNING, message)


def _is_untitled(title: str, uri: str) -> bool:
    """Whether a title is empty, or only the name of the file."""
    name = uri.rstrip("/").rpartition("/")[2]
    return not title.strip() or title in (name, name.rpartition(".")[0], uri)
