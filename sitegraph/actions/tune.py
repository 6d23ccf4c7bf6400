"""Questions with known answers: their files, the weights fitted to them, the hard negatives they give."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from indexes.reader_parts import locate_reranker, save_tuning
from indexes.wiring import Readers
from retrieval.checks.examine import cited_document
from retrieval.evidence import build_retriever
from retrieval.learning.negatives import Wanted, followed_questions, mine_negatives
from retrieval.learning.questions import Captured, KnownQuestion, capture, read_questions
from retrieval.learning.tuning import Tuning, tune_blend
from retrieval.learning.usage import Usage
from retrieval.ranking.score import WEIGHTS
from runtime.settings import naming_file
from runtime.yaml_files import parse_checks
from schemas.errors import ConfigError, GuardRefused
from schemas.evidence import Scores
from schemas.ids import sha256_hex
from schemas.records import to_record
from schemas.report import Check

_YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """The questions of a file, and the hash of its bytes."""

    name: str
    sha256: str
    questions: tuple[KnownQuestion, ...]


def load_questions(path: Path) -> QuestionFile:
    """Read a `.yaml` file as a list, or as checks, whose cited documents are the gold; others as JSON lines.

    Raises: ConfigError: it cannot be read, or is not what it should be; the message names line or question.
    """
    with naming_file(path, "cannot be read"):
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    records = _from_yaml(text, path) if path.suffix in _YAML else _from_lines(text, path)
    questions = read_questions(records, subject=str(path))
    return QuestionFile(name=path.name, sha256=sha256_hex(data), questions=questions)


def _from_lines(text: str, path: Path) -> list[Any]:
    records: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except RecursionError as error:
                raise ConfigError(f"line {number}: JSON is nested too deep", subject=str(path)) from error
            except ValueError as error:
                raise ConfigError(f"line {number} is not JSON", subject=str(path)) from error
    return records


def _from_yaml(text: str, path: Path) -> list[Any]:
    try:
        records = yaml.safe_load(text)
    except RecursionError as error:
        raise ConfigError("YAML is nested too deep", subject=str(path)) from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that no calendar has
        raise ConfigError("is not YAML", subject=str(path)) from error
    if isinstance(records, dict) and "questions" in records:
        return list(_from_checks(parse_checks(text, subject=str(path))))
    if not isinstance(records, list):
        raise ConfigError("must be a list of questions", subject=str(path))
    return records


def _from_checks(checks: Iterable[Check]) -> Iterator[dict[str, Any]]:
    """Checks that name no document, or that nothing may answer, have no gold."""
    for one in checks:
        gold = [name for entry in one.cites if (name := cited_document(entry))]
        if gold:
            yield {"id": one.id, "question": one.question, "gold": gold}


def negative_rows(readers: Readers, usage: Usage, questions: QuestionFile | None) -> Iterator[dict[str, Any]]:
    """Yield rows of anchor, positive and negative, as sentence-transformers trains on them.

    Raises: ConfigError: the cross-encoder is not installed, or nothing was ever followed and no file given.
    """
    known = questions.questions if questions else ()
    wanted = (*followed_questions(usage), *(Wanted(text=one.text, documents=one.gold) for one in known))
    if not wanted:
        raise ConfigError(
            "no citation was ever followed; give questions with known answers: --questions FILE",
            subject="negatives",
        )
    locate_reranker()
    assert readers.reranker is not None, "it was located"
    triplets = mine_negatives(
        wanted, build_retriever(readers).walk, chunks=readers.chunks, reranker=readers.reranker
    )
    return map(asdict, triplets)


DOCUMENTS = 10
"""As many as the default `top_k` of a check has passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedIndex:
    """A tuning of one generation; `unreached` are the questions of which no gold is among the candidates.

    `answered` are those all of whose gold is among the first ten documents with the weights in use.
    """

    index: Path
    generation: int
    file: QuestionFile
    tuning: Tuning
    unreached: tuple[str, ...]
    answered: tuple[KnownQuestion, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return all of it as JSON-ready values."""
        return {
            "questions": {
                "file": self.file.name,
                "sha256": self.file.sha256,
                "count": len(self.file.questions),
                "unreached": list(self.unreached),
            },
            "generation": self.generation,
            **to_record(self.tuning),
        }


def tune_index(readers: Readers, file: QuestionFile, *, on_asked: Callable[[], None]) -> TunedIndex:
    """Ask each question of *file* once and fit the weights of the blend; changes nothing.

    Args: on_asked: called after each question.
    """
    retriever = build_retriever(readers)
    captured: list[Captured] = []
    for question in file.questions:
        captured.append(capture(question, retriever.walk))
        on_asked()
    weights = readers.weights or WEIGHTS
    return TunedIndex(
        index=readers.index,
        generation=readers.generation,
        file=file,
        tuning=tune_blend(captured, current=weights),
        unreached=tuple(one.question.id for one in captured if not _reaches(one)),
        answered=tuple(one.question for one in captured if _answers(one, weights)),
    )


def _reaches(one: Captured) -> bool:
    return not set(one.question.gold).isdisjoint(one.keys.values())


def _answers(one: Captured, weights: Scores) -> bool:
    return set(one.question.gold) <= set(one.rank_documents(weights)[:DOCUMENTS])


def write_checks(tuned: TunedIndex, path: Path) -> None:
    """Write the questions that are answered as a file of checks, to be kept so.

    Raises: ConfigError: there is a file of this name, which may be somebody's work, or none can be written.
    """
    questions = [{"id": one.id, "question": one.text, "cites": list(one.gold)} for one in tuned.answered]
    text = yaml.safe_dump({"questions": questions}, sort_keys=False, allow_unicode=True)
    if path.exists():
        raise ConfigError("already exists; name another file", subject=str(path))
    with naming_file(path, "cannot be written"), path.open("x", encoding="utf-8") as file:
        file.write(text)


def apply_tuning(tuned: TunedIndex, *, timestamp: str) -> Path:
    """Store the fitted weights beside the index, for readers that open it from now on; give the file.

    Raises: GuardRefused: the held-out questions do not confirm them.
    """
    if not tuned.tuning.accepted:
        raise GuardRefused(f"nothing was stored: {tuned.tuning.reason}", subject=tuned.file.name)
    return save_tuning(tuned.index, tuned.tuning.after, {"tuned_at": timestamp, **tuned.record()})
