"""What pages say that stand in for content: titles, sentences and words of notices (phrases.toml)."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

WORDS = 60
"""Words that a page may have to be known by its words alone."""

_DATA: Mapping[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_KINDS: list[dict[str, Any]] = _DATA["kinds"]

_WORD = re.compile(r"\w+")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_SIGN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Voice:
    """How a text speaks: distinct words of what failed and of what to do, and the share of words of notices.

    `addresses`: it speaks to a visitor, or of the people behind the site.
    """

    failed: int = 0
    asked: int = 0
    addresses: bool = False
    share: float = 0.0


def _phrases(kind: Mapping[str, str], name: str) -> list[str]:
    return [phrase for line in kind.get(name, "").splitlines() for phrase in line.split(" | ")]


def _reasons(name: str) -> Mapping[str, str]:
    return {phrase: kind["reason"] for kind in reversed(_KINDS) for phrase in _phrases(kind, name)}


PLAIN_KINDS = frozenset(kind["reason"] for kind in _KINDS if kind.get("plain"))
"""Kinds whose sentences no page has by chance; errors, logins and missing pages are widely spoken of."""

TITLES = _reasons("titles")
"""Reason by title."""

DEFAULT_TITLES = _reasons("default_titles")
"""Reason by title of a page that no site has as its own."""


def _by_key() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Sentences with their reasons by their longest word; those of languages without spaces have none."""
    keyed: dict[str, list[tuple[str, str]]] = {}
    for kind in _KINDS:
        for sentence in _phrases(kind, "sentences"):
            key = "" if _SIGN.search(sentence) else max(_WORD.findall(sentence), key=len)
            keyed.setdefault(key, []).append((sentence, kind["reason"]))
    return {key: tuple(sentences) for key, sentences in keyed.items()}


_SENTENCES = _by_key()
_STEMS = tuple(frozenset(_DATA["words"][group].split()) for group in ("failed", "asked", "place", "person"))
_SIGNS = tuple(frozenset(_DATA["signs"][group].split()) for group in ("failed", "asked"))
_LENGTHS = range(4, 1 + max(len(stem) for stems in _STEMS for stem in stems))


def find_sentences(text: str) -> list[str]:
    """Return the reason of each sentence that is in a text, in lower case, in the order of the text."""
    words = {"", *_WORD.findall(text)} & _SENTENCES.keys()
    candidates = (pair for word in words for pair in _SENTENCES[word])
    found = sorted(
        (at, sentence, reason) for sentence, reason in candidates if (at := text.find(sentence)) >= 0
    )
    return [reason for _, _, reason in found]


def hear(text: str) -> Voice:
    """Count the words of a short text, in lower case, of which notices are made."""
    if len(_SIGN.findall(text)) >= 8:
        failed, asked = (sum(sign in text for sign in signs) for signs in _SIGNS)
        return Voice(failed, asked, True, 1.0 if len(text) <= 2 * WORDS else 0.0)
    words = _PLAIN_WORD.findall(text)
    found: tuple[set[str], ...] = (set(), set(), set(), set())
    known = 0
    for word in words:
        hits = _hits(word)
        known += bool(hits)
        for group, stem in hits:
            found[group].add(stem)
    return Voice(len(found[0]), len(found[1]), bool(found[3]), known / len(words) if words else 0.0)


@lru_cache(maxsize=4096)
def _hits(word: str) -> tuple[tuple[int, str], ...]:
    """The groups that a word belongs to, with its stem in each."""
    return tuple((group, stem) for group, stems in enumerate(_STEMS) if (stem := _stem(word, stems)))


def _stem(word: str, stems: frozenset[str]) -> str | None:
    """The beginning of a word that is a stem; stems of fewer than four letters are whole words."""
    if word in stems:
        return word
    return next((word[:size] for size in _LENGTHS if size < len(word) and word[:size] in stems), None)
