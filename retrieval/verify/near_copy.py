"""Sentences that repeat one of the passage but for a word, and sentences that claim more than it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from retrieval.verify.clauses import NEGATORS, OPENERS, SMALL_NUMBERS, is_filler, split_sentences, stem
from retrieval.verify.polarity import denies

TAKEN_OVER = 0.7
"""Least share of a sentence's telling words that a sentence of the passage has."""
CLOSE = 0.8
"""The same for a sentence that claims more than the passage."""
SHARED = 3
"""Fewest telling words that both have."""
PUT_IN = 2
"""Most words in a slot: what has more is worded anew."""

_TOKEN = re.compile(r"[‘'“\"](?:on|off|yes|no)[’'”\"]|\w[\w.+#@=/-]*\w|\w", re.IGNORECASE)
_WORDS = re.compile(r"\w[\w.+#@=/-]*\w|\w")
_TO = frozenset({"unlike", "to", "of", "into", "than", "by", "from"})
_QUOTES = "‘’'“”\""
_DENYING = frozenset({*NEGATORS, "fails", "fail", "failed"})
DENIAL = "¬"
_HEDGED = re.compile(
    r"\b(?:only|until|unless|even|no other|nothing|none|better|rather|consider|so that"
    r"|(?:refus|prohib|forbid|prevent|reject|denie|denia|exclu|omit|avoid|bypass|skip|lack)\w*"
    r"|(?:remov|drop|withdr|discontin|abolish)\w*)\b",
    re.IGNORECASE,
)
"""Where yes and no cannot be told by one word."""
_VERB = re.compile(r"(?:ing|ed|s)$")
_SWITCHES = ({"on", "off"}, {"yes", "no"}, {"tru", "fals"}, {"true", "false"})
_NAME = re.compile(r"\w[-_.+/]\w|[a-z]\d|\d[a-z]")
"""What is written as an identifier."""
_BEFORE_THINGS = frozenset(
    re.findall(
        r"\w+",
        """a an the this that these those its their his her in on at of for from by with into and or as than
        per via through under over no any some each every other another unlike like only between within""",
    )
)
_LOOSE = frozenset(
    stem(word)
    for word in re.findall(
        r"\w+",
        """once time times itself themselves yourself across over along around together ve whoever whatever
        anyone allow
        allows allowed permit permits permitted instead until later better newer higher greater older thing
        things way ways kind kinds use uses used using given call called still just simply really actually
        then there here well able may can have has get gets want like mean means also too very much""",
    )
)
"""Words that add nothing a passage would have to say."""


@dataclass(frozen=True, slots=True)
class _Token:
    """A telling word: its stem, and the word that stands before it, folded."""

    stem: str
    after: str
    form: str


@dataclass(frozen=True, slots=True)
class _Slot:
    """What a sentence has between two runs of equal words, and what the passage has there."""

    mine: tuple[_Token, ...]
    theirs: tuple[_Token, ...]
    followed: bool


def put_in_place(sentence: str, passage: str) -> str | None:
    """Return the word of *passage* in whose place *sentence* has another, or None.

    Only words behind the same article, preposition or noun are told apart, since verbs have many synonyms.
    A sentence that differs in two places is worded anew.
    """
    said = _tokens(sentence)
    everywhere = {form for one in _tokens(passage) for form in _forms(one.stem)}
    for part in split_sentences(passage):
        stated = _tokens(part)
        if switched := _switched(said, stated):
            return switched
        if not _follows(said, stated):
            continue
        there = {one.stem for one in stated}
        slots = [slot for slot in _slots(said, stated) if _adds(slot, there)]
        if len(slots) == 1 and (found := _replaced(slots[0], said, everywhere)):
            return found
    return None


def denied_copy(sentence: str, passage: str) -> str | None:
    """Return the part of *passage* that *sentence* repeats but for a "not" in one of the two, or None."""
    said = _tokens(sentence)
    for part in split_sentences(passage):
        stated = _tokens(part)
        if _HEDGED.search(f"{sentence} {part}") or denies(sentence) == denies(part):
            continue
        if not _follows(said, stated) or (_denies(said) == _denies(stated)):
            continue
        for slot in _slots(said, stated):
            more = slot.theirs if _denies(stated) else slot.mine
            if slot.followed and more and more[-1].stem == DENIAL:
                return part
    return None


def reversed_order(sentence: str, passage: str) -> str | None:
    """Return what *passage* has behind a preposition where *sentence* has another of its words.

    "a subset of B" for "a subset of A" where A and B are in both; "unlike B, A" for "unlike A, B".
    """
    said = _joined(sentence)
    words = {stem(word) for word in _WORDS.findall(sentence.casefold())}
    for part in split_sentences(passage):
        theirs = {stem(word) for word in _WORDS.findall(part.casefold())}
        for key, mine in said.items():
            there = _joined(part).get(key, frozenset())
            apart = bool(mine and there) and not mine & there and there <= words
            if apart and (mine <= theirs or key[1] == "unlike"):
                return sorted(there)[0]
    return None


def _joined(text: str) -> dict[tuple[str, str], frozenset[str]]:
    """Return what stands behind a preposition, by it and by the word before it; "unlike" needs none."""
    found: dict[tuple[str, str], set[str]] = {}
    words = [
        word for word in _WORDS.findall(text.casefold()) if word not in ("the", "a", "an", "this", "its")
    ]
    for at, word in enumerate(words[:-1]):
        if word in _TO and not is_filler(words[at + 1]):
            before = "" if word == "unlike" else stem(words[at - 1]) if at else ""
            if before or word == "unlike":
                found.setdefault((before, word), set()).add(stem(words[at + 1]))
    return {key: frozenset(things) for key, things in found.items()}


def _tokens(text: str) -> tuple[_Token, ...]:
    """Return words in order, without those that only join others; all that denies is one word."""
    plain = re.sub(r"\b(can)not\b", r"\1 not", re.sub(r"n['’]t\b", " not", text))
    found: list[_Token] = []
    before = ""
    for match in _TOKEN.finditer(plain):
        word = match[0].casefold().strip(_QUOTES)
        if word in _DENYING:
            found.append(_Token(DENIAL, before, word))
        elif match[0][0] in _QUOTES or not is_filler(word):
            found.append(_Token(stem(word), before, word))
        before = word
    return tuple(found)


def _tells(one: _Token) -> bool:
    if one.form in OPENERS:
        return False
    return one.stem not in _LOOSE and one.stem != DENIAL and len(one.stem) > 1 and not one.stem.isdecimal()


def _denies(words: tuple[_Token, ...]) -> bool:
    return sum(one.stem == DENIAL for one in words) % 2 == 1


def _follows(said: tuple[_Token, ...], stated: tuple[_Token, ...], *, share: float = TAKEN_OVER) -> bool:
    mine = {one.stem for one in said if _tells(one)}
    shared = mine & {one.stem for one in stated}
    return len(shared) >= SHARED and len(shared) >= share * len(mine)


def repeated(sentence: str, passage: str) -> str:
    """Return the sentence of *passage* that has .8 of the telling words of *sentence*, else an empty text."""
    said = _tokens(sentence)
    return next((one for one in split_sentences(passage) if _follows(said, _tokens(one), share=CLOSE)), "")


def _slots(said: tuple[_Token, ...], stated: tuple[_Token, ...]) -> Iterator[_Slot]:
    mine, theirs = ([one.stem for one in words] for words in (said, stated))
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    for at, (kind, i1, i2, j1, j2) in enumerate(blocks):
        if kind != "equal":
            yield _Slot(said[i1:i2], stated[j1:j2], followed=at + 1 < len(blocks))


def _switched(said: tuple[_Token, ...], stated: tuple[_Token, ...]) -> str | None:
    """Return "on" where the same words have "off", in sentences that say little else."""
    mine, theirs = ({one.stem for one in words} for words in (said, stated))
    for pair in _SWITCHES:
        if (
            len(pair & mine) == len(pair & theirs) == 1
            and pair & mine != pair & theirs
            and mine - pair <= theirs
        ):
            return min(pair & theirs)
    return None


def _adds(slot: _Slot, there: set[str]) -> bool:
    """Whether a slot of the sentence has a word that its passage has not in this sentence, or a name."""
    names = any(_NAME.search(one.stem) for one in slot.mine) and any(
        _NAME.search(o.stem) for o in slot.theirs
    )
    return names or any(_tells(one) and one.stem not in there for one in slot.mine)


def _replaced(slot: _Slot, said: tuple[_Token, ...], everywhere: set[str]) -> str | None:
    """Return what a slot of the passage has where the sentence has a word from nowhere, or from elsewhere."""
    here = {one.stem for one in said}
    mine = [one for one in slot.mine if _tells(one)]
    theirs = [one for one in slot.theirs if _tells(one) and one.stem not in here]
    if not theirs or not mine or max(len(mine), len(theirs) - 1) > PUT_IN:
        return None
    named = [one.stem for one in theirs if _NAME.search(one.stem)]
    if _NAME.search(mine[0].stem) and named and mine[0].stem in everywhere:
        return named[-1]
    new = any(not any(form in everywhere for form in _forms(one.stem)) for one in mine)
    same = new and len(mine) == len(theirs) and _are_things(mine[0], theirs[0])
    return theirs[-1].stem if same else None


def _are_things(mine: _Token, theirs: _Token) -> bool:
    """Whether two words stand where things do: behind the same word, no auxiliary and no denial."""
    if mine.after != theirs.after or not mine.after or mine.after in _DENYING:
        return False
    if mine.after in _BEFORE_THINGS:
        return True
    return not is_filler(mine.after) and not (_VERB.search(mine.form) and _VERB.search(theirs.form))


def _forms(word: str) -> tuple[str, ...]:
    """Return a stem and its beginning, by which forms that no rule joins are one: decide, decision."""
    return (word, word[:5]) if len(word) > 5 else (word,)


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
        if found & _PART and not found & {"all", "every", "each", "any", "no"}:
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
            if not adverb and at + 1 < len(words) and not is_filler(words[at + 1]):
                yield value, ("before", stem(words[at + 1]))
            before = [one for one in words[max(0, at - 2) : at] if not is_filler(one) and one != "only"]
            joined = adverb or (at and words[at - 1] in ("to", "is", "only"))
            if before and joined:
                yield value, ("after", stem(before[-1]))
