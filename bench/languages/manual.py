"""Questions in three languages to a manual in five, of one index: `python -m bench.languages.manual INDEX`.

INDEX is of the chapters of Debian's Developer's Reference in HTML, as the packages `developers-reference`,
`-de`, `-fr`, `-ru` and `-ja` have them, without the pages that hold all in one: one source of kind `files`,
encoded by `multilingual-e5-small`. A passage in the language of the question answers it that has all strings
it must.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from indexes.wiring import OpenedStores, readers_of
from retrieval.evidence import build_retriever
from retrieval.question.query import build_query
from schemas.nodes import Chunk
from schemas.settings import Settings

LANGUAGES = ("de", "fr", "ru")
SHOWN = 10

Question = Mapping[str, Any]


def load_questions() -> Sequence[Question]:
    """Return the questions, each in all languages, with what a passage must hold to answer it."""
    path = Path(__file__).with_suffix(".yaml")
    questions: Sequence[Question] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return questions


def answering(chunks: Sequence[Chunk], question: Question, language: str) -> frozenset[str]:
    """Return the ids of the chunks in a language that answer a question."""
    own = (one for one in chunks if (one.lang or "").partition("-")[0] == language)
    texts = ((one.id, " ".join((*one.heading_path, one.text)).casefold()) for one in own)
    return frozenset(key for key, text in texts if all(part.casefold() in text for part in question["holds"]))


def ask_all(index: Path) -> Mapping[str, int | None]:
    """Return the rank, from 0, of the first passage that answers each question; None: not among ten."""
    readers, ranks = readers_of(OpenedStores(index, Settings())), dict[str, int | None]()
    chunks, retriever = tuple(readers.chunks.scan()), build_retriever(readers)
    for number, question in enumerate(load_questions()):
        for language in LANGUAGES:
            if right := answering(chunks, question, language):
                found = retriever.retrieve(
                    build_query(question[language], top_k=SHOWN, rerank=False)
                ).evidence
                places = (place for place, one in enumerate(found) if one.chunk_id in right)
                ranks[f"{number}-{language}"] = next(places, None)
    return ranks


def main() -> None:
    """Ask an index, and print what was found: a table, then each rank as JSON."""
    ranks = ask_all(Path(sys.argv[1]))
    print("| questions | hit@1 | R@3 | R@10 | MRR |\n|---|---|---|---|---|")
    for language in (*LANGUAGES, ""):
        own = [rank for key, rank in ranks.items() if key.endswith(language)]
        within = (fmean(rank is not None and rank < most for rank in own) for most in (1, 3, SHOWN))
        mean = fmean(0 if rank is None else 1 / (1 + rank) for rank in own)
        print(f"| {language or 'all'} | " + " | ".join(f"{100 * one:.1f}" for one in (*within, mean)) + " |")
    print(json.dumps(ranks))


if __name__ == "__main__":
    main()
