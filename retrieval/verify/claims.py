"""Sentences that claim more than a passage: all for some, only, even if; another time or count."""

import re
from collections.abc import Iterator

from retrieval.verify.clauses import is_empty, split_sentences, stem
from retrieval.verify.lexicon import SMALL_NUMBERS
from retrieval.verify.near_copy import repeated

_ALL = r"all|every|everyone|everybody|always|entirely|completely|fully|whole"
_ALL_TOO = (
    rf"{_ALL}|everything|any|anyone|anything|each|both|never|no|none|whatever|general(?:ly)?|throughout"
)
_ONLY = r"only|solely|exclusively"
_ONLY_TOO = (
    rf"{_ONLY}|just|unless|until|except|alone|single|limited|restricted|requires?|required|needs?"
    r"|nothing else|no other|but|once|single|instead|merely"
)
_PART = frozenset({"some", "many", "most", "several", "few"})
_BEFORE = r"until|before|up to|prior to|older than|earlier than|and older|and earlier|or older"
_AFTER = r"since|after|as of|from|starting with|onwards?|and later|and newer|or newer|later than|newer than"
_COUNT = {word: value for value, word in enumerate(SMALL_NUMBERS)} | {"once": 1, "twice": 2, "thrice": 3}


_DIGITS_MAX = 20
"""Of a number that counts things; one of thousands of digits is none, and Python refuses to read it."""
_COUNT_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W_][\w'-]*")


def claims_more(sentence: str, passage: str) -> str | None:
    """Say what *sentence* claims of all, alone or in any case and *passage* does not, or None."""
    part = repeated(sentence, passage)
    if part and (word := _word(_ALL, sentence)) and not _word(_ALL_TOO, part):
        return f"{word} is more than it says"
    if (found := _of_some(sentence, passage)) is not None:
        return found
    owned = _word("can|may|could", sentence) and _word("must", part)
    if (
        part
        and not owned
        and (word := _word(rf"(?:{_ONLY})(?=\s+\w)", sentence))
        and not _word(_ONLY_TOO, part)
    ):
        return f"it does not say {word}"
    if (
        _word(r"even (?:if|when|though)", sentence)
        and _word("unless", passage)
        and not _word("even", passage)
    ):
        return "it says unless"
    return None


def _word(words: str, text: str) -> str | None:
    match = re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)
    return match[0].casefold() if match else None


def _of_some(sentence: str, passage: str) -> str | None:
    """Say where a sentence has all, or no, things of which the passage has some, many or most."""
    for match in re.finditer(
        r"\b(all|every|each|no)\s+(?:of\s+)?(?:the\s+)?([a-z]{3,})", sentence, re.IGNORECASE
    ):
        thing = stem(match[2].casefold())
        found = {
            one[1].casefold()
            for one in re.finditer(r"\b(?=(\w+)\s+(?:of\s+)?(?:the\s+)?([a-z]{3,}))", passage, re.IGNORECASE)
            if stem(one[2].casefold()) == thing
        }
        if found & _PART and not found & {
            "all",
            "every",
            "each",
            "any",
            "no",
        }:
            return f"it says so of {sorted(found & _PART)[0]} {match[2]}"
    return None


def other_time(sentence: str, passage: str) -> str | None:
    """Return the number or version that *sentence* and *passage* stand on other sides of: until, since."""
    mine, theirs = dict(_sides(sentence)), dict(_sides(passage))
    return next((one for one, side in mine.items() if theirs.get(one, side) != side), None)


def _sides(text: str) -> Iterator[tuple[str, str]]:
    number = r"(?:v|version\s|release\s)?(\d[\w.]*\w|\d)"
    name = r"(?:[A-Z]\w+\s+){0,3}(?:release\s+|version\s+)?"
    for words, side in ((_BEFORE, "before"), (_AFTER, "after")):
        for match in re.finditer(rf"\b(?i:{words})\s+(?:the\s+)?{name}{number}", text):
            yield match[1], side
        # From the first digit on, once a word: of a long one each digit would be tried up to its end.
        for match in re.finditer(
            rf"(?<![\w.])(?:[^\W\d]|\.)*+(\d[\w.]*\w|\d)(?:\s*\([^)]*\))?\s+(?:{words})\b(?!\s+\d)", text
        ):
            if not match[0].endswith(("until", "before", "from", "since", "after")):
                yield match[1], side


def other_count(sentence: str, passage: str) -> str | None:
    """Return the small number that *passage* has beside a word where *sentence* has another, or None."""
    mine, theirs = list(_counted(sentence, spelled=True)), list(_counted(passage))
    for value, beside in mine:
        if value == 1 and beside[0] == "before":
            continue  # "one" is mostly a pronoun
        there = {other for other, same in theirs if same == beside}
        if there and value not in there:
            return f"{sorted(there)[0]} {beside[1]}"
    return None


def _counted(text: str, *, spelled: bool = False) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield each number in words with what stands beside it: major flaws after two, stored before once."""
    for part in split_sentences(text):
        words = [word.casefold() for word in _COUNT_WORD.findall(part)]
        for at, word in enumerate(words):
            digits = word.replace(",", "")
            value = int(digits) if digits.isdecimal() and len(digits) <= _DIGITS_MAX else _COUNT.get(word)
            if value is None or (spelled and word not in _COUNT):
                continue
            adverb = word in ("once", "twice", "thrice")
            if not adverb and at + 1 < len(words) and not is_empty(words[at + 1]):
                yield value, ("before", stem(words[at + 1]))
            before = [one for one in words[max(0, at - 2) : at] if not is_empty(one) and one != "only"]
            joined = adverb or (at and words[at - 1] in ("to", "is", "only"))
            if before and joined:
                yield value, ("after", stem(before[-1]))
