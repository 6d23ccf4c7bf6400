"""What a page is asked and shows: the fields of the form as a query, and evidence by document."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from starlette.requests import Request

from indexes.layout import IndexLayout
from indexes.publish.generation import load_generation
from indexes.wiring import Readers
from retrieval.bundle.annotations import read_titles
from retrieval.bundle.render import Piece, cite_line, cut_snippet, show_step
from retrieval.question.query import TOP_K_MAX, Unit, build_query, filters_from_record
from schemas.errors import DamageFound, StoreUnavailable
from schemas.evidence import ContextBundle, Evidence, Query
from sitegraph.service.viewer.citation import live_address

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
        live=live_address(one, one.pdf),
        citation=cite_line(one, one.pdf),
        path=tuple(map(show_step, one.path)),
    )


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


FILTERS = ("source", "doc_type", "kind", "since", "until")
RESULTS, TOKENS = 10, 20_000
"""Of a list; so many tokens that none is left out for its length, as a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The fields of the form; empty ones were not filled in.

    `since` and `until` are days, `n` asks for more.
    """

    q: str = ""
    source: str = ""
    doc_type: str = ""
    kind: str = ""
    since: str = ""
    until: str = ""
    n: str = ""

    @property
    def top_k(self) -> int:
        """How many results."""
        return TOP_K_MAX if self.n else RESULTS

    @property
    def filtered(self) -> bool:
        """Whether any filter is set."""
        return any(getattr(self, name) for name in FILTERS)

    def address(self, path: str) -> str:
        """Return where the same is asked at *path*."""
        given = {name: getattr(self, name) for name in ("q", *FILTERS, "n") if getattr(self, name)}
        return f"{path}?{urlencode(given)}" if given else path

    def more(self) -> "Asked":
        """Return the same with as many results as there may be."""
        return replace(self, n=str(TOP_K_MAX))

    def about(self, words: str) -> "Asked":
        """Return another question under the same filters."""
        return replace(self, q=words)

    def unfiltered(self) -> "Asked":
        """Return the question alone."""
        return Asked(q=self.q)


def read_asked(fields: Mapping[str, str]) -> Asked:
    """Read the fields of the form; others are left out."""
    return Asked(**{name: fields.get(name, "").strip() for name in Asked.__dataclass_fields__})


def tidy_address(request: Request) -> str | None:
    """Return the address of a request without the fields of its form that are empty, None if none is."""
    if all(request.query_params.values()):
        return None
    return read_asked(request.query_params).address(request.url.path)


def query_of(
    asked: Asked, *, top_k: int, token_budget: int, rerank: bool | None = None, by: Unit = "passage"
) -> Query:
    """Return the query; *rerank* as a `Query` has it.

    Raises: ConfigError, FilterError: it is too long, or a filter is impossible; the message says which.
    """
    record: dict[str, str | list[str]] = {
        name: getattr(asked, name) for name in ("source", "doc_type", "kind") if getattr(asked, name)
    }
    bounds = [f"{sign}{day}" for sign, day in ((">=", asked.since), ("<=", asked.until)) if day]
    if bounds:
        record["last_modified"] = bounds
    return build_query(
        asked.q,
        filters=filters_from_record(record),
        top_k=top_k,
        token_budget=token_budget,
        rerank=rerank,
        by=by,
    )
