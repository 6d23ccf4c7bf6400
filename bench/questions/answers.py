"""Answers without a model: right and complete, partly right, wrong, or "not found", rightly and wrongly."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.questions.asking import TOP_K, Figures, OpenedSet, chunks_of, measure
from bench.questions.gold import Passage, holds, stands_at
from bench.questions.question_files import AskedQuestion
from retrieval.ask import Asking, AskResult
from retrieval.ask_modes import AskMode
from retrieval.question.query import build_query
from retrieval.wiki.store import Wiki

NOW = "2026-01-01T00:00:00+00:00"
COMPLETE, PARTIAL, WRONG = "complete", "partial", "wrong"
RIGHTLY, WRONGLY, INVENTED = "rightly not found", "wrongly not found", "answered without an answer"
VERDICTS = (COMPLETE, PARTIAL, WRONG, WRONGLY, RIGHTLY, INVENTED)

Verdicts = Mapping[str, str]
"""What an answer is worth, by question id."""


def judge(question: AskedQuestion, said: str | None, cited: Sequence[Passage]) -> str:
    """Return the verdict on what was said, None for "not found", with the passages that it cites.

    Complete: every fact stands in it. Partial: one does, or it cites a gold place.
    """
    if not question.entries:
        return INVENTED if said is not None else RIGHTLY
    if said is None:
        return WRONGLY
    held = [holds(said, fact) for fact in question.facts]
    if all(held):
        return COMPLETE
    there = any(stands_at(one, entry) for one in cited for entry in question.entries)
    return PARTIAL if any(held) or there else WRONG


def answer_all(opened: OpenedSet, mode: AskMode) -> tuple[Verdicts, dict[str, Figures]]:
    """Answer every question of a set by *mode*; return the verdicts, and what its evidence found."""
    verdicts: dict[str, str] = {}
    figures: dict[str, Figures] = {}
    with TemporaryDirectory() as folder:
        for one in opened.questions:
            asked = _ask(opened, one.text, mode, Path(folder))
            labels = {each.S for each in asked.answer.sentences}
            cited = opened.passages([each.chunk_id for each in asked.bundle.evidence if each.S in labels])
            said = " ".join(each.text for each in asked.answer.sentences)
            verdicts[one.id] = judge(one, None if asked.answer.not_found else said, cited)
            if one.entries:
                found = opened.passages(chunks_of(asked.bundle))
                figures[one.id] = measure(one, found, under=opened.under)
    return verdicts, figures


def _ask(opened: OpenedSet, text: str, mode: AskMode, folder: Path) -> AskResult:
    asking = Asking(
        readers=opened.readers,
        complete=None,
        log=lambda _: None,
        warn=lambda _: None,
        wiki=Wiki(folder),
        now=NOW,
    )
    return asking.ask(build_query(text, top_k=TOP_K, rerank=opened.readers.reranker is not None), mode)


def verdict_lines(verdicts: Verdicts) -> Iterator[str]:
    """Yield the shares in percent: of questions with an answer, and of those without one."""
    counts = Counter(verdicts.values())
    for names in (VERDICTS[:4], VERDICTS[4:]):
        total = sum(counts[name] for name in names)
        shares = (f"{name} {100 * counts[name] / max(1, total):.1f}" for name in names)
        yield f"{'  '.join(shares)}  of {total}"
