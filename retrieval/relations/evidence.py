"""What edges say to a question, added to a bundle: sentences, chains, and evidence that can be cited."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from indexes.ports import ChunkReader, Encoder, GraphReader
from retrieval.bundle.build import cite
from retrieval.bundle.names import called, name_paths
from retrieval.relations.find import Finding, ends_of, find_relations
from retrieval.relations.passages import build_passages, opening_evidence, read_openings, still_says
from retrieval.relations.paths import Hop, Path
from retrieval.relations.room import fit_evidence, relabel
from retrieval.relations.support import Support, find_support
from retrieval.relations.things import find_things
from retrieval.relations.wording import say_chain, say_neighbours, say_path, turned
from schemas.evidence import ContextBundle, Evidence, Query, Relation, RelationHop
from schemas.nodes import Node, Page, PdfDoc

RELATIONS_MAX = 20
"""Sentences about the relations that one question asks for."""

Told = tuple[str, tuple[Path, ...], bool]
"""A sentence, the paths that it tells, and whether it leads."""


def add_relations(
    bundle: ContextBundle, query: Query, chunks: ChunkReader, graph: GraphReader, encoder: Encoder
) -> ContextBundle:
    """Add what edges say to the question, behind all other evidence; most bundles stay as they are.

    A path one of whose edges has no passage that passes the filters is left out. All evidence together keeps
    the query's token budget, of which what edges say has up to half. `diagnostics.unbound` says of ids in the
    question why they name no document.
    Raises: StoreUnavailable: a store is gone.
    """
    vector = encoder.encode_query(query.text)
    things, bound = find_things(chunks, graph, query.text, vector)
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
    support = find_support(chunks, tuple(hops.values()), names, query.conditions) if hops else {}
    told = [one for finding in findings for one in _tell(finding, support, names)][:RELATIONS_MAX]
    used = {hop.edge.id: hop for _, paths, _ in told for path in paths for hop in path}
    built, behind = build_passages(used, support, names, after=len(bundle.evidence))
    silent = [one for one in findings if one.nothing]
    first = read_openings(chunks, [doc for one in silent for doc in one.about], query.conditions, vector)
    openings = opening_evidence(first, after=len(bundle.evidence) + len(built))
    added = (*name_paths(built, names), *openings.values())
    evidence, labels = relabel(
        fit_evidence(bundle.evidence, added, encoder.count_tokens, budget=query.token_budget)
    )
    texts = {one.S: one.text for one in evidence}
    shown: dict[str, str | None] = {}
    for edge, before in behind.items():
        label = labels.get(before)
        # What was cut away for room is no evidence, though some of its passage is there.
        shown[edge] = label if label and still_says(texts[label], used[edge], names) else None
    relations = (
        *(_relation(one, shown, support, nodes) for one in told),
        *(_nothing(one, openings, labels) for one in silent if all(doc in openings for doc in one.about)),
    )
    return _with_relations(bundle, evidence, labels, tuple(one for one in relations if one.labels))


def _with_relations(
    bundle: ContextBundle,
    evidence: tuple[Evidence, ...],
    labels: Mapping[str, str],
    relations: tuple[Relation, ...],
) -> ContextBundle:
    """Put *relations* and their evidence into a bundle; without any it stays as it is."""
    if not relations:
        return bundle
    plan = bundle.tool_plan
    return replace(
        bundle,
        evidence=evidence,
        citations=tuple(map(cite, evidence)),
        relations=relations,
        tool_plan=replace(plan, defined_by=labels.get(plan.defined_by or "")) if plan else None,
    )


def _tell(finding: Finding, support: Mapping[str, Support], names: Mapping[str, str]) -> Iterator[Told]:
    shown = [path for path in finding.paths if all(hop.edge.id in support for hop in path)]
    single = [path for path in shown if len(path) == 1]
    for text, paths in say_neighbours(single, names):
        yield (f"{text} There are {finding.more} more." if finding.more else text), paths, finding.leads
    for path in shown:
        if len(path) > 1:
            yield say_path(path, names), (path,), finding.leads


def _nothing(finding: Finding, openings: Mapping[str, Evidence], labels: Mapping[str, str]) -> Relation:
    found = (labels.get(openings[doc].S) for doc in finding.about)
    return Relation(text=finding.nothing, labels=tuple(label for label in found if label))


def _relation(
    told: Told, labels: Mapping[str, str | None], support: Mapping[str, Support], nodes: Mapping[str, Node]
) -> Relation:
    """Return a relation, its hops in the order of the chains; a passage without room gives no label."""
    text, paths, leads = told
    names = {id_: called(node) for id_, node in nodes.items()}
    hops = [hop for path in paths for hop in turned(path)]
    found = (labels[hop.edge.id] for hop in hops)
    return Relation(
        text=text,
        labels=tuple(dict.fromkeys(label for label in found if label)),
        chains=tuple(say_chain(path, names) for path in paths),
        hops=tuple(_hop(hop, labels[hop.edge.id], support[hop.edge.id], nodes) for hop in hops),
        leads=leads,
    )


def _hop(hop: Hop, label: str | None, behind: Support, nodes: Mapping[str, Node]) -> RelationHop:
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
        chunk_id=behind.chunk.id,
    )


def _own_id(node: Node) -> str | None:
    return node.doc_id if isinstance(node, Page | PdfDoc) else None
