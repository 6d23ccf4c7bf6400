"""Links of documents: resolved to edges, set apart where a whole site repeats them, and their texts."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from ingest.urls import is_file_url
from schemas.documents import LiveDocument
from schemas.edges import Edge, EdgeKind, LinkPosition, plain_edge
from schemas.fragment import GraphFragment, Link, Reference
from schemas.ids import edge_id, page_id, pdf_doc_id
from schemas.nodes import Chunk

_SUFFIXES = (".html", ".htm", ".md", ".markdown", ".mdx", ".rst", ".adoc", ".xhtml")
_STARTS = ("index", "README", "readme")


def other_names(uri: str) -> tuple[str, ...]:
    """Return what else the file of a link may be called; none for what is no local page.

    The same name with another suffix comes first, then what stands beside it, then start pages of its folder.

    `guide`, `guide.htm`, `guide.html`, `guide.md` and `guide/index.html` name the same page: servers add
    suffixes and start pages, and generators of sites turn one suffix into another. Two files that differ in
    nothing else are two pages; each is found by its own name. A suffix that names no kind of page
    (`guide.v2`) says what a file is, and has no other names.
    """
    if not is_file_url(uri):
        return ()
    stem = _stem(uri)
    if stem is None:
        return ()
    beside = [stem + suffix for suffix in ("", *_SUFFIXES)] if not stem.endswith("/") else [stem]
    inside = [f"{stem.rstrip('/')}/{start}{suffix}" for start in _STARTS for suffix in ("", *_SUFFIXES)]
    folder = [f"{stem}/"] if not stem.endswith("/") else []
    names = (*_same(uri), *beside, *folder, *inside)
    return tuple(dict.fromkeys(name for name in names if name != uri))


def _same(uri: str) -> list[str]:
    """A start page with each suffix: `a/README.md` is nearer to `a/README.html` than any `a/index.md`."""
    above, _, name = uri.rpartition("/")
    own = next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)
    return [f"{above}/{own}{suffix}" for suffix in ("", *_SUFFIXES)] if own in _STARTS else []


def _stem(uri: str) -> str | None:
    """An address without suffix, start page and closing slash; None where another suffix says what it is."""
    above, _, name = uri.rpartition("/")
    stem = next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)
    if stem == name and "." in name[1:] and not name.rpartition(".")[2].isdigit():
        return None
    is_root = above.count("/") == 2
    if stem in _STARTS or not stem:
        return f"{above}/" if is_root else above
    return f"{above}/{stem}"


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


def translation_edges(fragment: GraphFragment, *, source: str, resolve: Resolve) -> tuple[Edge, ...]:
    """Return the edges to the document's translations (`hreflang`), in id order; unknown targets add none."""
    named = (*fragment.translations, *fragment.told_translations)
    found = {resolve(target) for target in named} - {None, fragment.doc}
    edges = (
        plain_edge(EdgeKind.TRANSLATES, fragment.doc, dst, doc=fragment.doc, source=source)
        for dst in found
        if dst is not None
    )
    return tuple(sorted(edges, key=lambda edge: edge.id))


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


LEAST_PAGES = 8
"""Pages that repeat a link before it is navigation: in a small manual every page may name the same one."""

LEAST_SHARE = 0.5
"""Share of the source's pages, of those that link anywhere. "Previous" and "Next" of a manual stand on all
but one, "git(1)" on .87 of git's pages; of words linked in prose none stands on more than .38 in five
manuals (`git-config(1)`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTexts:
    """On how many pages of a source each text of a body link stands, and how many pages have links."""

    pages: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    def replaced(self, old: "LinkTexts", new: "LinkTexts") -> "LinkTexts":
        """Count as it is when the pages of *new* have come for those of *old*."""
        counts = Counter(self.counts)
        counts.update(new.counts)
        counts.subtract(old.counts)
        return LinkTexts(pages=self.pages - old.pages + new.pages, counts=counts)

    def repeated(self) -> frozenset[str]:
        """Texts that stand on so many pages that they are navigation."""
        least = least_pages(self.pages)
        return frozenset(text for text, count in self.counts.items() if count >= least)


def least_pages(pages: int) -> float:
    """Return on how many of so many pages a link is navigation."""
    return max(LEAST_PAGES, LEAST_SHARE * pages)


def with_navigation(fragment: GraphFragment, repeated: Collection[str]) -> GraphFragment:
    """Move the links of the body whose texts are *repeated* to the navigation."""
    if not repeated:
        return fragment
    return replace(fragment, links=tuple(_moved(fragment.links, repeated)))


def _moved(links: Iterable[Link], repeated: Collection[str]) -> Iterable[Link]:
    for link in links:
        is_repeated = link.position is LinkPosition.BODY and link.text in repeated
        yield replace(link, position=LinkPosition.NAV) if is_repeated else link


MAX_ANCHOR_TEXTS = 8
"""At most so many a chunk (docs/chunks.md); the first in sorted order stay."""


def give_anchor_texts(chunks: Sequence[Chunk], links: Iterable[tuple[str | None, str]]) -> tuple[Chunk, ...]:
    """Set each chunk's anchor texts from the (fragment, text) pairs of links into its document.

    A link goes to every chunk of its fragment, else to the chunk inside which that id stands; without a
    fragment, or with one that no chunk has, to the document's first chunk.
    """
    if not chunks:
        return ()
    first = min(chunks, key=lambda chunk: (chunk.ordinal, chunk.id))
    named = {chunk.fragment for chunk in chunks}
    inside = {name for chunk in chunks for name in chunk.fragments} - named
    texts = _texts_by_fragment(links, known=named | inside)
    return tuple(
        replace(chunk, anchor_texts=_select(texts, _names(chunk, inside), is_first=chunk is first))
        for chunk in chunks
    )


def _names(chunk: Chunk, inside: set[str]) -> set[str]:
    own = {chunk.fragment} if chunk.fragment is not None else set()
    return own | inside.intersection(chunk.fragments)


def _texts_by_fragment(
    links: Iterable[tuple[str | None, str]], *, known: set[str | None]
) -> Mapping[str | None, set[str]]:
    texts: dict[str | None, set[str]] = {}
    for fragment, text in links:
        if text:
            texts.setdefault(fragment if fragment in known else None, set()).add(text)
    return texts


def _select(texts: Mapping[str | None, set[str]], names: set[str], *, is_first: bool) -> tuple[str, ...]:
    keys = {None, *names} if is_first else names
    found = {text for name in keys for text in texts.get(name, set())}
    return tuple(sorted(found)[:MAX_ANCHOR_TEXTS])
