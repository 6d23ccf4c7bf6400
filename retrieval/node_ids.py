"""Node ids as people type them: whole, without their kind, or only their beginning."""

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from indexes.ports import GraphReader
from schemas.errors import ConfigError
from schemas.nodes import NodeKind

SHORTEST = 4
"""Letters of the hash that a beginning has at least; docs/rules/ids.md says what follows the colon."""

_KINDS = tuple(kind.value.lower() for kind in NodeKind)
_ID = re.compile(rf"(?:({'|'.join(_KINDS)}):)?([a-z2-7]{{{SHORTEST},26}})")
_SHOWN = 5


def looks_like_id(typed: str) -> bool:
    """Whether *typed* may be an id, or the beginning of one; a word of these letters is no proof."""
    return _ID.fullmatch(typed.lower()) is not None


def states_kind(typed: str) -> bool:
    """Whether *typed* begins as an id does, with its kind and a colon, and so can be nothing else."""
    return typed.lower().partition(":")[0] in _KINDS and ":" in typed


def resolve_node_id(graph: GraphReader, typed: str, *, kinds: Collection[NodeKind] = tuple(NodeKind)) -> str:
    """Return the one node id that *typed* is, or begins; case does not matter.

    Raises: ConfigError: no node of *kinds* has it, or several do; the message names the nearest ones.
    """
    found = tuple(_ids_with(graph, typed, kinds))
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        raise ConfigError(f"begins several ids ({listed}); give more of it", subject=typed)
    near = _nearest(graph, typed, kinds)
    hint = f"did you mean {near}?" if near else "ids are in the output of: sitegraph query TEXT"
    raise ConfigError(f"no such {_noun(kinds)} in this generation; {hint}", subject=typed)


def _ids_with(graph: GraphReader, typed: str, kinds: Collection[NodeKind]) -> Iterator[str]:
    match = _ID.fullmatch(typed.lower())
    if match is None:
        return
    for kind in sorted(kind.value.lower() for kind in kinds):
        if match[1] in (None, kind):
            low = f"{kind}:{match[2]}"
            yield from graph.ids_between(low, f"{low}~", limit=_SHOWN + 1)


def _nearest(graph: GraphReader, typed: str, kinds: Collection[NodeKind]) -> str | None:
    """The id most like *typed* among those that begin as it does: a slip is rarely in the first letters."""
    kind, colon, letters = typed.lower().rpartition(":")
    beginning = f"{kind}{colon}{letters[:SHORTEST]}"
    close = get_close_matches(typed.lower(), tuple(_ids_with(graph, beginning, kinds)), n=1)
    return close[0] if close else None


def _noun(kinds: Collection[NodeKind]) -> str:
    return next(iter(kinds)).value.lower() if len(kinds) == 1 else "node"
