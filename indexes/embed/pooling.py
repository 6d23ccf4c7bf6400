"""Token vectors of a passage, pooled to a sixth as many: what is near each other becomes its mean.

Source: Clavié, Chaffin, Adams, "Reducing the footprint of multi-vector retrieval with minimal performance
impact via token pooling", 2024: hierarchical clusters by Ward's method, a vector for every few tokens.
"""

import numpy as np
import numpy.typing as npt

from indexes.ports import TokenVectors, Vector

TOKENS_PER_VECTOR = 6
"""docs/decisions/0024-late-interaction.md has what other numbers keep and cost."""

_DECIMALS = 4
"""Of the distances that clusters are made by: another batch gives the same vectors but for the seventh."""


def pool_tokens(tokens: Vector) -> TokenVectors:
    """Pool the vectors of a text's tokens, in the order of each cluster's first token.

    Args: tokens: shape (n, dim), of any length but 0.
    Returns: shape (ceil(n / 6), dim), unit length.
    """
    unit = to_unit(tokens)
    most = -(-len(unit) // TOKENS_PER_VECTOR)
    if most >= len(unit):
        return unit.astype(np.float16)
    clusters = _clusters(unit, most)
    means = np.stack([unit[clusters == number].mean(axis=0) for number in dict.fromkeys(clusters.tolist())])
    return to_unit(means).astype(np.float16)


def to_unit(vectors: Vector) -> Vector:
    """Return rows of unit length, float32; one of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vector = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def _clusters(unit: Vector, most: int) -> npt.NDArray[np.int32]:
    """Return the number of each row's cluster, by Ward's method over distances rounded to 4 decimals."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    # Not a product of matrices, whose threads spin: ten times the CPU time of everything else here.
    distances = np.round(pdist(unit), _DECIMALS)
    found: npt.NDArray[np.int32] = fcluster(linkage(distances, "ward"), most, "maxclust")
    return found
