"""The question sets of the data folder: a folder of documents each, and questions with gold documents.

A passage becomes one Markdown file with its title as heading, so that the real pipeline indexes it. Gold is
a file's name; for PDFs a file's name and a page.
"""

import ast
import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.real_sites import DATA

QA = DATA / "qa"
WIKI_PASSAGES = 780
"""The setting in which others report 2Wiki."""
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question; `gold` are the keys of the documents that answer it together."""

    id: str
    text: str
    gold: frozenset[str]
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """Documents to index, by file name (text or a file to copy), and the questions over them."""

    name: str
    documents: dict[str, str | Path]
    questions: tuple[Question, ...]

    def write(self, folder: Path) -> None:
        """Write the documents into *folder*."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.documents.items():
            if isinstance(content, Path):
                shutil.copyfile(content, folder / name)
            else:
                (folder / name).write_text(content, encoding="utf-8")


def load_sets() -> dict[str, QuestionSet]:
    """Read all sets, by name."""
    return {one.name: one for one in (_wiki(), _hotpot(), _musique(), _pages())}


def load_answers(name: str) -> dict[str, tuple[str, ...]]:
    """Return the answers of a set's questions by id, those by yes or no left out; none where it has none."""
    folder = {"hotpot": "hotpotqa-train100", "musique": "musique-train100"}.get(name)
    listed = _read(f"{folder}/questions.json") if folder else []
    found = {
        one.get("_id") or one.get("id") or str(index): (one["answer"], *one.get("answer_aliases", ()))
        for index, one in enumerate(listed)
    }
    return {id_: answers for id_, answers in found.items() if answers[0].casefold() not in {"yes", "no"}}


def _wiki() -> QuestionSet:
    passages = [(one["title"], one["text"]) for one in _read("2wiki-101/corpus.json")[:WIKI_PASSAGES]]
    questions = [
        Question(id=one["id"], text=one["question"], gold=_files(one["gold_idx"]))
        for one in _read("2wiki-101/questions.json")
    ]
    return QuestionSet(name="2wiki", documents=_markdown(passages), questions=tuple(questions))


def _hotpot() -> QuestionSet:
    corpus = _read("hotpotqa-train100/corpus.json")
    number = {title: index for index, title in enumerate(corpus)}
    questions = [
        Question(
            id=one.get("_id") or one.get("id") or str(index),
            text=one["question"],
            gold=_files({number[title] for title, _ in one["supporting_facts"]}),
        )
        for index, one in enumerate(_read("hotpotqa-train100/questions.json"))
    ]
    passages = [(title, "".join(sentences)) for title, sentences in corpus.items()]
    return QuestionSet(name="hotpot", documents=_markdown(passages), questions=tuple(questions))


def _musique() -> QuestionSet:
    passages = [(one["title"], one["text"]) for one in _read("musique-train100/corpus.json")]
    number = {passage: index for index, passage in enumerate(passages)}
    questions = [
        Question(
            id=one["id"],
            text=one["question"],
            gold=_files(
                {
                    number[part["title"], part["paragraph_text"]]
                    for part in one["paragraphs"]
                    if part["is_supporting"]
                }
            ),
        )
        for one in _read("musique-train100/questions.json")
    ]
    return QuestionSet(name="musique", documents=_markdown(passages), questions=tuple(questions))


def _pages() -> QuestionSet:
    questions = [
        Question(
            id=f"{one['doc_id']}:{index}",
            text=one["question"],
            gold=frozenset(page_key(one["doc_id"], page) for page in ast.literal_eval(one["evidence_pages"])),
            file=one["doc_id"],
        )
        for index, one in enumerate(_read("mmlongbench/questions.json"))
    ]
    files = {path.name: path for path in sorted((QA / "mmlongbench" / "pdfs").glob("*.pdf"))}
    return QuestionSet(name="mmlongbench", documents=dict(files), questions=tuple(questions))


def page_key(file: str, page: int) -> str:
    """Name a page of a PDF as gold does."""
    return f"{file} p. {page}"


def _files(numbers: Iterable[int]) -> frozenset[str]:
    return frozenset(_file(number) for number in numbers)


def _file(number: int) -> str:
    return f"p{number:05}.md"


def _markdown(passages: Iterable[tuple[str, str]]) -> dict[str, str | Path]:
    return {
        _file(number): f"# {_escape(title)}\n\n{_escape(text)}\n"
        for number, (title, text) in enumerate(passages)
    }


def _escape(text: str) -> str:
    """Have every sign mean itself (CommonMark 2.4)."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def _read(path: str) -> Any:
    return json.loads((QA / path).read_text(encoding="utf-8"))
