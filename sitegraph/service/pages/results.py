"""Evidence as pages show it: by document, with where it leads and why it is there."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from indexes.layout import IndexLayout
from indexes.publish.generation import load_generation
from indexes.wiring import Readers
from retrieval.bundle.names import read_titles
from retrieval.bundle.render import cite_line, show_step
from retrieval.bundle.snippets import Piece, cut_snippet
from schemas.errors import DamageFound, StoreUnavailable
from schemas.evidence import ContextBundle, Evidence

TOPICS = 5
_SAMPLE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One passage in a list: `live` is where a browser finds it on its site, None where that is no URL."""

    evidence: Evidence
    snippet: tuple[Piece, ...]
    address: str
    live: str | None
    citation: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Passages of one document, best first; `place` is where the document is."""

    doc: str
    title: str
    place: str
    address: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """What filters can be set to: sources and kinds of a generation, with the chunks of each."""

    sources: Mapping[str, int]
    kinds: Mapping[str, int]


def group_results(bundle: ContextBundle, titles: Mapping[str, str]) -> tuple[Group, ...]:
    """Return the evidence of *bundle* by document, in the order of the best passage of each."""
    by_doc: dict[str, list[Evidence]] = {}
    for one in bundle.evidence:
        by_doc.setdefault(one.doc, []).append(one)
    return tuple(
        Group(
            doc=doc,
            title=titles.get(doc) or _name_of(found[0]),
            place=found[0].url or found[0].file_path or "",
            address=f"/doc/{quote(doc, safe=':')}",
            results=tuple(show_result(one, bundle.query) for one in found),
        )
        for doc, found in by_doc.items()
    )


def show_result(one: Evidence, question: str) -> Result:
    """Return a passage as it is shown."""
    return Result(
        evidence=one,
        snippet=cut_snippet(one.text, question),
        address=f"/cite/{quote(one.chunk_id, safe=':')}#passage",
        live=live_url(one),
        citation=cite_line(one, one.pdf),
        path=tuple(map(show_step, one.path)),
    )


def live_url(one: Evidence) -> str | None:
    """Return where a browser opens the passage: at its id, its words, or its page of a PDF (RFC 8118, 3)."""
    if one.url is None:
        return None
    opens_at = f"page={one.pdf.page}" if one.pdf else f"{one.fragment or ''}{one.text_fragment or ''}"
    return f"{one.url}#{opens_at}" if opens_at else one.url


def read_facets(readers: Readers) -> Facets:
    """Return what filters can be set to; nothing where the generation has been pruned meanwhile."""
    try:
        counted = load_generation(IndexLayout(readers.index), readers.generation).sources
    except DamageFound:
        return Facets(sources={}, kinds={})
    sources: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for name, rows in sorted(counted.items()):
        chunks = rows.get("chunks", {})
        if name and chunks:
            sources[name] = sum(chunks.values())
        for kind, count in chunks.items():
            kinds[kind] = kinds.get(kind, 0) + count
    return Facets(sources=sources, kinds=dict(sorted(kinds.items())))


def read_topics(readers: Readers) -> tuple[str, ...]:
    """Return titles of documents that others link to most, of some hundred that ids pick at random."""
    if readers.graph is None:
        return ()
    try:
        ids = readers.graph.ids_between("page:", "page;", limit=_SAMPLE)
    except StoreUnavailable:
        return ()
    authority = readers.authority.of(ids)
    best = sorted(ids, key=lambda doc: -authority.get(doc, 0.0))[: 2 * TOPICS]
    titles = read_titles(readers.graph, best)
    return tuple(dict.fromkeys(titles[doc] for doc in best if titles.get(doc)))[:TOPICS]


def _name_of(one: Evidence) -> str:
    names = (one.pdf.file_id if one.pdf else None, *one.heading_path[:1], *one.breadcrumbs[-1:])
    return next(filter(None, names), None) or one.url or one.file_path or one.doc
