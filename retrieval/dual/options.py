"""How far the graph channel goes, and how much of what it finds is shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DualOptions:
    """Settings of the graph channel; the manual explains them (docs/asking.md).

    `weight` and `decay` make the score `weight * confidence * decay^(hop-1)`. One score for every context
    would say nothing of an edge that is unsure or far off. `per_semantic` is how many contexts may
    stand beside each passage, `front` how many nodes of a hop lead to the next.
    """

    max_entities: int = 3
    depth: int = 1
    relation_depth: int = 2
    min_confidence: float = 0.6
    weight: float = 0.9
    decay: float = 0.85
    per_semantic: int = 2
    front: int = 50


RECIPE = DualOptions()
