"""Sentences and clauses of a text, and their words in a form in which they compare."""

import re
from dataclasses import dataclass
from functools import lru_cache

from retrieval.verify.lexicon import EMPTY, IRREGULAR

_SENTENCE_END = re.compile(r"(?<=[.!?])(?<![\s(.][A-Z]\.)[\"”’)]*\s+(?=[^\sa-z]|\w+_)|\n+")
_OPENER = (
    r"(?:but|because|since|although|though|while|whereas|which|who|unless|until|otherwise|if|when|as\s+long\s+as|"
    r"so\s+that|provided|once\s+(?!per\b|an?\b|every\b|more\b)|without\s+\w+ing)"
)
_AUXILIARY = (
    r"(?:is|are|was|were|be|been|can|could|may|might|must|shall|should|will|would|do|does|did|has|have|had|not|no|"
    r"never|it|they|he|she|we|you|then|afterwards)"
)
_BREAK = re.compile(
    rf"[;:]\s+|,\s+(?!\d|(?:or|nor)\s+(?:for|in|on|at|by|to|of|from|with)\b)|(?<!\bat)(?<!\s)\s+(?={_OPENER}\b)"
    rf"|(?<!\s)\s+(?=then\b)|(?<!\s)\s+(?=that\s+{_AUXILIARY}\b)|(?<!\s)\s+and\s+(?=(?:\w+\s+)?{_AUXILIARY}\b)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"\s*(?!(?:and|but|then|afterwards)\s+(?:the\b|an?\b|(?-i:[A-Z])))"
    rf"(?:(?:and|but|with|without|by|at|in|on|for)\b|{_AUXILIARY}\b)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\(([^()]*)\)\s*")
_WORD = re.compile(r"[^\W_][\w=+#^.:/-]*[^\W]|[^\W_]")
_SUFFIX = re.compile(
    r"(?<=\w{3})(?:isation|ization|ations?|ments?|ions?|ings?|edly|ed|ers?|ies|es|s|ly|y|e)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a sentence that says one thing, in folded words.

    `before` is what a clause that has no subject of its own ("and must not be used") goes on from.
    """

    text: str
    words: tuple[str, ...]
    before: tuple[str, ...] = ()

    @property
    def stems(self) -> frozenset[str]:
        """Stems of the words, without those that only join others."""
        return _stems(self.words)


@lru_cache(maxsize=4096)
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in EMPTY)


def split_sentences(text: str) -> tuple[str, ...]:
    """Cut a text after full stops that a capital follows, and at line ends."""
    return tuple(part.strip() for part in _SENTENCE_END.split(text) if re.search(r"\w", part))


@lru_cache(maxsize=4096)
def split_clauses(sentence: str) -> tuple[Clause, ...]:
    """Cut a sentence at commas, semicolons and the words that open a clause."""
    found: list[Clause] = []
    for part in _BREAK.split(_spell_out(sentence)):
        if words := words_of(part):
            before = found[-1].words if found and _GOES_ON.match(part) else ()
            found.append(Clause(text=part.strip(), words=words, before=before))
    return tuple(found)


def put_asides_last(sentence: str) -> str:
    """Return a sentence with what stands in brackets at its end, where it parts no words from each other."""
    asides = _ASIDE.findall(sentence)
    return "; ".join((_ASIDE.sub(" ", sentence), *asides)) if asides else sentence


def whole(sentence: str) -> Clause:
    """Return a sentence as one clause."""
    return Clause(text=sentence, words=words_of(_spell_out(sentence)))


def words_of(text: str) -> tuple[str, ...]:
    """Return the folded words of *text*, identifiers whole."""
    return tuple(match[0].casefold() for match in _WORD.finditer(text))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Take off the commonest English endings, so that forms of a word compare."""
    base = IRREGULAR.get(word, word)
    if len(base) <= 3 or not base.isalpha():
        return base
    cut = _SUFFIX.sub("", base)
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] else cut


def is_empty(word: str) -> bool:
    """Whether a word only joins others."""
    return word in EMPTY


def _spell_out(text: str) -> str:
    """Return `cannot` and `doesn't` their `not` as a word of its own."""
    plain = text.replace("’", "'")
    plain = re.sub(r"\b(can)(?:not|'t)\b", r"\1 not", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\bwon't\b", "will not", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\b(?:nothing|none|nobody|no\s+one)\s+but\b", "only", plain, flags=re.IGNORECASE)
    plain = re.sub(r"\b(?:leave|leaves|left|leaving)\s+out\b", "omit", plain, flags=re.IGNORECASE)
    plain = re.sub(r"(?<=\w\s)None\b", "null", plain)  # a value, and no denial
    plain = re.sub(r"\bfree\s+of\b", "without", plain, flags=re.IGNORECASE)
    return re.sub(r"n't\b", " not", plain)
