"""Edges as sentences that a person, or a model, can read."""

from collections.abc import Mapping

from retrieval.graph.edge_verbs import EDGE_VERBS
from retrieval.graph.second_query import split_sentences
from schemas.edges import Edge

QUOTE_MAX = 300
"""Characters of a quoted sentence; a table in one line is no sentence."""


def say_edge(edge: Edge, names: Mapping[str, str], texts: Mapping[str, str]) -> str:
    """Return `Session API depends on Redis: "The Session API keeps its sessions in Redis."`.

    The quotation is the sentence that the edge was read from, where it was read from text.

    Args: names: what to call each node. texts: of chunks by id.
    """
    verb = edge.predicate or EDGE_VERBS[edge.kind][0]
    said = f"{names[edge.src]} {verb} {names[edge.dst]}"
    quoted = _quote(edge, texts.get(edge.chunk or edge.src, ""))
    return f'{said}: "{quoted}"' if quoted else f"{said}."


def _quote(edge: Edge, text: str) -> str:
    """Return the first sentence of the chunk that has the edge's words; its first words if it is long."""
    words = " ".join((edge.text or edge.anchor_text or "").split())
    if not words:
        return ""
    sentence = next((one for one in split_sentences(text) if words in one), words)
    return sentence if len(sentence) <= QUOTE_MAX else f"{sentence[:QUOTE_MAX].rsplit(' ', 1)[0]} ..."
