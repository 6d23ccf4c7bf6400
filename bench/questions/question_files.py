"""Question files: what is asked of a set of documents, where the answer stands, and what it must hold.

Written from the documents before any search was run. Odd numbers are for development, even ones for reports.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FILES = Path(__file__).with_name("sets")
ASKED_SETS = tuple(sorted(file.stem for file in FILES.glob("*.yaml")))
"""Sets of documents with questions of our own."""
KINDS = (
    "howto",
    "definition",
    "lookup",
    "table",
    "comparison",
    "relation",
    "paraphrase",
    "unanswerable",
)
UNANSWERABLE = "unanswerable"
_KEYS = {"id", "question", "entries", "facts", "why"}
_PLACE = re.compile(r"[^#\s]+\.(?:html?#?.*|pdf#page=[1-9]\d*)")


class BadQuestionFile(ValueError):
    """A question file breaks its format; the message names the file, the question and the key."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One place that an answer needs: the most specific, and others at which a citation is accepted too."""

    at: str
    also: tuple[str, ...] = ()

    @property
    def places(self) -> frozenset[str]:
        """Every place that counts as this entry."""
        return frozenset((self.at, *self.also))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question with its gold: all of `entries` answer it together, and of each of `facts` one wording."""

    id: str
    kind: str
    number: int
    text: str
    entries: tuple[Entry, ...]
    facts: tuple[tuple[str, ...], ...]

    @property
    def held_out(self) -> bool:
        """Whether it is asked to report only."""
        return self.number % 2 == 0


def load_questions(name: str, *, folder: Path = FILES) -> tuple[AskedQuestion, ...]:
    """Read the questions of one set, in the order of the file.

    Raises: BadQuestionFile: with the file, the question and what is wrong.
    """
    path = folder / f"{name}.yaml"
    try:
        records = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise BadQuestionFile(f"{path.name}: {error}") from error
    if not isinstance(records, list) or not records:
        raise BadQuestionFile(f"{path.name}: must be a list of questions")
    questions = tuple(_question(name, record) for record in records)
    for field in ("id", "text"):
        twice = [key for key, n in Counter(getattr(one, field) for one in questions).items() if n > 1]
        if twice:
            raise BadQuestionFile(f"{path.name}: {twice[0]!r} stands there twice")
    return questions


def _question(name: str, record: Any) -> AskedQuestion:
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        raise BadQuestionFile(f"{name}: every question is an object with an id, not {record!r}")
    where = f"{name}: {record['id']}"
    if unknown := sorted(record.keys() - _KEYS):
        raise BadQuestionFile(f"{where}: unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    match = re.fullmatch(rf"{re.escape(name)}-({'|'.join(KINDS)})-(\d+)", record["id"])
    if match is None:
        raise BadQuestionFile(f"{where}: an id is {name}-KIND-NUMBER; kinds: {', '.join(KINDS)}")
    text = record.get("question")
    if not isinstance(text, str) or not text.strip():
        raise BadQuestionFile(f"{where}: question is empty")
    question = AskedQuestion(
        id=record["id"],
        kind=match[1],
        number=int(match[2]),
        text=" ".join(text.split()),
        entries=tuple(_entries(where, record.get("entries"))),
        facts=tuple(_facts(where, record.get("facts"))),
    )
    answered = question.kind != UNANSWERABLE
    if answered != bool(question.entries) or answered != bool(question.facts):
        raise BadQuestionFile(f"{where}: entries and facts go with every kind but {UNANSWERABLE}")
    if not answered and not record.get("why"):
        raise BadQuestionFile(f"{where}: why do the documents not answer it?")
    return question


def _entries(where: str, listed: Any) -> Iterator[Entry]:
    if not isinstance(listed, list):
        raise BadQuestionFile(f"{where}: entries must be a list")
    for one in listed:
        places = [one.get("at"), *(one.get("also") or [])] if isinstance(one, dict) else [None]
        for place in places:
            if not isinstance(place, str) or not _PLACE.fullmatch(place):
                raise BadQuestionFile(
                    f"{where}: a place is page.html#fragment or file.pdf#page=N, not {place!r}"
                )
        yield Entry(places[0], tuple(places[1:]))


def _facts(where: str, listed: Any) -> Iterator[tuple[str, ...]]:
    if not isinstance(listed, list):
        raise BadQuestionFile(f"{where}: facts must be a list")
    for one in listed:
        wordings = one if isinstance(one, list) else [one]
        if not wordings or not all(isinstance(word, str) and word.strip() for word in wordings):
            raise BadQuestionFile(f"{where}: a fact is a list of wordings, not {one!r}")
        yield tuple(wordings)
