"""Links and references of a document become edges once their targets exist."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from ingest.link.file_names import other_names
from schemas.documents import LiveDocument
from schemas.edges import Edge, EdgeKind, plain_edge
from schemas.fragment import GraphFragment, Link, Reference
from schemas.ids import edge_id, page_id, pdf_doc_id

Resolve = Callable[[str], str | None]
"""Node id of a live document by link target, None while there is none."""

Live = Callable[[Sequence[str]], Mapping[str, LiveDocument]]
"""Documents of one generation by node id, of those asked for."""


def link_edges(fragment: GraphFragment, *, source: str, resolve: Resolve) -> tuple[Edge, ...]:
    """Return the document's `links_to` edges, in id order; links to itself and to unknown targets add none.

    Links that agree in target, text, position, fragment and chunk are one edge with a count, which begins
    where the first of them does.
    """
    counts: Counter[tuple[str, Link, str | None]] = Counter()
    offsets: dict[tuple[str, Link, str | None], int | None] = {}
    for link in fragment.links:
        target = resolve(link.target)
        if target is None or target == fragment.doc:
            continue
        for chunk, offset, count in _stands(link):
            key = (target, _key(link), chunk)
            counts[key] += count
            offsets.setdefault(key, offset)
    edges = (
        _link_edge(fragment, source, *key, offset=offsets[key], count=count) for key, count in counts.items()
    )
    return tuple(sorted(edges, key=lambda edge: edge.id))


def reference_edges(fragment: GraphFragment, *, source: str, resolve: Resolve) -> tuple[Edge, ...]:
    """Return the typed edges that front matter states, in id order; *resolve* takes document ids."""
    edges = {
        edge.id: edge
        for reference in fragment.references
        if (dst := resolve(reference.target)) is not None and dst != fragment.doc
        for edge in [_reference_edge(fragment, source, dst, reference)]
    }
    return tuple(edge for _, edge in sorted(edges.items()))


def redirect_ends(redirects: Mapping[str, str]) -> dict[str, str]:
    """Follow each redirect through the others to its end; those that go round in a circle have none."""
    ends: dict[str, str | None] = {}
    for uri in redirects:
        passed, at = dict[str, None](), uri
        while at in redirects and at not in ends and at not in passed:
            passed[at] = None
            at = redirects[at]
        ends |= dict.fromkeys(passed, None if at in passed else ends.get(at, at))
    return {uri: end for uri in redirects if (end := ends[uri]) is not None}


def resolve_targets(wanted: Set[str], *, redirects: Mapping[str, str], live: Live) -> dict[str, str]:
    """Node id of each address that is live, of those wanted, or to which a redirect or another name leads."""
    found = _live_ids(wanted, live)
    led = {uri: redirects[uri] for uri in wanted - found.keys() if uri in redirects}
    behind = _live_ids(set(led.values()), live)
    found |= {uri: behind[end] for uri, end in led.items() if end in behind}
    names = {uri: other_names(uri) for uri in wanted - found.keys()}
    named = _live_ids({name for several in names.values() for name in several}, live)
    first = {uri: next(filter(None, map(named.get, several)), None) for uri, several in names.items()}
    return found | {uri: doc for uri, doc in first.items() if doc is not None}


def _live_ids(uris: Set[str], live: Live) -> dict[str, str]:
    by_id = {make(uri): uri for uri in uris for make in (page_id, pdf_doc_id)}
    return {by_id[doc]: doc for doc in sorted(live(tuple(by_id)))}


def unresolved_references(fragment: GraphFragment, *, resolve: Resolve) -> tuple[str, ...]:
    """Document ids that front matter names and nobody has."""
    return tuple(sorted({r.target for r in fragment.references if resolve(r.target) is None}))


def _stands(link: Link) -> Iterator[tuple[str | None, int | None, int]]:
    """Chunk, offset and number of the places of a link; one outside of all chunks has no place."""
    if not link.places:
        yield None, None, link.count
    for place in link.places:
        yield place.chunk, place.offset, 1


def _key(link: Link) -> Link:
    return Link(target="", text=link.text, position=link.position, fragment=link.fragment)


def _reference_edge(fragment: GraphFragment, source: str, dst: str, reference: Reference) -> Edge:
    edge = plain_edge(reference.kind, fragment.doc, dst, doc=fragment.doc, source=source)
    if reference.predicate is None:
        return edge
    id_ = edge_id(reference.kind.value, fragment.doc, dst, reference.predicate)
    return replace(edge, id=id_, predicate=reference.predicate)


def _link_edge(
    fragment: GraphFragment,
    source: str,
    dst: str,
    link: Link,
    chunk: str | None,
    *,
    offset: int | None,
    count: int,
) -> Edge:
    kind = EdgeKind.LINKS_TO
    qualifier = (link.text, link.position.value, link.fragment or "", *([chunk] if chunk else []))
    return Edge(
        id=edge_id(kind.value, fragment.doc, dst, *qualifier),
        kind=kind,
        src=fragment.doc,
        dst=dst,
        doc=fragment.doc,
        source=source,
        anchor_text=link.text,
        position=link.position,
        fragment=link.fragment,
        count=count,
        chunk=chunk,
        offset=offset,
    )
