"""The set that a question ranges over: what depends on X, all documents of a type; an answer rests on it.

What joins such a set, or leaves it, is in no passage that the answer cites: only the set itself can tell.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from indexes.ports import GraphReader
from retrieval.wiki.page import AnswerSet, WikiPage
from retrieval.wiki.subgraph import name_of
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind
from schemas.errors import StoreUnavailable
from schemas.hashing import sha256_hex
from schemas.nodes import Node, Page, PdfDoc, is_document

DOCUMENTS_MAX = 5_000
"""Documents of an index up to which an answer may rest on the set of them; each question reads it again."""
NAMED_MAX = 6
"""Nodes of a question whose edges are kept; a page is no index of the graph."""

_ALL = frozenset({*FRONT_MATTER_KINDS, EdgeKind.RELATED})
_RELATIONS: tuple[tuple[str, frozenset[EdgeKind]], ...] = (
    (r"depend\w*|rel(?:y|ies|ied) (?:up)?on|prerequisites?", frozenset({EdgeKind.DEPENDS_ON})),
    (r"supersed\w*|replaces|replaced by", frozenset({EdgeKind.SUPERSEDES})),
    (r"links? to|linked (?:to|from)|refers? to", frozenset({EdgeKind.LINKS_TO})),
    (r"mentions?|mentioned", frozenset({EdgeKind.MENTIONS})),
    (r"(?:is|are|was|were|be)\b.*\b(?:related|connected|joined)|relates?\b.*\bto|relations?(?:hips?)?", _ALL),
)
_LISTS = r"\b(?:which|what|how many|list|name|show|all|every|each|any|are there)\b"
_DOCUMENTS = rf"{_LISTS}.*\b(?:documents|pages|docs|files)\b|\b(?:every|each) (?:document|page|file)\b"


def asks_for_set(question: str) -> bool:
    """Whether what answers *question* is a set by its words: what depends on X, which pages say so.

    >>> asks_for_set("What depends on the lease daemon?"), asks_for_set("What is the lease daemon?")
    (True, False)
    """
    return bool(kinds_asked(question) or re.search(_DOCUMENTS, question, re.IGNORECASE))


def kinds_asked(question: str) -> frozenset[EdgeKind]:
    """Return the kinds of edges that *question* names, and those of entities; none where it names none."""
    named = [kinds for words, kinds in _RELATIONS if re.search(rf"\b(?:{words})\b", question, re.IGNORECASE)]
    return frozenset({EdgeKind.RELATED}.union(*named)) if named else frozenset()


def sets_of(question: str, nodes: Collection[str], graph: GraphReader) -> tuple[AnswerSet, ...]:
    """Return the sets that *question* ranges over, as *graph* has them; none where it ranges over none.

    Edges of the kinds that it names at each of *nodes*, two hops into it and two out of it, as far as an
    answer follows them. Else, where it lists documents, those of the type that it names, or all.

    Raises: StoreUnavailable: the graph does not answer.
    """
    kinds = kinds_asked(question)
    if kinds:
        known = graph.nodes(tuple(nodes)[:NAMED_MAX])
        written = ", ".join(sorted(kinds))
        asked = tuple(AnswerSet(kinds=written, node=one.id, name=name_of(one)) for one in known)
    else:
        asked = _documents_asked(question, graph)
    found = read_sets(graph, asked)
    return tuple(found[one.key] for one in asked if one.key in found)


def _documents_asked(question: str, graph: GraphReader) -> tuple[AnswerSet, ...]:
    if not re.search(_LISTS, question, re.IGNORECASE):
        return ()
    types = {one.doc_type for one in _documents(graph) or () if one.doc_type}
    named = [kind for kind in sorted(types) if re.search(_plural(kind), question, re.IGNORECASE)]
    if named:
        return tuple(AnswerSet(documents=f"doc_type={kind}", name=kind) for kind in named)
    return (AnswerSet(documents="*", name="all"),) if re.search(_DOCUMENTS, question, re.IGNORECASE) else ()


def _plural(doc_type: str) -> str:
    """Return a pattern of documents of a type: policies, runbooks, governance documents."""
    words = r"[\s_-]".join(map(re.escape, re.findall(r"\w+", doc_type)))
    many = rf"{words[:-1]}ies" if words.endswith("y") else rf"{words}(?:e?s)"
    return rf"\b(?:{many}|{words} (?:documents|pages|docs|files))\b"


def read_sets(graph: GraphReader, sets: Collection[AnswerSet]) -> Mapping[tuple[str, ...], AnswerSet]:
    """Return *sets* by their keys as they are now, in four calls for the edges of each group of kinds.

    Raises: StoreUnavailable: the graph does not answer.
    """
    groups: dict[str, list[AnswerSet]] = defaultdict(list)
    for one in sets:
        groups[one.kinds].append(one)
    found: dict[tuple[str, ...], AnswerSet] = {}
    for kinds, group in groups.items():
        members = _members(graph, kinds, group) if kinds else _of_documents(graph, group)
        found |= {one.key: _filled(one, members[one.key]) for one in group if one.key in members}
    return found


def _filled(asked: AnswerSet, members: Iterable[str]) -> AnswerSet:
    listed = sorted(set(members))
    return replace(asked, count=str(len(listed)), sha256=sha256_hex("\n".join(listed)))


def _members(graph: GraphReader, kinds: str, group: Collection[AnswerSet]) -> dict[tuple[str, ...], set[str]]:
    wanted = {kind for kind in EdgeKind if kind.value in kinds.split(", ")}
    nodes = sorted({one.node for one in group})
    into = _two_hops(nodes, lambda ids: [(e.dst, e.src, e) for e in graph.edges_to(ids, kinds=wanted)])
    out = _two_hops(nodes, lambda ids: [(e.src, e.dst, e) for e in graph.edges_from(ids, kinds=wanted)])
    return {one.key: into[one.node] | out[one.node] for one in group}


def _two_hops(
    nodes: Collection[str], read: Callable[[Collection[str]], list[tuple[str, str, Edge]]]
) -> dict[str, set[str]]:
    """Return what the edges say that lead on from each node, and from where these lead to."""
    first = read(nodes)
    second = read(sorted({beyond for _, beyond, _ in first} - set(nodes))) if first else []
    at: dict[str, list[tuple[str, Edge]]] = defaultdict(list)
    for here, beyond, edge in (*first, *second):
        at[here].append((beyond, edge))
    return {
        node: {_said(edge) for place in (node, *(beyond for beyond, _ in at[node])) for _, edge in at[place]}
        for node in nodes
    }


def _said(edge: Edge) -> str:
    return " ".join((edge.kind.value, edge.src, edge.dst, edge.predicate or ""))


def _of_documents(graph: GraphReader, group: Collection[AnswerSet]) -> dict[tuple[str, ...], set[str]]:
    """Return the documents of each filter with what they say; nothing of an index of too many."""
    listed = _documents(graph)
    if listed is None:
        return {}
    return {
        one.key: {
            f"{document.id} {document.content_hash}"
            for document in listed
            if one.documents in ("*", f"doc_type={document.doc_type}")
        }
        for one in group
    }


def _documents(graph: GraphReader) -> tuple[Page | PdfDoc, ...] | None:
    kinds = ("page:", "pdfdoc:")
    ids = [one for kind in kinds for one in graph.ids_between(kind, f"{kind}~", limit=DOCUMENTS_MAX + 1)]
    if len(ids) > DOCUMENTS_MAX:
        return None
    nodes: tuple[Node, ...] = graph.nodes(ids) if ids else ()
    return tuple(node for node in nodes if is_document(node))


def current_sets(graph: GraphReader | None, pages: Iterable[WikiPage]) -> Mapping[tuple[str, ...], AnswerSet]:
    """Return the sets that *pages* rest on as they are now; none where there is no graph, or it went away."""
    sets = {one.key: one for page in pages for one in page.ranges_over}
    if graph is None or not sets:
        return {}
    try:
        return read_sets(graph, tuple(sets.values()))
    except StoreUnavailable:
        return {}
