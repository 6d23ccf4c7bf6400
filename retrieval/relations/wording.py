"""Edges and paths over the graph as sentences, and as chains in one line."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from retrieval.relations.asked import EdgeDirection, Step
from retrieval.relations.paths import Hop, Path
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


_BACK = {
    EdgeKind.DEPENDS_ON: "on which {} depends",
    EdgeKind.SUPERSEDES: "which {} supersedes",
    EdgeKind.RELATES_TO: "to which {} relates",
    EdgeKind.LINKS_TO: "to which {} links",
    EdgeKind.MENTIONS: "which {} mentions",
    EdgeKind.EXPLAINED_BY: "which explains {}",
}
_PARTICIPLE = re.compile(r"\w+(?:ed|en|wn)\b")

Names = Mapping[str, str]


def say_path(path: Path, names: Names) -> str:
    """Return `GOV-0099 depends on PRD-0008, which depends on ADR-0042.`

    A path that is mostly gone against its edges is told from its other end.
    """
    told = told_forward(path)
    first, *rest = told
    start, end = _ends(first)
    if first.forward:
        said = f"{names[start]} {verb_of(first)} {names[end]}"
    else:
        said = f"{names[end]} {verb_of(first)} {names[start]}"
        if rest:
            return _fork(told, names)
    return _closed(", ".join((said, *(_clause(hop, names) for hop in rest))))


def _fork(path: Path, names: Names) -> str:
    """Tell a path that begins against its edge hop by hop."""
    said = [f"{names[hop.src]} {verb_of(hop)} {names[hop.dst]}" for hop in path]
    return _closed(", and ".join((", ".join(said[:-1]), said[-1])))


def told_forward(path: Path) -> Path:
    """Return a path as it is told: one that is mostly gone against its edges from its other end."""
    back = sum(not hop.forward for hop in path)
    if 2 * back <= len(path):
        return path
    return tuple(replace(hop, forward=not hop.forward) for hop in reversed(path))


def _clause(hop: Hop, names: Names) -> str:
    """Say a further hop of what the last one led to."""
    if hop.forward:
        return f"which {verb_of(hop)} {names[hop.dst]}"
    if hop.edge.predicate:
        return f"and {names[hop.src]} {verb_of(hop)} it"
    return _BACK[hop.edge.kind].format(names[hop.src])


def _ends(hop: Hop) -> tuple[str, str]:
    return (hop.src, hop.dst) if hop.forward else (hop.dst, hop.src)


def verb_of(hop: Hop, *, many: bool = False) -> str:
    """Return what an edge says between its ends: its kind, or the key that front matter states it under."""
    predicate = hop.edge.predicate
    if predicate is None:
        return EDGE_VERBS[hop.edge.kind][many]
    words = " ".join(re.findall(r"[^\W_]+", predicate)) or predicate
    if _PARTICIPLE.match(words):
        return f"{'are' if many else 'is'} {words}"
    return re.sub(r"^(\w+?)s\b", r"\1", words) if many else words


def say_chain(path: Path, names: Names) -> str:
    """Return `GOV-0099 --[depends_on]--> PRD-0008 --[depends_on]--> ADR-0042`, told as `say_path` does."""
    told = told_forward(path)
    parts = [names[_ends(told[0])[0]]]
    for hop in told:
        kind = hop.edge.predicate or hop.edge.kind.value
        parts.append(f"--[{kind}]-->" if hop.forward else f"<--[{kind}]--")
        parts.append(names[_ends(hop)[1]])
    return " ".join(parts)


def say_neighbours(paths: Sequence[Path], names: Names) -> list[tuple[str, tuple[Path, ...]]]:
    """Return sentences for paths of one hop each from one thing, one for each kind and direction.

    `GOV-0001 and PRD-0008 depend on ADR-0042.`
    """
    said = []

    def key(path: Path) -> tuple[bool, str, str]:
        return (not path[0].forward, verb_of(path[0]), _ends(path[0])[0])

    for (back, verb, here), group in groupby(sorted(paths, key=key), key=key):
        told = tuple(group)
        others = sorted({names[path[0].end] for path in told})
        if back:
            text = f"{join_names(others)} {verb_of(told[0][0], many=len(others) > 1)} {names[here]}"
        else:
            text = f"{names[here]} {verb} {join_names(others)}"
        said.append((_closed(text), told))
    return said


def say_nothing_found(name: str, steps: Sequence[Step]) -> str:
    """Return `Nothing depends on ADR-0042.`, or of several steps that nothing is found that way."""
    if len(steps) > 1:
        return f"Nothing in the index is joined to {name} that way."
    (step,) = steps
    if step.way is EdgeDirection.BOTH or len(step.kinds) > 1 or step.predicates:
        return f"No typed edge of the index joins {name} to anything that way."
    active, _ = EDGE_VERBS[next(iter(step.kinds))]
    if step.way is EdgeDirection.INTO:
        return f"No document of the index {active} {name}."
    return f"{name} {active} no document of the index."


def say_unconnected(names: Collection[str]) -> str:
    """Return `Nothing in the index connects GOV-0001 and ADR-0042.`"""
    return f"Nothing in the index connects {join_names(list(names))}."


QUOTE_MAX = 300
"""Characters of a quoted sentence; a table in one line is no sentence."""


def cut_quote(sentence: str) -> str:
    """Return a sentence as it is quoted: of a long one the first words."""
    return sentence if len(sentence) <= QUOTE_MAX else f"{sentence[:QUOTE_MAX].rsplit(' ', 1)[0]} ..."


def join_names(names: Sequence[str]) -> str:
    """Return `A`, `A and B`, `A, B and C`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _closed(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
