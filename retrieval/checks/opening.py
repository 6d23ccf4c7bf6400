"""From opened readers to a generation that checks are asked of."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval.answering.answerable import measure_familiarity
from retrieval.answering.answered import Answered
from retrieval.answering.answering import Answerer
from retrieval.bundle.render import cite_line
from retrieval.checks.examine import Examined
from retrieval.evidence import relate
from retrieval.opening import build_retriever
from retrieval.question.query import TOKEN_BUDGET
from schemas.checks import ShownPassage
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Query

if TYPE_CHECKING:
    from indexes.wiring import Readers


def examined(readers: "Readers") -> Examined:
    """Ask the generation that *readers* see: as `query` does, and as `ask` does without a language model.

    Without the graph nothing is asked: what is then not found need not be lost.
    """
    retriever = build_retriever(readers)
    answerer = Answerer(
        complete=None,
        reranker=readers.reranker,
        judge=False,
        log=lambda _: None,
        measure=lambda text: measure_familiarity(text, readers.chunks, readers.encoder),
    )

    def retrieve(query: Query) -> ContextBundle:
        return _whole(retriever.retrieve(query))

    def answers(query: Query) -> Sequence[ShownPassage]:
        asked = replace(query, token_budget=TOKEN_BUDGET, rerank=readers.reranker is not None)
        bundle = relate(readers, asked, retrieve(asked))
        return tuple(_passages(answerer.answer(bundle), bundle))

    return Examined(retrieve=retrieve, answers=answers, chunks=readers.chunks)


def _whole(bundle: ContextBundle) -> ContextBundle:
    if bundle.degraded:
        raise StoreUnavailable(
            f"part of the index is unavailable ({', '.join(bundle.degraded)}), so a missing result does not "
            "prove that evidence was lost",
            subject="checks",
        )
    return bundle


def _passages(answered: Answered, bundle: ContextBundle) -> Iterator[ShownPassage]:
    by_label = {one.S: one for one in bundle.evidence}
    for sentence in answered.sentences:
        if (one := by_label.get(sentence.S or "")) is not None:
            yield ShownPassage(text=sentence.text, citation=cite_line(one, one.pdf), doc=one.doc)
        else:
            yield ShownPassage(text=sentence.text, citation="the graph", doc="")
