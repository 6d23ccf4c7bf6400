"""A sentence that repeats one of the passage but for a word: what was put in the place of what.

Who words a thing anew changes it in many places. Where all but one slot is taken over, in the same order, the
slot holds what the sentence says and the passage does not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from retrieval.verify.clauses import is_empty, split_sentences, stem
from retrieval.verify.lexicon import NEGATORS, OPENERS
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


def turned(sentence: str, passage: str) -> str | None:
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
        if word in _TO and not is_empty(words[at + 1]):
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
        elif match[0][0] in _QUOTES or not is_empty(word):
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
    if {mine[0].stem, theirs[0].stem} in _SWITCHES:
        return theirs[0].stem
    new = any(not any(form in everywhere for form in _forms(one.stem)) for one in mine)
    same = new and len(mine) == len(theirs) and _are_things(mine[0], theirs[0])
    return theirs[-1].stem if same else None


def _are_things(mine: _Token, theirs: _Token) -> bool:
    """Whether two words stand where things do: behind the same word, no auxiliary and no denial."""
    if mine.after != theirs.after or not mine.after or mine.after in _DENYING:
        return False
    if mine.after in _BEFORE_THINGS:
        return True
    return not is_empty(mine.after) and not (_VERB.search(mine.form) and _VERB.search(theirs.form))


def _forms(word: str) -> tuple[str, ...]:
    """Return a stem and its beginning, by which forms that no rule joins are one: decide, decision."""
    return (word, word[:5]) if len(word) > 5 else (word,)
