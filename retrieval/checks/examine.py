"""One check asked of one generation."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from indexes.ports import ChunkReader
from retrieval.bundle.build import locate_in_pdf
from retrieval.bundle.render import cite_line
from retrieval.checks.cites import may_mean, passages_of
from retrieval.checks.states import JudgedStatement, find_statement
from schemas.checks import Check, CheckFinding, Requirement, ShownPassage, Verdict
from schemas.evidence import ContextBundle, Query
from schemas.nodes import Chunk

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


def query_of(check: Check) -> Query:
    """Return a check as it is asked."""
    return Query(text=check.question, filters=check.filters, top_k=check.top_k, token_budget=TOKENS)


def _findings(check: Check, of: Examined) -> Iterator[CheckFinding]:
    query = query_of(check)
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
