"""Answers without a language model, on questions whose answer is known: does what is quoted hold it?

    python -m bench.answers [--questions N] [SET ...]

For each mode that needs no model: how often a quotation holds the answer's words, how often something is
quoted at all, and how many words that is. Questions answered by yes or no are left out. The cross-encoder
stays away where a line says "words". Indexes are those of `bench.retrieval`.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.retrieval.indexing import build_index
from bench.retrieval.question_sets import QuestionSet, load_answers, load_sets
from indexes.reader_parts import locate_reranker
from indexes.wiring import Readers, open_readers
from retrieval.answering.extract import extract_answer
from retrieval.ask import Asking, AskResult
from retrieval.ask_modes import AskMode
from retrieval.question.query import build_query
from retrieval.question.words import fold
from retrieval.wiki.store import Wiki

SETS = ("hotpot", "musique")
MODES = (AskMode.PLAIN, AskMode.DUAL, AskMode.ITERATIVE)
NOW = "2026-01-01T00:00:00+00:00"


@dataclass(frozen=True, slots=True)
class Quoted:
    """What was quoted for one question, and whether it holds one of its answers."""

    words: int
    right: bool


def judge(text: str, answers: tuple[str, ...], *, nothing: bool) -> Quoted:
    """Hold a quotation against the answers, whole words, whatever their case and punctuation."""
    quoted = "" if nothing else fold(text)
    right = any(f" {fold(answer)} " in f" {quoted} " for answer in answers)
    return Quoted(words=len(quoted.split()), right=right)


def ask(readers: Readers, text: str, mode: AskMode, folder: Path) -> AskResult:
    """Answer one question, the cross-encoder ordering the passages."""
    asking = Asking(
        readers=readers, complete=None, log=lambda _: None, warn=print, wiki=Wiki(folder), now=NOW
    )
    return asking.ask(build_query(text, rerank=True), mode)


def measure(
    readers: Readers, questions: QuestionSet, answers: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Return a line for each mode, and one for plain search quoted by words alone."""
    by_words: list[Quoted] = []
    with TemporaryDirectory() as folder:
        for mode in MODES:
            found: list[Quoted] = []
            for one in questions.questions:
                asked = ask(readers, one.text, mode, Path(folder))
                said = asked.answer
                found.append(judge(said.text, answers[one.id], nothing=said.not_found))
                if mode is AskMode.PLAIN:
                    words = extract_answer(asked.bundle, reranker=None)
                    by_words.append(judge(words.text, answers[one.id], nothing=words.not_found))
            yield line_of(mode.value, found)
            if mode is AskMode.PLAIN:
                yield line_of("plain, words", by_words)


def line_of(name: str, found: list[Quoted]) -> str:
    """Return shares in percent and the mean number of words."""
    count = len(found)
    right, some = sum(one.right for one in found), sum(one.words > 0 for one in found)
    words = sum(one.words for one in found) / max(1, some)
    shares = f"holds the answer {100 * right / count:5.1f}  quotes {100 * some / count:5.1f}"
    return f"{name:<14} {shares}  words {words:5.1f}"


def main() -> None:
    """Ask all, print all."""
    parser = argparse.ArgumentParser(description="Quote answers to questions whose answer is known.")
    parser.add_argument("--questions", type=int, default=1000, help="only the first so many of a set")
    parser.add_argument("sets", nargs="*", help=f"which of {', '.join(SETS)} (default: all)")
    options = parser.parse_args()
    locate_reranker()
    for name, whole in load_sets().items():
        if name in (options.sets or SETS):
            answers = load_answers(name)
            kept = tuple(one for one in whole.questions if one.id in answers)[: options.questions]
            chosen = QuestionSet(name=name, documents=whole.documents, questions=kept)
            print(f"\n{name}: {len(kept)} questions with an answer in words", flush=True)
            for line in measure(open_readers(build_index(whole), environment={}), chosen, answers):
                print(line, flush=True)


if __name__ == "__main__":
    main()
