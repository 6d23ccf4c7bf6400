"""What edges say to a question, added to a bundle: sentences, chains, and evidence that can be cited."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from indexes.filters import passes
from indexes.ports import ChunkReader, GraphReader, Vector
from retrieval.bundle.build import cite, evidence_of
from retrieval.bundle.names import called, name_paths
from retrieval.relations.find import Finding, ends_of, find_relations
from retrieval.relations.paths import Hop, Path
from retrieval.relations.support import Support, find_support
from retrieval.relations.things import find_things
from retrieval.relations.wording import say_chain, say_neighbours, say_path, verb_of
from schemas.edges import EdgeKind
from schemas.evidence import (
    ContextBundle,
    Derivation,
    Evidence,
    Filter,
    Origin,
    PathStep,
    Query,
    Relation,
    RelationHop,
    Scores,
)
from schemas.nodes import Chunk, Node, Page, PdfDoc

ROLE = "graph"
RELATIONS_MAX = 20
"""Sentences about the relations that one question asks for."""
WEIGHT = 0.9
"""Of an edge's confidence, as of what the graph channel says (docs/asking.md)."""

Encode = Callable[[str], Vector]
Told = tuple[str, tuple[Path, ...], bool]
"""A sentence, the paths that it tells, and whether it leads."""


def add_relations(
    bundle: ContextBundle, query: Query, chunks: ChunkReader, graph: GraphReader, encode: Encode
) -> ContextBundle:
    """Add what edges say to the question, behind all other evidence; most bundles stay as they are.

    A path one of whose edges has no passage that passes the filters is left out. `diagnostics.unbound` says
    of ids in the question why they name no document.
    Raises: StoreUnavailable: a store is gone.
    """
    things, bound = find_things(chunks, graph, query.text, encode(query.text))
    if bound.problems:
        bundle = replace(bundle, diagnostics={**bundle.diagnostics, "unbound": list(bound.problems)})
    # Of two documents one of which is not there, what stands around the other is no answer; beside two that
    # are there, `UTF-8` is only written as an id is.
    is_lacking = bool(bound.unknown) and len(things) < 2
    findings = () if is_lacking else find_relations(graph, query.text, things)
    if not findings:
        return bundle
    nodes = {node.id: node for node in graph.nodes(ends_of(findings))}
    names = {id_: called(node) for id_, node in nodes.items()}
    hops = {
        hop.edge.id: hop
        for one in findings
        for path in one.paths
        for hop in path
        if names.get(hop.src) and names.get(hop.dst)
    }
    support = find_support(chunks, tuple(hops.values()), names, query.filters) if hops else {}
    told = [one for finding in findings for one in _tell(finding, support, names)][:RELATIONS_MAX]
    used = {hop.edge.id: hop for _, paths, _ in told for path in paths for hop in path}
    built, labels = _evidence(used, support, names, after=len(bundle.evidence))
    added = name_paths(built, names)
    related = tuple(_relation(one, labels, nodes) for one in told)
    silent = _silent(findings, chunks, query.filters, after=len(bundle.evidence) + len(added))
    added = (*added, *{one.S: one for _, of in silent for one in of}.values())
    nothing = tuple(Relation(text=text, labels=tuple(one.S for one in of)) for text, of in silent)
    return replace(
        bundle,
        evidence=(*bundle.evidence, *added),
        citations=(*bundle.citations, *map(cite, added)),
        relations=(*related, *nothing),
    )


def _tell(finding: Finding, support: Mapping[str, Support], names: Mapping[str, str]) -> Iterator[Told]:
    shown = [path for path in finding.paths if all(hop.edge.id in support for hop in path)]
    single = [path for path in shown if len(path) == 1]
    for text, paths in say_neighbours(single, names):
        yield (f"{text} There are {finding.more} more." if finding.more else text), paths, finding.leads
    for path in shown:
        if len(path) > 1:
            yield say_path(path, names), (path,), finding.leads


def _evidence(
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


def _line(hop: Hop, support: Support, names: Mapping[str, str]) -> str:
    said = f"{names[hop.src]} {verb_of(hop)} {names[hop.dst]}"
    return f'{said}: "{support.quote}"' if support.quote else f"{said}."


def _relation(told: Told, labels: Mapping[str, str], nodes: Mapping[str, Node]) -> Relation:
    text, paths, leads = told
    names = {id_: called(node) for id_, node in nodes.items()}
    hops = [hop for path in paths for hop in path]
    return Relation(
        text=text,
        labels=tuple(dict.fromkeys(labels[hop.edge.id] for hop in hops)),
        chains=tuple(say_chain(path, names) for path in paths),
        hops=tuple(_hop(hop, labels[hop.edge.id], nodes) for hop in hops),
        leads=leads,
    )


def _hop(hop: Hop, label: str, nodes: Mapping[str, Node]) -> RelationHop:
    src, dst = nodes[hop.src], nodes[hop.dst]
    return RelationHop(
        src=hop.src,
        kind=hop.edge.kind.value,
        dst=hop.dst,
        src_name=called(src),
        dst_name=called(dst),
        src_doc_id=_own_id(src),
        dst_doc_id=_own_id(dst),
        predicate=hop.edge.predicate,
        S=label,
    )


def _own_id(node: Node) -> str | None:
    return node.doc_id if isinstance(node, Page | PdfDoc) else None


def _silent(
    findings: Collection[Finding], chunks: ChunkReader, filters: tuple[Filter, ...], *, after: int
) -> list[tuple[str, tuple[Evidence, ...]]]:
    """Return what is said of nothing found, each with how the documents that it is said of begin.

    A document that the filters leave nothing of is not shown, and nothing is said of it.
    """
    silent = [one for one in findings if one.nothing]
    about = list(dict.fromkeys(doc for one in silent for doc in one.about))
    first: dict[str, Chunk] = {}
    for chunk in chunks.of_documents(about) if about else ():
        if passes(chunk, filters):
            first.setdefault(chunk.doc, chunk)
    shown = [doc for doc in about if doc in first]
    openings = {doc: _opening(first[doc], f"S{after + number}") for number, doc in enumerate(shown, 1)}
    return [
        (one.nothing, tuple(openings[doc] for doc in one.about))
        for one in silent
        if all(doc in openings for doc in one.about)
    ]


def _opening(chunk: Chunk, label: str) -> Evidence:
    return evidence_of(
        chunk,
        label,
        text=chunk.text,
        offsets=chunk.offsets,
        score=0.0,
        scores=Scores(),
        source=Origin.GRAPH,
        derivation=Derivation.STATED,
        role=ROLE,
        path=(),
    )
