"""What edges say to a question, added to a bundle: sentences, chains, and evidence that can be cited."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from indexes.ports import ChunkReader, Encoder, GraphReader, Vector
from indexes.store_checks import passes
from retrieval.bundle.annotations import called, first_of_each, name_paths
from retrieval.bundle.build import CountTokens, cite, cut_offsets, evidence_of, fit_budget, relabel
from retrieval.graph.surroundings import chunk_behind
from retrieval.question.words import cut_sentences, fold
from retrieval.relations.find import Finding, ends_of, find_relations, find_things
from retrieval.relations.paths import Hop, Path
from retrieval.relations.wording import cut_quote, say_chain, say_neighbours, say_path, told_forward, verb_of
from schemas.edges import EdgeKind
from schemas.evidence import (
    Condition,
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
    SearchField,
)
from schemas.nodes import Chunk, Node, Page, PdfDoc

_LOOK_UP = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The chunk behind an edge, and its sentence that names the other end, empty where none does."""

    chunk: Chunk
    quote: str = ""


def find_support(
    chunks: ChunkReader,
    hops: Collection[Hop],
    names: Mapping[str, str],
    filters: tuple[Condition, ...],
) -> Mapping[str, Support]:
    """Return by edge what stands behind it, for edges that the filters leave something of.

    Front matter is in no passage: its edge stands at the passage of its document that names the other end,
    else at the first. Raises: StoreUnavailable: the store is gone.
    """
    read_in = {chunk for hop in hops if (chunk := chunk_behind(hop.edge))}
    docs = sorted({hop.edge.doc for hop in hops if chunk_behind(hop.edge) is None})
    by_id = {chunk.id: chunk for chunk in chunks.get(sorted(read_in))} if read_in else {}
    of_doc = _of_documents(chunks, docs, [names[hop.dst] for hop in hops])
    found = {hop.edge.id: _behind(hop, by_id, of_doc, names, filters) for hop in hops}
    return {edge: support for edge, support in found.items() if support}


def _of_documents(
    chunks: ChunkReader, docs: Collection[str], names: Collection[str]
) -> dict[str, list[Chunk]]:
    """Return chunks of documents in reading order; of a PDF, which may have thousands, those with names."""
    pages = [doc for doc in docs if not doc.startswith("pdf")]
    found = list(chunks.of_documents(pages)) if pages else []
    if pdfs := [doc for doc in docs if doc.startswith("pdf")]:
        only = (Filter(field="doc", values=tuple(pdfs)),)
        text = " ".join(sorted(set(names)))
        hits = chunks.search_text(SearchField.TEXT, text, top_k=_LOOK_UP, filters=only)
        found += chunks.get([hit.chunk_id for hit in hits])
    by_doc: dict[str, list[Chunk]] = {}
    for chunk in sorted(found, key=lambda chunk: (chunk.doc, chunk.ordinal, chunk.id)):
        by_doc.setdefault(chunk.doc, []).append(chunk)
    return by_doc


def _behind(
    hop: Hop,
    by_id: Mapping[str, Chunk],
    of_doc: Mapping[str, list[Chunk]],
    names: Mapping[str, str],
    filters: tuple[Condition, ...],
) -> Support | None:
    wanted = [words for words in (hop.edge.text, hop.edge.anchor_text, names[hop.dst]) if words]
    read_in = chunk_behind(hop.edge)
    listed = of_doc.get(hop.edge.doc, []) if read_in is None else [by_id[read_in]] if read_in in by_id else []
    passing = [chunk for chunk in listed if passes(chunk, filters)]
    for words in wanted:
        for chunk in passing:
            if quote := _quote(chunk.text, words):
                return Support(chunk=chunk, quote=quote)
    return Support(chunk=passing[0]) if passing else None


def _quote(text: str, words: str) -> str:
    """Return the first sentence with *words* as words of their own; its first words where it is long."""
    folded = f" {fold(words)} "
    sentences: Iterable[str] = (one for one in cut_sentences(text) if folded in f" {fold(one)} ")
    sentence = " ".join(next(iter(sentences), "").split())
    return cut_quote(sentence)


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
    return evidence_of(
        support[edges[0].id].chunk,
        label,
        text="\n".join(dict.fromkeys(_line(hop, support[hop.edge.id], names) for hop in hops)),
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
    first = first_of_each(found)
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
        doc: evidence_of(chunk, f"S{after + number}", source=Origin.GRAPH, role=ROLE)
        for number, (doc, chunk) in enumerate(first.items(), 1)
    }


def fit_evidence(
    found: Sequence[Evidence], added: Sequence[Evidence], count_tokens: CountTokens, *, budget: int
) -> tuple[Evidence, ...]:
    """Cut both to *budget* tokens together; *added* has half of it, and what *found* leaves.

    Texts are shortened before any is dropped; labels stay as they were.
    """
    sizes = [sum(count_tokens(one.text) for one in some) for some in (found, added)]
    if sum(sizes) <= budget:
        return (*found, *added)
    kept = _fit(added, count_tokens, budget=min(sizes[1], max(budget // 2, budget - sizes[0])))
    used = sum(count_tokens(one.text) for one in kept)
    return (*_fit(found, count_tokens, budget=budget - used), *kept)


def _fit(evidence: Sequence[Evidence], count_tokens: CountTokens, *, budget: int) -> list[Evidence]:
    lengths = fit_budget([one.text for one in evidence], count_tokens, budget=budget)
    return [_cut(one, length) for one, length in zip(evidence, lengths, strict=True) if length]


def _cut(one: Evidence, length: int) -> Evidence:
    """Cut the text; what was made of edges keeps the place of the passage behind them."""
    offsets = one.offsets if one.entity else cut_offsets(one.offsets, one.text, length)
    return replace(one, text=one.text[:length], offsets=offsets)


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
    fitting = fit_evidence(bundle.evidence, added, encoder.count_tokens, budget=query.token_budget)
    evidence = relabel(fitting)
    labels = {old.S: new.S for old, new in zip(fitting, evidence, strict=True)}
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
    hops = [hop for path in paths for hop in told_forward(path)]
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
