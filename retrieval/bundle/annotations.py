"""What a bundle says beside its evidence: names on paths, parent documents, versions, callable tools."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from indexes.families import Manual, Preference, manual_of, preference
from indexes.ports import ChunkReader, GraphReader
from retrieval.graph.tools import ToolInScope
from retrieval.question.words import cut_sentences
from retrieval.ranking.score import Scored
from retrieval.search.seeds import EmbeddedQuery
from schemas.errors import StoreUnavailable
from schemas.evidence import (
    Evidence,
    EvidenceVersion,
    Filter,
    PathStep,
    Query,
    SearchField,
    Summary,
    ToolPlan,
)
from schemas.ids import normalise_text
from schemas.names import leading_code
from schemas.nodes import (
    Chunk,
    ChunkNode,
    DocumentKind,
    Entity,
    Node,
    Page,
    PdfDoc,
    PdfPage,
    PdfRegion,
    Section,
    Tool,
    page_of,
)


def called(node: Node) -> str:
    """Return what a node is called: a document by its own id where that is a code, else by its title.

    Parts of documents without a name of their own give an empty text.
    """
    match node:
        case Page() | PdfDoc():
            has_code = node.doc_id and leading_code(node.doc_id.upper())
            name = (
                (node.doc_id if has_code else node.title) or node.doc_id or node.path or node.url or node.id
            )
        case Tool() | Entity():
            name = node.name
        case Section():
            name = node.heading
        case ChunkNode() | PdfPage() | PdfRegion():
            name = ""
    return " ".join((name or "").split())


def node_names(node: Node) -> tuple[str, ...]:
    """Return the names of a node, its shown name first; of parts of documents only sections have one."""
    match node:
        case Page() | PdfDoc():
            names: tuple[str, ...] = (node.title, node.doc_id or "")
        case Tool() | Entity():
            names = (node.name, *node.aliases)
        case Section():
            names = (node.heading,)
        case _:
            names = ()
    return tuple(name for name in names if name.strip())


def read_names(graph: GraphReader, ids: Collection[str]) -> Mapping[str, str]:
    """Return names by node id in at most two calls; a part without a name is called as its document is.

    Raises: StoreUnavailable: the graph is gone.
    """
    nodes = graph.nodes(sorted(set(ids))) if ids else ()
    names = {node.id: called(node) for node in nodes}
    missing = sorted({node.doc for node in nodes if not names[node.id]} - names.keys())
    names |= {node.id: called(node) for node in (graph.nodes(missing) if missing else ())}
    return names | {node.id: names.get(node.doc, "") for node in nodes if not names[node.id]}


def read_titles(graph: GraphReader | None, docs: Collection[str]) -> Mapping[str, str]:
    """Return titles by document; none where the graph, which knows them, is not there."""
    try:
        found = graph.nodes(sorted(set(docs))) if graph is not None and docs else ()
    except StoreUnavailable:
        return {}
    return {node.id: node.title for node in found if isinstance(node, Page | PdfDoc)}


def name_paths(evidence: Collection[Evidence], names: Mapping[str, str]) -> tuple[Evidence, ...]:
    """Return *evidence* with what the ends of each step are called."""
    return tuple(
        replace(one, path=tuple(_named(step, names) for step in one.path)) if one.path else one
        for one in evidence
    )


def ends_of_paths(evidence: Collection[Evidence]) -> frozenset[str]:
    """Return the nodes on the paths of *evidence*."""
    return frozenset(end for one in evidence for step in one.path for end in (step.src, step.dst))


def _named(step: PathStep, names: Mapping[str, str]) -> PathStep:
    return replace(step, src_name=names.get(step.src) or None, dst_name=names.get(step.dst) or None)


def prefer_newest(candidates: Sequence[Scored], manuals: Sequence[Manual]) -> tuple[Scored, ...]:
    """Let of passages that say the same in several versions of a manual the preferred one stand for all.

    It takes the place of the best of them; passages that say the same within one version stay as they are.
    """
    if not manuals:
        return tuple(candidates)
    alike: dict[tuple[str, str], list[Scored]] = {}
    for one in candidates:
        if manual := manual_of(one.chunk.doc, manuals):
            alike.setdefault((manual.name, normalise_text(one.chunk.text)), []).append(one)
    instead: dict[str, Scored | None] = {}
    for several in alike.values():
        newest = max(several, key=_preference_of)
        if len({one.chunk.version for one in several}) > 1:
            instead |= {one.chunk.id: (newest if one is several[0] else None) for one in several}
    kept = (instead.get(one.chunk.id, one) for one in candidates)
    return tuple(_in_place_of(best, one) for best, one in zip(candidates, kept, strict=True) if one)


def _preference_of(one: Scored) -> Preference:
    return preference(one.chunk.version or "")


def _in_place_of(best: Scored, one: Scored) -> Scored:
    return one if one is best else replace(best, chunk=one.chunk)


def note_versions(
    evidence: tuple[Evidence, ...], manuals: Sequence[Manual], chunks: ChunkReader
) -> tuple[Evidence, ...]:
    """Say of each passage of a manual with versions of which it is, where else it stands, where it does not.

    Raises: StoreUnavailable: the store is gone.
    """
    of_doc = {one.doc: manual for one in evidence if (manual := manual_of(one.doc, manuals))}
    if not of_doc:
        return evidence
    said = _texts_beside(chunks, of_doc)
    noted = [one.chunk_id for one in evidence if one.doc in of_doc]
    own = {chunk.id: normalise_text(chunk.text) for chunk in chunks.get(noted)}
    return tuple(
        replace(one, versions=_note(of_doc[one.doc], one.doc, own.get(one.chunk_id), said))
        if one.doc in of_doc
        else one
        for one in evidence
    )


def note_uses(evidence: tuple[Evidence, ...], graph: GraphReader | None) -> tuple[Evidence, ...]:
    """Say of each passage what the site of its document says that it may be used for.

    A graph that is gone costs only that.
    """
    try:
        nodes = graph.nodes(sorted({one.doc for one in evidence})) if graph is not None and evidence else ()
    except StoreUnavailable:
        return evidence
    said = {node.id: node.uses for node in nodes if isinstance(node, Page | PdfDoc) and node.uses}
    return tuple(replace(one, uses=said[one.doc]) if one.doc in said else one for one in evidence)


def _texts_beside(chunks: ChunkReader, manuals: Mapping[str, Manual]) -> Mapping[str, Collection[str]]:
    """What the other versions of some documents say, by document."""
    beside = {other.doc for doc, manual in manuals.items() for other in manual.others(doc)}
    said: dict[str, set[str]] = {}
    for chunk in chunks.of_documents(beside):
        said.setdefault(chunk.doc, set()).add(normalise_text(chunk.text))
    return said


def _note(manual: Manual, doc: str, text: str | None, said: Mapping[str, Collection[str]]) -> EvidenceVersion:
    own = manual.of(doc).version
    others = manual.others(doc)
    newer = manual.versions[: manual.versions.index(own)]
    there = {one.version for one in others}
    return EvidenceVersion(
        family=manual.name,
        version=own,
        also_in=tuple(_once(one.version for one in others if text in said.get(one.doc, ()))),
        not_in=tuple(version for version in newer if version not in there),
    )


def _once(versions: Iterator[str]) -> Iterator[str]:
    yield from dict.fromkeys(versions)


SUMMARIES_MAX = 6
GIST_WORDS = 30
_FIRST_PAGES = ("1", "2")
_FIRST_PAGE_CHUNKS = 200


def summarise_parents(
    chunks: ChunkReader, asked: EmbeddedQuery, evidence: Collection[Evidence]
) -> tuple[Summary, ...]:
    """Return the documents of the best evidence, in its order, each with its trail and a gist; at most 6.

    A PDF is followed by the page that its best passage stands on, a book by the chapter.
    """
    best = {one.doc: one for one in reversed(tuple(evidence))}
    docs = tuple(dict.fromkeys(one.doc for one in evidence))[:SUMMARIES_MAX]
    pages = [doc for doc in docs if best[doc].kind != DocumentKind.PDF]
    pdfs = {doc: place.page for doc in docs if (place := best[doc].pdf)}
    found = (*chunks.of_documents(pages), *_pages_of_pdfs(chunks, asked, pdfs))
    lead = first_of_each(found)
    summaries: list[Summary] = []
    for doc in (one for one in docs if one in lead):
        summaries.append(summarise_parent(lead[doc]))
        on_page = [chunk for chunk in found if chunk.doc == doc and chunk.page_no == pdfs.get(doc, -1)]
        if on_page:
            summaries.append(
                _summarise_page(min(on_page, key=lambda chunk: (chunk.ordinal, chunk.id)), lead[doc])
            )
        chapter = next((page_of(chunk) for chunk in found if chunk.id == best[doc].chunk_id), doc)
        if chapter != doc and doc not in pdfs:
            in_chapter = (chunk for chunk in found if page_of(chunk) == chapter)
            first = min(in_chapter, key=lambda chunk: (chunk.ordinal, chunk.id))
            summaries.append(_summarise_chapter(chapter, first, lead[doc]))
    return tuple(summaries)


def _pages_of_pdfs(chunks: ChunkReader, asked: EmbeddedQuery, pdfs: Mapping[str, int]) -> tuple[Chunk, ...]:
    """A PDF may have thousands of chunks; its lead stands on its first pages."""
    if not pdfs:
        return ()
    numbers = {*_FIRST_PAGES, *map(str, pdfs.values())}
    only = (
        Filter(field="doc", values=tuple(sorted(pdfs))),
        Filter(field="page_no", values=tuple(sorted(numbers))),
    )
    hits = chunks.search_vector(SearchField.TEXT, asked.vector, top_k=_FIRST_PAGE_CHUNKS, filters=only)
    return chunks.get([hit.chunk_id for hit in hits])


def _summarise_page(first: Chunk, lead: Chunk) -> Summary:
    """Return the page of a PDF that *first* opens, below its document."""
    node = next((one for one in first.parent_ids if one.startswith("pdfpage:")), first.doc)
    trail = (*summarise_parent(lead).breadcrumbs, f"p. {first.page_no}")
    return Summary(node=node, breadcrumbs=trail, gist=gist_of(first.text))


def _summarise_chapter(node: str, first: Chunk, lead: Chunk) -> Summary:
    """Return the chapter that *first* opens, below its book."""
    trail = (*summarise_parent(lead).breadcrumbs, *first.heading_path[:1])
    return Summary(node=node, breadcrumbs=trail, gist=gist_of(first.text))


def first_of_each(found: Collection[Chunk]) -> dict[str, Chunk]:
    """Return the first of these chunks of each document, in reading order."""
    first: dict[str, Chunk] = {}
    for chunk in sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)):
        first.setdefault(chunk.doc, chunk)
    return first


def summarise_parent(lead: Chunk) -> Summary:
    """Return the document that *lead* opens: its trail, or what it is called, and the gist of *lead*."""
    name = lead.heading_path[:1] or tuple(filter(None, (lead.file_id or lead.file_path or lead.url,)))
    return Summary(node=lead.doc, breadcrumbs=lead.breadcrumbs or name, gist=gist_of(lead.text))


def gist_of(text: str) -> str:
    """Return the first sentence in one line, at most 30 words; an ellipsis says that it was longer."""
    words = next(iter(cut_sentences(text)), "").split()
    return " ".join(words[:GIST_WORDS]) + ("…" if len(words) > GIST_WORDS else "")


PROBLEMS_MAX = 10
_PROBLEM_LENGTH = 300


def plan_tool(
    query: Query, tools: Collection[ToolInScope], evidence: Collection[Evidence], *, graph_read: bool
) -> ToolPlan | None:
    """Return the plan for the tool in scope, the best where several are; None where none is.

    A tool that the asker names and the index does not know, or whose graph was not read, is a plan too,
    which says so.
    """
    use = query.tool
    if not tools:
        why = "the index knows no such tool" if graph_read else "tools are in the graph, which was not read"
        return ToolPlan(name=use.name, inputs=use.inputs, problems=(why,)) if use else None
    best = next(iter(tools))
    tool, inputs = best.tool, use.inputs if use else None
    schema = read_schema(tool.input_schema)
    problems = () if inputs is None or schema is None else check_inputs(schema, inputs)
    return ToolPlan(
        name=tool.name,
        tool_id=tool.id,
        tool_type=tool.tool_type,
        description=tool.description,
        endpoints=tool.endpoints,
        input_schema=schema,
        inputs=inputs,
        valid=None if inputs is None or schema is None else not problems,
        problems=problems,
        defined_by=next((one.S for one in evidence if one.chunk_id == best.chunk), None),
    )


def read_schema(text: str | None) -> dict[str, Any] | None:
    """Read what a tool's file states as its schema; None where that is nothing or no object."""
    found = json.loads(text) if text else None
    return found if isinstance(found, dict) else None


def check_inputs(schema: dict[str, Any], inputs: Any) -> tuple[str, ...]:
    """Say what of *inputs* breaks *schema*, by place, at most 10; empty where nothing does.

    Nothing is fetched: a reference that leads out of the schema is a problem. Without `$schema` it is read as
    draft 2020-12.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
        found = sorted(
            (error.json_path, error.message)
            for error in kind(schema, registry=Registry()).iter_errors(inputs)
        )
    except SchemaError as error:
        return (f"the tool's own schema is none: {error.message}"[:_PROBLEM_LENGTH],)
    except Unresolvable as error:
        return (f"the tool's own schema refers to what is not in it: {error.ref}"[:_PROBLEM_LENGTH],)
    return tuple(f"{place}: {message}"[:_PROBLEM_LENGTH] for place, message in found[:PROBLEMS_MAX])
