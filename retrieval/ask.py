"""One question answered: a mode's way to evidence, then a model's words or the evidence's own."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from retrieval.answering.answerable import measure_evidence
from retrieval.answering.answered import Answered, AnsweredBy, Grounded
from retrieval.answering.answering import Answerer, Log
from retrieval.ask_modes import AskMode
from retrieval.bundle.prompt import Sentence, parse_answer
from retrieval.evidence import build_retriever, relate, state_absence
from retrieval.question.catalogue import bind_version
from retrieval.question.query import ALLOW_ALL, Policy, check_policy
from retrieval.question.words import language_of
from schemas.errors import ConfigError, ParseError, StoreUnavailable
from schemas.evidence import ContextBundle, Query
from schemas.health import Absence, Coverage
from schemas.names import Complete

if TYPE_CHECKING:
    from indexes.wiring import Readers
    from retrieval.wiki.ask import WikiAnswer
    from retrieval.wiki.store import Wiki


@dataclass(frozen=True, slots=True, kw_only=True)
class AskResult:
    """An answer, the evidence that its labels mean, and what only its mode has to say.

    `absence` says of an answer "not found" what was searched in vain.
    """

    mode: AskMode
    bundle: ContextBundle
    answer: Answered
    details: dict[str, Any] = field(default_factory=dict)
    absence: Absence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What answers questions over opened readers.

    `log` gets a line for each step as it is done, `warn` what a person should know although an answer comes.
    `wiki` and `now` (ISO 8601) are the wiki mode's, `steps` is the loop's. `policy` is asked before anything.
    `coverage` reads from the ledger what the index may lack.
    """

    readers: "Readers"
    complete: Complete | None
    log: Log
    warn: Log
    wiki: "Wiki"
    now: str
    judge: bool = False
    steps: int = 4
    policy: Policy = ALLOW_ALL
    coverage: Callable[[], Coverage] | None = None

    def ask(self, query: Query, mode: AskMode) -> AskResult:
        """Answer *query* by *mode*, and warn of what was missing on the way.

        Raises: QueryRefused: by the policy; StoreUnavailable, FilterError, ConfigError: what readers, the
        loop and the wiki raise.
        """
        check_policy(self.policy, query)
        query = bind_version(query, self.readers.families.manuals)
        asked = {
            AskMode.PLAIN: self._plain,
            AskMode.DUAL: self._dual,
            AskMode.WIKI: self._wiki,
            AskMode.ITERATIVE: self._iterative,
        }[mode](query)
        for note in (*asked.answer.notes, *_unbound(asked)):
            self.warn(note)
        if not asked.answer.not_found:
            return asked
        absence = state_absence(
            self.readers, query, asked.bundle, answered=asked.answer, coverage=self.coverage
        )
        return replace(asked, absence=absence)

    @property
    def _answerer(self) -> Answerer:
        return Answerer(
            complete=self.complete,
            reranker=self.readers.reranker,
            judge=self.judge,
            log=self.log,
            measure=lambda bundle: measure_evidence(bundle, self.readers.chunks, self.readers.encoder),
        )

    def _retrieve(self, query: Query) -> ContextBundle:
        bundle = build_retriever(self.readers).retrieve(query)
        self.log(f"passages: {len(bundle.evidence)}")
        return bundle

    def _plain(self, query: Query) -> AskResult:
        bundle = self._relate(query, self._retrieve(query))
        return AskResult(mode=AskMode.PLAIN, bundle=bundle, answer=self._answerer.answer(bundle))

    def _relate(self, query: Query, bundle: ContextBundle) -> ContextBundle:
        """Add what edges say to the question; a graph that fails costs only that."""
        related = relate(self.readers, query, bundle, warn=self.warn)
        if related.relations:
            self.log(f"relations: {len(related.relations)}")
        return related

    def _dual(self, query: Query) -> AskResult:
        from retrieval.dual.retriever import add_contexts

        readers, found = self.readers, self._retrieve(query)
        count_tokens = readers.encoder.count_tokens
        found = add_contexts(
            found, query, readers.chunks, readers.graph, count_tokens, log=self.log, warn=self.warn
        )
        bundle = self._relate(query, found)
        return AskResult(mode=AskMode.DUAL, bundle=bundle, answer=self._answerer.answer(bundle))

    def _iterative(self, query: Query) -> AskResult:
        from retrieval.iterative.answering import build_final_bundle, messages_for_answer
        from retrieval.iterative.loop import iterate

        run = iterate(
            replace(build_retriever(self.readers), language=language_of(query.text)),
            self.readers.graph if query.use_graph else None,
            query,
            reranker=self.readers.reranker,
            complete=self.complete,
            steps=self.steps,
            on_step=lambda step, state: self.log(
                f"step {state.step}: {step.seen.query} ({len(step.seen.bundle.evidence)} passages, "
                f"{len(state.view.triples)} triples, {state.outcome.value})"
            ),
        )
        bundle = self._relate(query, build_final_bundle(run, query))
        messages = messages_for_answer(run, bundle)
        answer = self._answerer.answer(bundle, messages=messages, further=run.state.asked[1:])
        for note in run.state.notes:
            self.log(note)
        return AskResult(mode=AskMode.ITERATIVE, bundle=bundle, answer=answer)

    def _wiki(self, query: Query) -> AskResult:
        from retrieval.wiki.ask import answer_from_wiki

        if query.filters:
            raise ConfigError(
                "cannot be used with --mode wiki: pages rest on passages of all kinds", subject="--filter"
            )
        if query.version is not None:
            raise ConfigError(
                "cannot be used with --mode wiki: its pages rest on the latest",
                subject=f"version {query.version!r}",
            )
        found = answer_from_wiki(
            self.wiki,
            self.readers,
            query.text,
            retrieve=partial(build_retriever(self.readers).retrieve, query),
            reranker=self.readers.reranker,
            now=self.now,
        )
        for problem in found.problems:
            self.warn(f"{problem.path}: {problem.message}")
        bundle = found.bundle
        if found.page:
            self.log(f"the wiki answers: {found.page.ref}")
            answer = _quote_page(found)
        else:
            self.log(f"the wiki has no answer; passages: {len(bundle.evidence)}")
            bundle = self._relate(query, bundle)
            answer = self._answerer.answer(bundle)
            self._file(query, found, bundle, answer)
        return AskResult(mode=AskMode.WIKI, bundle=bundle, answer=answer, details={"wiki": found.to_record()})

    def _file(self, query: Query, found: "WikiAnswer", bundle: ContextBundle, answer: Answered) -> None:
        """Make a verified answer a page, so that the wiki has it the next time."""
        from retrieval.wiki.filing import GroundedSentence, file_answer
        from retrieval.wiki.sufficiency import why_weak

        chunks = {one.S: one.chunk_id for one in bundle.evidence}
        statements = [
            GroundedSentence(text=one.text, chunks=tuple(dict.fromkeys(chunks[S] for S in one.labels)))
            for one in answer.sentences
            if one.S
        ]
        if not statements:
            return
        if answer.by is AnsweredBy.GRAPH:
            self.log("not filed: the graph answers it as it is when it is asked")
            return
        verified = answer.verified and not answer.dropped
        said = [one.text for one in answer.sentences]
        if verified and (weak := why_weak(query.text, said, reranker=self.readers.reranker)):
            self.log(f"not filed: {weak}")
            return
        try:
            filing = file_answer(
                self.wiki,
                self.readers.chunks,
                query.text,
                statements,
                verified=verified,
                generation=self.readers.generation,
                now=self.now,
                evidence=found.evidence,
                graph=self.readers.graph,
            )
        except (StoreUnavailable, ParseError, ConfigError) as error:
            self.warn(f"the answer is not filed: {error}")
            return
        self.log(
            f"filed as {filing.page.ref}" if filing.page and filing.written else f"not filed: {filing.reason}"
        )


def _unbound(asked: AskResult) -> tuple[str, ...]:
    """Say of ids in the question why they name no document, where an answer may lack it.

    Standards are written as ids are: of `UTF-8` in a question that is answered nobody needs to hear.
    """
    lacking = asked.answer.not_found or asked.bundle.relations
    return tuple(asked.bundle.diagnostics.get("unbound", ())) if lacking else ()


def _quote_page(found: "WikiAnswer") -> Answered:
    """Return the page's own words; what a person changed on it no verifier has seen.

    A page as it was filed has one sentence a line, which is not cut again, as behind an abbreviation.
    """
    assert found.page is not None
    said = parse_answer(found.text, found.bundle).sentences
    if not found.page.edited_by_hand:
        lines = (parse_answer(line, found.bundle).sentences for line in found.text.split("\n"))
        said = tuple(
            Sentence(
                text=" ".join(one.text for one in parts),
                labels=tuple(label for one in parts for label in one.labels),
            )
            for parts in lines
            if parts
        )
    known = {one.S for one in found.bundle.evidence}
    return Answered(
        by=AnsweredBy.WIKI,
        sentences=tuple(
            Grounded(text=one.text, S=next((label for label in one.labels if label in known), None))
            for one in said
        ),
        verified=not found.page.edited_by_hand,
    )
