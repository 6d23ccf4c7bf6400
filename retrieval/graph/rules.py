"""The rules by which the graph adds to what was found; each can be left out, to see what it is worth."""

from enum import StrEnum


class GraphRule(StrEnum):
    """A rule of `retrieval.graph.directions`, the spreading of activation, or the second queries."""

    PARENT = "parent"
    SIBLING = "sibling"
    DETAIL = "detail"
    LINK = "link"
    SIMILAR = "similar"
    TOOL = "tool"
    SPREAD = "spread"
    SECOND_QUERY = "second query"


ALL_RULES = frozenset(GraphRule)
