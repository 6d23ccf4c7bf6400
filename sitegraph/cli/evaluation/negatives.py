"""Hard negatives of an index, from the citations that were followed and from questions with known answers."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from indexes.rerank import locate_reranker
from indexes.wiring import Readers
from retrieval.learning.negatives import Wanted, followed, mine_negatives
from retrieval.learning.usage import Usage
from retrieval.opening import build_retriever
from schemas.errors import ConfigError
from sitegraph.cli.evaluation.question_file import QuestionFile


def negative_rows(readers: Readers, usage: Usage, questions: QuestionFile | None) -> Iterator[dict[str, Any]]:
    """Yield rows of anchor, positive and negative, as sentence-transformers trains on them.

    Raises: ConfigError: the cross-encoder is not installed, or nothing was ever followed and no file given.
    """
    known = questions.questions if questions else ()
    wanted = (*followed(usage), *(Wanted(text=one.text, documents=one.gold) for one in known))
    if not wanted:
        raise ConfigError(
            "no citation was ever followed; give questions with known answers: --questions FILE",
            subject="negatives",
        )
    locate_reranker()
    assert readers.reranker is not None, "it was located"
    triplets = mine_negatives(
        wanted, build_retriever(readers).walk, chunks=readers.chunks, reranker=readers.reranker
    )
    return map(asdict, triplets)
