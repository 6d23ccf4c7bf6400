"""What a sentence takes over character by character: identifiers, quoted strings, proper names."""

import re
from collections.abc import Collection, Iterator

from retrieval.question.words import STOP_WORDS
from retrieval.verify.lexicon import OPENERS
from retrieval.verify.units import CURRENCY, DIGITS, UNIT

_QUOTED = re.compile(r"[\"“”„«]([^\"“”„«»]+)[\"“”»]|`([^`]+)`|‘([^‘’]+)’")
_TOKEN = re.compile(r"[^\s,;()\[\]{}<>\"“”„«»‘`!?|]+")
_TRIM = ".:’'…*"
_PLAIN_NUMBER = re.compile(
    rf"[-−+±~]?{CURRENCY}?{DIGITS}(?:[-–—/]{DIGITS})?(?:-?{UNIT}(?:/{UNIT})?)?{CURRENCY}?|\d+-[a-z-]+"
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)")
_CODE = re.compile(
    r"""(?=.*[0-9])(?=.*[A-Za-z^]).+          # E04, VX-210, 2^20, 3.8.1b
      | .*\d[.:]\d+[.:]\d.*|\d{1,2}:\d{2}     # 3.8.1, 192.168.0.1, 22:00
      | .*\w[_=@\\]\w.*                       # max_sessions, sync_mode=lazy
      | \w{2,}(?:\.\w{2,})+                   # config.toml, os.path
      | --?[A-Za-z][\w=-]*|~?/\w.*|\w+://.*   # --lenient, /etc/fstab
      | [a-z]+[A-Z]\w*                        # maxSessions
    """,
    re.VERBOSE,
)
_NAME = re.compile(r"(?<![\w.@/=-])[A-ZÀ-ÖØ-Þ][\w’'&-]*")
_STRONG = re.compile(r"(?=[^A-Z]*[A-Z][^A-Z]*[A-Z]|\D*\d)\w+")
_DASHES = re.compile(r"[\u2010-\u2015\u2212]")
_NO_NAMES = STOP_WORDS | OPENERS
_PRONOUNS = frozenset({"I", "I'm", "I’m", "OK"})


def fold_signs(text: str) -> str:
    """Fold case, dashes, quotes and white space, to look for what was taken over."""
    return " ".join(_DASHES.sub("-", text).replace("’", "'").casefold().split())


def holds(text: str, part: str) -> bool:
    """Whether folded *text* has *part* as words of their own, in singular or plural."""
    folded = fold_signs(part).removesuffix("'s")
    return any(
        re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text)
        for form in dict.fromkeys((folded, f"{folded}s", folded.removesuffix("s")))
        if form
    )


def find_quotes(text: str) -> tuple[str, ...]:
    """Return what stands in quotation marks or backticks."""
    return tuple(next(filter(None, match.groups())).strip(" .,") for match in _QUOTED.finditer(text))


def find_codes(text: str) -> tuple[str, ...]:
    """Return identifiers, versions, times, flags and paths of *text*: what no dictionary has."""
    return tuple(dict.fromkeys(_codes(text)))


def _codes(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match[0].strip(_TRIM)
        if _PLAIN_NUMBER.fullmatch(token) or _ORDINAL.fullmatch(token):
            continue
        if _CODE.fullmatch(token):
            yield token


def find_names(text: str, *, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the proper names of a sentence, word by word.

    The first word has its capital anyway: it is a name if it has more of them, if another name follows, or
    if it is one of *known*.
    """
    found = [match for match in _NAME.finditer(text) if match[0] not in _PRONOUNS]
    names = []
    for at, match in enumerate(found):
        name = re.sub(r"['’]s$", "", match[0])
        first = not re.search(r"\w", text[: match.start()])
        followed = at + 1 < len(found) and text[match.end() : found[at + 1].start()] == " "
        if first and name.casefold() in _NO_NAMES:
            continue
        if not first or _STRONG.fullmatch(name) or followed or name in known:
            names.append(name)
    return tuple(dict.fromkeys(names))


def opens_only(word: str, sentence: str) -> bool:
    """Whether the first word of a sentence has its capital from there: "Use CREATE TABLE", "Set PGDATA"."""
    opening = re.match(rf"\W*{re.escape(word)}\s+({_NAME.pattern})", sentence)
    return opening is not None and not _STRONG.fullmatch(word) and bool(_STRONG.fullmatch(opening[1]))


def is_named(name: str, text: str, folded: str) -> bool:
    """Whether a text has a name, or what its letters stand for; *folded* is the text's `fold_signs`."""
    if holds(folded, name) or (name[:1].isdigit() and "." in name and holds(folded, f"v{name}")):
        return True
    if name.isupper() and 2 <= len(name) <= 6:
        initials = "".join(word[0] for word in re.findall(r"[A-Za-z]+", text) if word[0].isupper())
        return name in initials
    parts = name.split("-")
    versioned = sum(any(char.isdigit() for char in part) for part in parts) > 1
    if len(parts) > 1 and not versioned and all(holds(folded, part) for part in parts):
        return True
    theirs = set(_NAME.findall(text))
    return any(name in _peoples(other) or other in _peoples(name) for other in theirs)


def _peoples(place: str) -> frozenset[str]:
    """Return what the people of a place may be called: Russian, Italian, German, Chinese."""
    short = place[:-1]
    return frozenset(
        (f"{place}n", f"{place}an", f"{place}ian", f"{short}ian", f"{short}ese", f"{place}ese")
        if len(place) > 3 and not place.isupper()
        else ()
    ) | frozenset({short} if place.endswith("any") else ())


def find_exchanged(sentence: str, text: str, groups: Collection[frozenset[str]]) -> tuple[str, ...]:
    """Return words of *sentence* for which *text* has only others of their group; one excludes the rest."""
    said, stated = (re.findall(r"[a-z]+", one.casefold()) for one in (sentence, text))
    return tuple(
        word
        for group in groups
        for word in dict.fromkeys(said)
        if word in group and word not in stated and group & set(stated)
    )
