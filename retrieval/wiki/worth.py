"""Whether sentences answer a question well enough to be served again: that they are true is not enough."""

import re
from collections.abc import Collection, Sequence

from indexes.ports import GraphReader, Reranker
from retrieval.question.words import fold
from retrieval.relations.asked import EdgeDirection, read_asked
from retrieval.verify.measures import says_measure
from retrieval.wiki.ranges import kinds_asked
from retrieval.wiki.sufficiency import LOGIT_MIN
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Entity, Node, Page, PdfDoc, Tool

NO_JUDGE = "nothing tells whether it answers: that takes the cross-encoder"

_LISTS = re.compile(r"\s*(?:what|which|who|list|name|show|how many)\b", re.IGNORECASE)


def why_weak(question: str, sentences: Sequence[str], *, reranker: Reranker | None) -> str:
    """Say on a line why *sentences* are no answer to keep; empty where they are one.

    The cross-encoder gives them, read together, the logit that a page needs to answer, and where the question
    asks how long, how many or how often, one of them says such a measure. A sentence that was copied is true
    and may answer another question; without a cross-encoder nothing tells.
    """
    if reranker is None:
        return NO_JUDGE
    (logit,) = reranker.score_pairs(question, [" ".join(sentences)])
    if logit < LOGIT_MIN:
        return f"as an answer the cross-encoder gives it {logit:.1f}, not {LOGIT_MIN:.0f}"
    if not says_measure(question, sentences):
        return "it says no measure of what is asked"
    return ""


def leaves_out(question: str, sentences: Sequence[str], nodes: Collection[str], graph: GraphReader) -> str:
    """Say what a list of what depends on, or supersedes, one of *nodes* leaves out; empty where nothing.

    All that such edges come from, or all that they lead to, as *question* asks, must be named by id or title.
    Where it does not say which way, either is enough.

    Raises: StoreUnavailable: the graph does not answer.
    """
    kinds = kinds_asked(question) & {EdgeKind.DEPENDS_ON, EdgeKind.SUPERSEDES}
    if not kinds or not nodes or not _LISTS.match(question):
        return ""
    said = f" {fold(' '.join(sentences))} "
    way = _way_asked(question, graph.nodes(sorted(nodes)))
    missing: list[str] = []
    for edges, other in (
        (graph.edges_to(sorted(nodes), kinds=kinds) if way is not EdgeDirection.OUT else (), _source),
        (graph.edges_from(sorted(nodes), kinds=kinds) if way is not EdgeDirection.INTO else (), _target),
    ):
        ends = sorted({other(edge) for edge in edges} - set(nodes))
        unnamed = [one for one in graph.nodes(ends) if not _is_named(one, said)] if ends else []
        if ends and not unnamed:
            return ""
        missing += [_names(one)[0] for one in unnamed]
    return f"it leaves out {', '.join(missing[:3])}" if missing else ""


def _way_asked(question: str, nodes: Collection[Node]) -> EdgeDirection:
    """Return which way from the named things the question goes: "What depends on A?" goes into A."""
    spans = [span for node in nodes for name in _names(node) for span in _places(name, question)]
    asked = read_asked(question, [spans]) if spans else None
    return asked.steps[0].way if asked and len(asked.steps) == 1 else EdgeDirection.BOTH


def _places(name: str, text: str) -> list[tuple[int, int]]:
    pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)] if name else []


def _source(edge: Edge) -> str:
    return edge.src


def _target(edge: Edge) -> str:
    return edge.dst


def _is_named(node: Node, said: str) -> bool:
    return any(f" {fold(name)} " in said for name in _names(node) if fold(name))


def _names(node: Node) -> tuple[str, ...]:
    match node:
        case Page() | PdfDoc():
            return (node.title, *([node.doc_id] if node.doc_id else []))
        case Tool() | Entity():
            return (node.name, *node.aliases)
        case _:
            return (node.id,)
