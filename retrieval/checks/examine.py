"""One check asked of one generation: which passages it cites, and whether they say what it states."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from indexes.ports import ChunkReader
from retrieval.answering.answerable import measure_evidence
from retrieval.answering.answered import Answered
from retrieval.answering.answering import Answerer
from retrieval.bundle.build import locate_in_pdf
from retrieval.bundle.render import cite_line, document_names
from retrieval.evidence import build_retriever, relate
from retrieval.question.query import TOKEN_BUDGET
from retrieval.question.words import fold_spaces
from retrieval.verify.clauses import NEGATORS, split_sentences, whole
from retrieval.verify.facts import fold_signs, read_facts
from retrieval.verify.grounding import check_sentence
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Query
from schemas.nodes import Chunk
from schemas.report import Check, CheckFinding, Requirement, ShownPassage, Verdict

if TYPE_CHECKING:
    from indexes.wiring import Readers

HEADINGS = " > "


def is_cited(entry: str, chunk: Chunk) -> bool:
    """Whether *chunk* belongs to what *entry* names.

    An entry is the id of a document, section or chunk; a document id, address or path, which mean all of a
    document, with `#fragment` the passages there, and with `#page=3` a page of a PDF; or the last of the
    headings above a passage, `Guide > Leases`.
    """
    if entry in (chunk.id, chunk.doc, chunk.section_id, chunk.region_id):
        return True
    if HEADINGS in entry:
        return _ends_with(chunk, entry)
    name, _, fragment = entry.partition("#")
    if name not in document_names(chunk):
        return False
    if fragment.startswith("page="):
        return fragment == f"page={chunk.page_no}"
    return not fragment or fragment in (chunk.fragment, *chunk.fragments)


def may_mean(entry: str, chunk: Chunk) -> bool:
    """Whether *entry* names *chunk* or a place in its document."""
    return is_cited(entry, chunk) or entry.partition("#")[0] in document_names(chunk)


def passages_of(entry: str, chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return what *entry* means among *chunks*, which are all of some documents.

    Of a fragment that is all that stands under the same headings: an edit of a neighbour may cut a passage in
    two, and only one of them has the id then.
    """
    exact = {(one.doc, one.section_id, one.heading_path) for one in chunks if is_cited(entry, one)}
    if not entry.partition("#")[2] or "#page=" in entry:
        return tuple(one for one in chunks if is_cited(entry, one))
    return tuple(one for one in chunks if (one.doc, one.section_id, one.heading_path) in exact)


def cited_document(entry: str) -> str | None:
    """Return the document, or page of a PDF, that an entry names; None where it names only a part.

    >>> cited_document("guide.md#expiry"), cited_document("m.pdf#page=3"), cited_document("Guide > Leases")
    ('guide.md', 'm.pdf#page=3', None)
    """
    name, _, fragment = entry.partition("#")
    if HEADINGS in entry or name.startswith(("chunk:", "section:", "pdfregion:")):
        return None
    return entry if fragment.startswith("page=") else name


def _ends_with(chunk: Chunk, entry: str) -> bool:
    wanted = [fold_spaces(one) for one in entry.split(HEADINGS)]
    above = [fold_spaces(one) for one in (*chunk.breadcrumbs, *chunk.heading_path)]
    own = [fold_spaces(one) for one in chunk.heading_path]
    return own[-len(wanted) :] == wanted or above[-len(wanted) :] == wanted


COVERED = 0.8
"""Share of a statement's words that a passage must have to say the same; the rules alone judge what it says
of its numbers, names and yes or no, and let pass what speaks of something else."""
NEAR = 0.4
"""From this share on, a passage is shown as what stands there instead."""
SENTENCES = 3
"""Sentences in a row that may bear a statement out together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedStatement:
    """Whether a statement is borne out, by which words of which chunk, or why not."""

    met: bool
    why: str = ""
    text: str = ""
    chunk: Chunk | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    text: str
    heading: str
    size: int
    covered: float
    chunk: Chunk


def find_statement(statement: str, chunks: Iterable[Chunk]) -> JudgedStatement:
    """Look for *statement* in the sections that *chunks* are of, in their order.

    It is met where it stands there word for word, or where the sentences that have most of its words have at
    least 80 % of them and the verifier finds no fault.
    """
    sections = [tuple(run) for run in _sections(chunks)]
    for section in sections:
        if found := _word_for_word(statement, section):
            return found
    stretches = [one for section in sections for one in _stretches(statement, section)]
    if not stretches:
        return JudgedStatement(met=False, why="no passage is left to say it")
    most = max(one.covered for one in stretches)
    size = min(one.size for one in stretches if one.covered == most)
    nearest = [one for one in stretches if (one.covered, one.size) == (most, size)]
    return _judge(statement, nearest, most)


def _judge(statement: str, nearest: Sequence[_Stretch], covered: float) -> JudgedStatement:
    first = nearest[0]
    if covered < NEAR:
        return JudgedStatement(met=False, why="nothing there says it")
    if covered < COVERED:
        why = "the passage says something else"
        return JudgedStatement(met=False, why=why, text=first.text, chunk=first.chunk)
    why = ""
    for one in nearest:
        fault = _fault(statement, one)
        if fault is None:
            return JudgedStatement(met=True, text=one.text, chunk=one.chunk)
        why = why or fault
    return JudgedStatement(met=False, why=why, text=first.text, chunk=first.chunk)


def _fault(statement: str, stretch: _Stretch) -> str | None:
    passage = f"{stretch.heading}\n{stretch.text}" if stretch.heading else stretch.text
    if faults := check_sentence(statement, passage):
        return faults[0].what
    said, stated = whole(statement), whole(stretch.text)
    alike = len(said.words) >= COVERED * len(stated.words)
    if alike and _negators(said.words) != _negators(stated.words):
        return "it denies more, or less"
    return None


def _negators(words: Collection[str]) -> int:
    """How often a sentence denies: of two that are alike otherwise, one more turns what is said."""
    return sum(word in NEGATORS for word in words)


def _sections(chunks: Iterable[Chunk]) -> Iterator[Iterator[Chunk]]:
    """Chunks of one section, which an edit may cut elsewhere, are one text."""
    ordered = sorted({one.id: one for one in chunks}.values(), key=lambda one: (one.doc, one.ordinal))
    for _, run in groupby(ordered, key=lambda one: (one.doc, one.section_id, one.page_no)):
        yield run


def _word_for_word(statement: str, section: Sequence[Chunk]) -> JudgedStatement | None:
    wanted = fold_signs(statement).strip().rstrip(".")
    pattern = re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(wanted)}(?!\w|[.,]\d)")
    for chunk in section:
        if pattern.search(fold_signs(chunk.text)):
            return JudgedStatement(met=True, text=" ".join(statement.split()), chunk=chunk)
    if pattern.search(fold_signs("\n".join(one.text for one in section))):
        return JudgedStatement(met=True, text=" ".join(statement.split()), chunk=section[0])
    return None


def _stretches(statement: str, section: Sequence[Chunk]) -> Iterator[_Stretch]:
    # Amounts and dates, which may be spelled in many ways, are the verifier's.
    wanted = whole(read_facts(statement).rest).stems or whole(statement).stems
    sentences = [(one, chunk) for chunk in section for one in split_sentences(chunk.text)]
    if not wanted:
        return
    heading = " > ".join(section[0].heading_path)
    above = whole(heading).stems
    for size in range(1, SENTENCES + 1):
        for start in range(len(sentences) - size + 1):
            part = sentences[start : start + size]
            text = " ".join(one for one, _ in part)
            covered = len(wanted & (whole(text).stems | above)) / len(wanted)
            own = bool(wanted & whole(text).stems)
            yield _Stretch(text=text, heading=heading, size=size, covered=covered * own, chunk=part[0][1])


TOKENS = 50_000
"""So many that no passage is left out for its length: what is asked is whether it is found."""
SHOWN = 300
"""Characters of a passage that stands for a whole entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A generation that is asked.

    `answers` returns what an answer without a model says, nothing where it is "not found".
    """

    retrieve: Callable[[Query], ContextBundle]
    answers: Callable[[Query], Sequence[ShownPassage]]
    chunks: ChunkReader


def examine(checks: Iterable[Check], of: Examined) -> Iterator[Verdict]:
    """Ask each check in turn; the same generation gives the same verdicts.

    Raises: StoreUnavailable; FilterError: a check filters by an unknown field.
    """
    for check in checks:
        yield Verdict(check=check, findings=tuple(_findings(check, of)))


def check_query(check: Check) -> Query:
    """Return a check as it is asked."""
    return Query(text=check.question, filters=check.filters, top_k=check.top_k, token_budget=TOKENS)


def _findings(check: Check, of: Examined) -> Iterator[CheckFinding]:
    query = check_query(check)
    if not check.answered:
        yield _unanswered(of.answers(query))
        return
    ranked = [one.chunk_id for one in of.retrieve(query).evidence]
    by_id = {one.id: one for one in of.chunks.get(ranked)}
    found = [by_id[one] for one in ranked if one in by_id]
    meant = _meant(check, found, of.chunks)
    where: list[Chunk] = [] if check.cites else found
    for entry in check.cites:
        ids = {one.id for one in meant[entry]}
        first = next((one for one in found if one.id in ids), None)
        where += meant[entry] if first else ()
        yield _cited(check, entry, first)
    for statement in check.states:
        yield _stated(statement, find_statement(statement, where))


def _meant(check: Check, found: Sequence[Chunk], chunks: ChunkReader) -> dict[str, tuple[Chunk, ...]]:
    """What each entry means in the documents that were found, found or not: an edit may cut it elsewhere."""
    docs = {one.doc for one in found if any(may_mean(entry, one) for entry in check.cites)}
    whole = chunks.of_documents(sorted(docs))
    return {entry: passages_of(entry, whole) for entry in check.cites}


def _cited(check: Check, entry: str, chunk: Chunk | None) -> CheckFinding:
    why = "" if chunk else f"is not among the first {check.top_k} passages"
    passage = passage_of(chunk) if chunk else None
    return CheckFinding(
        requirement=Requirement.CITES, wanted=entry, met=chunk is not None, why=why, passage=passage
    )


def _stated(statement: str, found: JudgedStatement) -> CheckFinding:
    passage = passage_of(found.chunk, found.text) if found.chunk else None
    return CheckFinding(
        requirement=Requirement.STATES, wanted=statement, met=found.met, why=found.why, passage=passage
    )


def _unanswered(said: Sequence[ShownPassage]) -> CheckFinding:
    return CheckFinding(
        requirement=Requirement.ANSWERED,
        wanted="no answer",
        met=not said,
        why="it is answered" if said else "",
        passage=next(iter(said), None),
    )


def passage_of(chunk: Chunk, text: str | None = None) -> ShownPassage:
    """Return a chunk, or *text* of it, as it is shown."""
    shown = " ".join((text or chunk.text).split())
    cut = shown if len(shown) <= SHOWN else f"{shown[:SHOWN].rsplit(maxsplit=1)[0]} …"
    return ShownPassage(text=cut, citation=cite_line(chunk, locate_in_pdf(chunk)), doc=chunk.doc)


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
        measure=lambda bundle: measure_evidence(bundle, readers.chunks, readers.encoder),
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
