"""What an edge of each kind says between its ends."""

from collections.abc import Mapping

from schemas.edges import EdgeKind

EDGE_VERBS: Mapping[EdgeKind, tuple[str, str]] = {
    EdgeKind.DEPENDS_ON: ("depends on", "depend on"),
    EdgeKind.SUPERSEDES: ("supersedes", "supersede"),
    EdgeKind.RELATES_TO: ("relates to", "relate to"),
    EdgeKind.LINKS_TO: ("links to", "link to"),
    EdgeKind.MENTIONS: ("mentions", "mention"),
    EdgeKind.EXPLAINED_BY: ("is explained by", "are explained by"),
    EdgeKind.RELATED: ("is related to", "are related to"),
}
"""Of one subject, and of several."""
