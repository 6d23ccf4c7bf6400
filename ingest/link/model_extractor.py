"""Entities and statements by a language model, of which only those count that stand in the text."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from schemas.errors import ParseError, SitegraphError, Stopped
from schemas.extraction import Complete, Extraction, Message, Triple
from schemas.hashing import sha256_hex
from schemas.ids import normalise_text

MAX_NAMES = 24
MAX_TRIPLES = 12
MAX_PREDICATE = 60
MAX_FAILURES = 3
"""Failed answers in a row after which a run asks no more: the model is not there."""

PROMPT = (
    "You read one passage of a document. List the named things it speaks of (people, places, "
    "organisations, products, documents, components, terms), each exactly as it is written there, and the "
    "relations between them that the passage states. For each relation copy the words of the passage that "
    "state it. Add nothing that the passage does not say."
)

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["entities", "relations"],
    "properties": {
        "entities": {"type": "array", "items": {"type": "string"}},
        "relations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["subject", "predicate", "object", "text"],
                "properties": {
                    name: {"type": "string"} for name in ("subject", "predicate", "object", "text")
                },
            },
        },
    },
}


class AnswerCache(Protocol):
    """Answers of models that are kept, so that a text that stays is not asked about again."""

    def get(self, key: str) -> str | None:
        """The answer under a key, None where there is none."""

    def put(self, key: str, text: str) -> None:
        """Keep an answer."""


class ModelExtractor:
    """Keeps EntityExtractor by asking a model once for each text, and never again."""

    def __init__(
        self,
        complete: Complete,
        *,
        model: str,
        answers: AnswerCache,
        on_failure: Callable[[str, str], None],
        should_stop: Callable[[], bool],
    ) -> None:
        """*on_failure* is called with the subject and the message of each text that got no answer."""
        self._complete = complete
        self._key = sha256_hex(json.dumps([model, PROMPT, SCHEMA], sort_keys=True))
        self._answers = answers
        self._on_failure = on_failure
        self._should_stop = should_stop
        self._failures = 0

    @property
    def key(self) -> str:
        """Hash of the model's name, the prompt and the schema."""
        return self._key

    def extract(self, text: str) -> Extraction:
        """Return what the model finds and the text contains; nothing where the model does not answer.

        Raises: Stopped: *should_stop* said so before it was asked.
        """
        key = sha256_hex(f"{self._key}\n{text}")
        answer = self._answers.get(key)
        if answer is None:
            answer = self._ask(text)
            if answer is None:
                return Extraction()
            self._answers.put(key, answer)
        return read_answer(answer, text)

    def _ask(self, text: str) -> str | None:
        if self._failures >= MAX_FAILURES:
            return None
        if self._should_stop():
            raise Stopped("stopped; run again to continue", subject="SITEGRAPH_LLM_URL")
        messages: list[Message] = [{"role": "system", "content": PROMPT}, {"role": "user", "content": text}]
        try:
            answer = _require_text(self._complete(messages, SCHEMA))
        except SitegraphError as error:
            self._failures += 1
            self._on_failure(error.subject, error.message)
            return None
        self._failures = 0
        return answer


def _require_text(answer: str) -> str:
    if not _is_text(answer):
        raise ParseError("the model's answer contains a lone surrogate", subject="SITEGRAPH_LLM_URL")
    return answer


def _is_text(value: str) -> bool:
    """Whether it can be stored; JSON may escape half a character, a lone surrogate, which no encoding has."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_answer(answer: str, text: str) -> Extraction:
    """Read a model's answer; every name and every part of a statement must stand in *text* to count.

    What does not, what is of another shape and what is beyond the limits is counted as dropped. An answer
    that is no JSON object is one thing dropped.
    """
    try:
        record = json.loads(answer)
    except (ValueError, RecursionError):
        return Extraction(dropped=1)
    if not isinstance(record, dict):
        return Extraction(dropped=1)
    entities, relations = _list(record.get("entities")), _list(record.get("relations"))
    names = tuple(dict.fromkeys(_names(entities, text)))[:MAX_NAMES]
    triples = tuple(dict.fromkeys(_triples(relations, text)))[:MAX_TRIPLES]
    all_names = tuple(dict.fromkeys((*names, *(end for t in triples for end in (t.subject, t.object)))))
    given = len(entities) + len(relations)
    return Extraction(names=all_names, triples=triples, dropped=given - len(names) - len(triples))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _names(values: Iterable[object], text: str) -> Iterator[str]:
    return (value for value in values if isinstance(value, str) and _is_in(value, text))


def _triples(values: Iterable[object], text: str) -> Iterator[Triple]:
    for value in values:
        if isinstance(value, dict) and all(isinstance(value.get(key), str) for key in Triple.__slots__):
            triple = Triple(**{key: value[key] for key in Triple.__slots__})
            predicate = normalise_text(triple.predicate)
            if not 0 < len(predicate) <= MAX_PREDICATE or not _is_text(predicate):
                continue
            if triple.subject == triple.object:
                continue
            if _is_in(triple.text, text) and all(
                _is_in(end, triple.text) for end in (triple.subject, triple.object)
            ):
                yield Triple(
                    subject=triple.subject, predicate=predicate, object=triple.object, text=triple.text
                )


def _is_in(part: str, text: str) -> bool:
    return bool(part.strip()) and part == part.strip() and part in text
