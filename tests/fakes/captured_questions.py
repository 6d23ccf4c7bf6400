"""Questions as they are captured for tuning, made up so that one part of the score finds gold."""

from retrieval.learning.questions import Captured, KnownQuestion
from retrieval.ranking.score import Scored
from schemas.evidence import Origin, Scores
from schemas.nodes import Chunk, DocumentKind


def candidate(name: str, scores: Scores) -> Scored:
    """A chunk of a page of its own, `site/NAME.md`, with given parts of its score."""
    chunk = Chunk(
        id=f"chunk:{name}",
        kind=DocumentKind.HTML,
        source="s",
        doc=f"page:{name}",
        text=name,
        content_hash="h",
        ordinal=0,
        offsets=(0, 1),
        token_count=1,
        file_path=f"site/{name}.md",
    )
    return Scored(chunk=chunk, scores=scores, source=Origin.VECTOR, role="rest")


def captured_question(number: int, gold: str = "gold") -> Captured:
    """A question of which gold has the authority, and twelve others all else."""
    others = [
        candidate(f"other{at:02}", Scores(text=0.9 - at / 100, graph=0.9, anchor=0.9, freshness=0.9))
        for at in range(12)
    ]
    candidates = (*others, candidate("gold", Scores(text=0.5, authority=1.0)))
    return Captured(
        question=KnownQuestion(id=f"q{number}", text="?", gold=(gold,)),
        candidates=candidates,
        copies={},
        keys={one.chunk.id: one.chunk.id.removeprefix("chunk:") for one in candidates},
    )
