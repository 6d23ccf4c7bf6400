"""Graph contexts behind the passages: what they already say is left out, and the rest kept few."""

from collections.abc import Collection, Iterable

from retrieval.bundle.build import evidence_of
from retrieval.dual.context import GraphContext
from retrieval.question.words import fold
from schemas.evidence import Derivation, Evidence, Origin, Scores

ROLE = "graph"


def choose_contexts(
    passages: Collection[Evidence], contexts: Collection[GraphContext], *, per_semantic: int
) -> tuple[GraphContext, ...]:
    """Keep, in order, the contexts whose entity no passage names, at most *per_semantic* for each passage.

    A name counts where it stands as words of its own, in a passage or a heading above it, whatever its case.
    """
    said = " ".join(f" {fold(part)} " for one in passages for part in (*one.heading_path, one.text))
    new = [one for one in contexts if not any(f" {fold(name)} " in said for name in one.names if fold(name))]
    return tuple(new[: per_semantic * len(passages)])


def fit_contexts(
    contexts: Iterable[GraphContext], sizes: Iterable[int], *, room: int
) -> tuple[GraphContext, ...]:
    """Keep, in order, the contexts that fit in *room* tokens whole; half a statement says something else."""
    kept: list[GraphContext] = []
    for one, size in zip(contexts, sizes, strict=True):
        if size <= room:
            kept.append(one)
            room -= size
    return tuple(kept)


def to_evidence(contexts: Iterable[GraphContext], *, after: int) -> tuple[Evidence, ...]:
    """Number contexts after the last of *after* passages; each opens at the passage behind its last edge."""
    return tuple(_evidence(f"S{number}", one) for number, one in enumerate(contexts, start=after + 1))


def _evidence(label: str, context: GraphContext) -> Evidence:
    return evidence_of(
        context.chunk,
        label,
        text=context.text,
        offsets=context.chunk.offsets,
        score=context.score,
        scores=Scores(graph=context.score),
        source=Origin.GRAPH,
        derivation=Derivation.INFERRED,
        role=ROLE,
        path=context.path,
        entity=context.entity,
    )
