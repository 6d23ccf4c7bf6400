"""Whether passages say what a check states, by the verifier's rules."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from retrieval.verify.clauses import split_sentences, whole
from retrieval.verify.facts import read_facts
from retrieval.verify.grounding import check_sentence
from retrieval.verify.lexicon import NEGATORS
from retrieval.verify.names import fold_signs
from schemas.nodes import Chunk

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
