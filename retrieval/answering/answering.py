"""From evidence to an answer: a model's words held against the evidence, or the evidence's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from indexes.ports import Reranker
from retrieval.answering.answerable import FAMILIAR, Familiarity, note_language
from retrieval.answering.answered import Answered, AnsweredBy, Dropped, Grounded
from retrieval.answering.extract import NEAREST, extract_answer
from retrieval.bundle.prompt import NOT_FOUND, ParsedAnswer, parse_answer, render_prompt
from retrieval.question.words import language_of
from retrieval.verify.verifier import verify_answer
from schemas.errors import TerminalError, TransientError
from schemas.evidence import ContextBundle
from schemas.names import Complete, Message

UNVERIFIED = "the answer is not verified: that takes the cross-encoder"

Log = Callable[[str], None]
Measure = Callable[[ContextBundle], Familiarity]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """What answers: with a model it words and the verifier checks, without one sentences are copied.

    `judge`: the model also judges each sentence of its answer. `log` gets a line for each step. `measure`
    says how much of the question of a bundle the index knows; without it, all.
    """

    complete: Complete | None
    reranker: Reranker | None
    judge: bool
    log: Log
    measure: Measure = lambda _: FAMILIAR

    def answer(
        self,
        bundle: ContextBundle,
        *,
        messages: Sequence[Message] | None = None,
        further: Sequence[str] = (),
    ) -> Answered:
        """Answer the question of *bundle* from its evidence and from nothing else.

        A model that fails, or that says nothing, is noted, and the evidence's own words are the answer.

        Args: messages: in place of the plain prompt. further: what else was asked on the way, for an
        answer without the model.
        """
        if self.complete is None or not bundle.evidence:
            return self._extract(bundle, further)
        asked = messages or ({"role": "user", "content": render_prompt(bundle)},)
        try:
            text = self.complete(asked, None)
        except (TransientError, TerminalError) as error:
            return self._without_model(bundle, further, str(error))
        answer = parse_answer(text, bundle)
        if not answer.sentences and not answer.tool_requests:
            return self._without_model(bundle, further, "its answer says nothing")
        self.log(f"the model answers in {len(answer.sentences)} sentences")
        return self._check(answer, bundle)

    def _extract(self, bundle: ContextBundle, further: Sequence[str]) -> Answered:
        known = self.measure(bundle) if bundle.evidence else FAMILIAR
        found = extract_answer(bundle, reranker=self.reranker, further=further, familiarity=known)
        notes = note_language(bundle.query, known, answered=not found.not_found)
        return replace(found, notes=(*found.notes, *notes))

    def _without_model(self, bundle: ContextBundle, further: Sequence[str], why: str) -> Answered:
        note = f"answering without the model: {why}"
        found = self._extract(bundle, further)
        return replace(found, notes=(*found.notes, note))

    def _check(self, answer: ParsedAnswer, bundle: ContextBundle) -> Answered:
        checked = self._verified(answer, bundle) if self.reranker else _by_labels(answer, bundle)
        tools = tuple(
            f"the model asks to run {one.name}; no tool is run here" for one in answer.tool_requests
        )
        nearest = () if checked.sentences else tuple(one.S for one in bundle.evidence[:NEAREST])
        self.log(f"{len(checked.sentences)} sentences stand, {len(checked.dropped)} dropped")
        notes = _note_verifier(bundle.query) if self.reranker else ()
        return replace(checked, nearest=nearest, notes=(*checked.notes, *notes, *tools))

    def _verified(self, answer: ParsedAnswer, bundle: ContextBundle) -> Answered:
        assert self.reranker is not None
        judge = self.complete if self.judge else None
        found = verify_answer(answer, bundle, reranker=self.reranker, judge=judge)
        return Answered(
            by=AnsweredBy.MODEL,
            sentences=tuple(Grounded(text=one.text, S=one.S, logit=one.logit) for one in found.kept),
            dropped=tuple(Dropped(text=one.text, S=one.S, reason=one.reason) for one in found.dropped),
            notes=found.notes,
        )


def _note_verifier(question: str) -> tuple[str, ...]:
    asked = language_of(question)
    told = f"the question is in {asked!r}; the verifier reads English words, dates and numbers"
    return () if asked in (None, "en") else (f"{told}, and may drop right sentences",)


def _by_labels(answer: ParsedAnswer, bundle: ContextBundle) -> Answered:
    """Keep the sentences that name evidence; whether it bears them out nobody here can tell."""
    known = {one.S for one in bundle.evidence}
    first = [
        (one.text, next((label for label in one.labels if label in known), None)) for one in answer.sentences
    ]
    return Answered(
        by=AnsweredBy.MODEL,
        sentences=tuple(Grounded(text=text, S=label) for text, label in first if label),
        dropped=tuple(
            Dropped(text=text, S=None, reason="no evidence is named for it")
            for text, label in first
            if label is None and NOT_FOUND not in text.casefold()
        ),
        verified=False,
        notes=(UNVERIFIED,),
    )
