"""The passages behind edges, and how documents that nothing joins begin, as evidence."""

from collections.abc import Collection, Mapping

from indexes.filters import passes
from indexes.ports import ChunkReader, Vector
from retrieval.bundle.build import evidence_of, unscored_evidence
from retrieval.relations.paths import Hop
from retrieval.relations.support import Support
from retrieval.relations.wording import verb_of
from schemas.edges import EdgeKind
from schemas.evidence import Condition, Derivation, Evidence, Filter, Origin, PathStep, Scores, SearchField
from schemas.nodes import Chunk

ROLE = "graph"
WEIGHT = 0.9
"""Of an edge's confidence, as of what the graph channel says (docs/asking.md)."""
FIRST_PAGES = 8
"""Pages of a PDF among which it begins; it may have thousands of chunks."""
OPENINGS_MAX = 200


def build_passages(
    hops: Mapping[str, Hop], support: Mapping[str, Support], names: Mapping[str, str], *, after: int
) -> tuple[tuple[Evidence, ...], dict[str, str]]:
    """Return one piece of evidence for each passage behind edges, and its label by edge."""
    by_chunk: dict[str, list[Hop]] = {}
    for edge, hop in hops.items():
        by_chunk.setdefault(support[edge].chunk.id, []).append(hop)
    built: list[Evidence] = []
    labels: dict[str, str] = {}
    for number, here in enumerate(by_chunk.values(), start=after + 1):
        labels.update((hop.edge.id, f"S{number}") for hop in here)
        built.append(_passage(f"S{number}", here, support, names))
    return tuple(built), labels


def _passage(
    label: str, hops: Collection[Hop], support: Mapping[str, Support], names: Mapping[str, str]
) -> Evidence:
    edges = [hop.edge for hop in hops]
    score = round(WEIGHT * min(edge.confidence for edge in edges), 6)
    inferred = any(edge.kind is EdgeKind.EXPLAINED_BY for edge in edges)
    chunk = support[edges[0].id].chunk
    return evidence_of(
        chunk,
        label,
        text="\n".join(dict.fromkeys(_line(hop, support[hop.edge.id], names) for hop in hops)),
        offsets=chunk.offsets,
        score=score,
        scores=Scores(graph=score),
        source=Origin.GRAPH,
        derivation=Derivation.INFERRED if inferred else Derivation.STATED,
        role=ROLE,
        path=tuple(PathStep(src=e.src, kind=e.kind.value, dst=e.dst, chunk=e.chunk) for e in edges),
        entity=", ".join(dict.fromkeys(names[hop.dst] for hop in hops)),
    )


def still_says(text: str, hop: Hop, names: Mapping[str, str]) -> bool:
    """Whether the line of an edge is in what is left of its evidence."""
    said = _said(hop, names)
    return any(line.startswith((f"{said}:", f"{said}.")) for line in text.splitlines())


def _said(hop: Hop, names: Mapping[str, str]) -> str:
    return f"{names[hop.src]} {verb_of(hop)} {names[hop.dst]}"


def _line(hop: Hop, support: Support, names: Mapping[str, str]) -> str:
    said = _said(hop, names)
    return f'{said}: "{support.quote}"' if support.quote else f"{said}."


def read_openings(
    chunks: ChunkReader, docs: Collection[str], filters: tuple[Condition, ...], vector: Vector
) -> dict[str, Chunk]:
    """Return the first chunk of each document that passes the filters; a document without one is left out."""
    pdfs = {doc for doc in docs if doc.startswith("pdf")}
    pages = sorted(set(docs) - pdfs)
    found = [chunk for chunk in (chunks.of_documents(pages) if pages else ()) if passes(chunk, filters)]
    for doc in sorted(pdfs):
        found += _first_of_pdf(chunks, doc, filters, vector)
    first: dict[str, Chunk] = {}
    for chunk in sorted(found, key=lambda one: (one.doc, one.ordinal, one.id)):
        first.setdefault(chunk.doc, chunk)
    return {doc: first[doc] for doc in dict.fromkeys(docs) if doc in first}


def _first_of_pdf(
    chunks: ChunkReader, doc: str, filters: tuple[Condition, ...], vector: Vector
) -> tuple[Chunk, ...]:
    """Return chunks of the first pages; where the filters leave none there, those nearest to the question."""
    only = (*filters, Filter(field="doc", values=(doc,)))
    begins = Filter(field="page_no", values=tuple(str(number) for number in range(1, FIRST_PAGES + 1)))
    for conditions in ((*only, begins), only):
        hits = chunks.search_vector(SearchField.TEXT, vector, top_k=OPENINGS_MAX, filters=conditions)
        if hits:
            return chunks.get([hit.chunk_id for hit in hits])
    return ()


def opening_evidence(first: Mapping[str, Chunk], *, after: int) -> dict[str, Evidence]:
    """Return how each document begins, as evidence for what is said of nothing found."""
    return {
        doc: unscored_evidence(chunk, f"S{after + number}", source=Origin.GRAPH, role=ROLE)
        for number, (doc, chunk) in enumerate(first.items(), 1)
    }
