"""What the heading and the title element of a page say of an error and of nothing else."""

import re
from collections.abc import Iterator

from ingest.diff.soft_errors.features import ErrorPageFeatures
from ingest.diff.soft_errors.phrases import DEFAULT_TITLES, TITLES

ERROR = "an error page"

_LONGEST = 200
_WORD = r"(?:http|https|status|error|code|fehler|erreur|errore|erro|fout|ошибка|エラー|错误)"
_CODE = r"[45]\d\d"
_STATUS = re.compile(
    rf"(?:{_WORD}[\s:#–—-]{{0,5}}){{0,3}}{_CODE}\b(?:\s?errors?\b)?[\s:–—,.(|-]{{0,5}}(?P<rest>.{{0,80}})"
    rf"|(?P<before>[^\d]{{3,60}}?)\s?\(?(?:{_WORD}[\s:#–—-]{{0,5}}){{0,2}}{_CODE}\)?"
)
"""A status code beside its reason phrase, in either order, and nothing else."""

_INTERJECTION = re.compile(
    r"(?:(?:oops|ooops|whoops|sorry|uh[ -]?oh|hoppla|ups|oups|désolé|lo sentimos|desculpe|ops|helaas"
    r"|entschuldigung|抱歉|申し訳ございません|извините|error|we're sorry)[\s,!.:;…，、。–—-]+)+"
)
_PARTS = re.compile(r"\s[|–—·•»:/-]\s|\s*[|｜]\s*|: ")
EDGES = " \t\n.!?…:;,–—-|•·()[]{}<>\"'“”«»。！？、，"
_QUOTES = str.maketrans({"’": "'", "‘": "'", "´": "'", "\xa0": " ", "\u202f": " "})


def says_status(page: ErrorPageFeatures) -> bool:
    """Whether both heading and title are a status code with its reason, and nothing else."""
    return all(_STATUS.fullmatch(plain(said).strip(EDGES)) for said in (page.title, page.heading))


def title_reason(page: ErrorPageFeatures) -> str | None:
    """What the heading, or a part of the title element, says of an error and of nothing else."""
    for part in _title_parts(page):
        if part in TITLES:
            return TITLES[part]
        if (status := _STATUS.fullmatch(part)) and status["before"] is None:
            rest = status["rest"].strip(EDGES)
            if not rest or rest in TITLES:
                return TITLES.get(rest, ERROR)
        elif status and (before := status["before"].strip(EDGES)) in TITLES:
            return TITLES[before]
    return None


def default_title(page: ErrorPageFeatures) -> str | None:
    """The kind of a page whose title no site has as its own, such as that of a server just installed."""
    return next((DEFAULT_TITLES[part] for part in _title_parts(page) if part in DEFAULT_TITLES), None)


def _title_parts(page: ErrorPageFeatures) -> Iterator[str]:
    for stated in dict.fromkeys((plain(page.heading), plain(page.title))):
        if len(stated) <= _LONGEST:
            for part in dict.fromkeys((stated, *_PARTS.split(stated))):
                yield (cut := part.strip(EDGES))
                if said := _INTERJECTION.match(cut):
                    yield cut[said.end() :]


def plain(text: str) -> str:
    """Lower case, with plain apostrophes and spaces."""
    return text.lower() if text.isascii() else text.translate(_QUOTES).lower()
