"""Links that do not lead where they say: to no page, to no id, over a redirect."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from retrieval.lint.findings import LintFinding, LintPlace, Severity
from retrieval.lint.site import FaultyLink, LinkFault, LintedSite
from schemas.edges import LinkPosition
from schemas.nodes import Chunk

SHOWN = 5
"""Places of one broken target that a finding lists; a link of the navigation stands on every page."""


def dead_links(site: LintedSite) -> Iterator[LintFinding]:
    """Find links within the scope to a page that is missing, gone or an error page."""
    for target, links in _by_target(site, LinkFault.MISSING).items():
        first = links[0]
        message = f"links to {first.shown}, {first.why}"
        yield _finding(site, "dead-link", Severity.ERROR, message, links, key=(target,))


def dead_fragments(site: LintedSite) -> Iterator[LintFinding]:
    """Find links to an id that the page they lead to does not have."""
    for target, links in _by_target(site, LinkFault.NO_FRAGMENT).items():
        first = links[0]
        message = f"links to {first.shown}#{first.fragment}, {first.why}"
        yield _finding(site, "dead-fragment", Severity.ERROR, message, links, key=(target,))


def redirected_links(site: LintedSite) -> Iterator[LintFinding]:
    """Find links of the text to an address that leads on to another."""
    for target, links in _by_target(site, LinkFault.REDIRECTED).items():
        body = [one for one in links if one.position is LinkPosition.BODY]
        if body:
            message = f"links to {body[0].shown}, {body[0].why}"
            yield _finding(site, "redirected-link", Severity.NOTE, message, body, key=(target,))


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
    site: LintedSite,
    rule: str,
    severity: Severity,
    message: str,
    links: Sequence[FaultyLink],
    *,
    key: tuple[str, ...],
) -> LintFinding:
    once = {(one.doc, one.chunk): one for one in reversed(links)}
    standing = [one for one in links if once[(one.doc, one.chunk)] is one]
    passages = _passages(site, {one.chunk for one in standing[:SHOWN] if one.chunk})
    places = tuple(_place(site, one, passages) for one in standing[:SHOWN])
    more = len(standing) - len(places)
    where = f" (and {more} more places)" if more > 0 else ""
    source = site.documents[links[0].doc].source
    return LintFinding(
        rule=rule, severity=severity, message=message + where, places=places, key=(source, *key), more=more
    )


def _passages(site: LintedSite, ids: Iterable[str]) -> Mapping[str, Chunk]:
    wanted = set(ids)
    return {one.id: one for one in site.passages if one.id in wanted}


def _place(site: LintedSite, link: FaultyLink, passages: Mapping[str, Chunk]) -> LintPlace:
    """Return where a link stands: in its passage, else on its page."""
    document = site.documents[link.doc]
    chunk = passages.get(link.chunk or "")
    name = link.target.rpartition("/")[2]
    ends = (f"{name}#{link.fragment}", f"#{link.fragment}") if link.fragment else (name,)
    return LintPlace(
        source=document.source,
        uri=document.uri,
        url=document.url,
        path=document.path,
        fragment=chunk.fragment if chunk else None,
        page_no=chunk.page_no if chunk else None,
        bbox=chunk.bbox if chunk else None,
        heading_path=chunk.heading_path if chunk else (),
        text=link.text,
        seek=tuple(f"{end}{close}" for end in ends if end for close in ('"', "'", ")", ">", " ", "")),
    )
