"""What tools are called, as chunks may write it: exact codes, phrases, calls, headings, anchors, endpoints.

A name that several tools have, such as the `run` of two classes, stands for none of them. An everyday word
(`get`, `run`, `index`) is a name only where it is code, a heading or an anchor.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.nodes import Tool

Places = Mapping[str, tuple[int, ...]]
"""Tools, by their place in the catalogue, under each name."""

_PARTS = re.compile(r"::|\.")
_ENDPOINT = re.compile(
    r"\b(GET|PUT|POST|DELETE|OPTIONS|HEAD|PATCH|TRACE)\s+(/(?:<[^<>\s]*>|[^\s,;\"'<>()`])*)"
)
_VARIABLE = re.compile(r"\{[^}/]*\}|<[^>/]*>|:\w+")
_TOKEN = re.compile(r"(?<![\w.-])(?:--?)?[A-Za-z_]\w*(?:(?:\.|::|-)[A-Za-z_]\w*)*(?P<call>\()?")
_PROMPT = re.compile(r"^[ \t]*(?:[$%>#]|>>>)[ \t]+(?P<command>\S.*)$", re.MULTILINE)
_GOES_ON = re.compile(r"\w|[-.]\w")
_DISTINCT = re.compile(r"\w_\w|^_\w|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d|\w-\w")
_BEFORE = re.compile(
    r"^(?:the|class|module|function|method|command|exception|property)\s+(?=\S)", re.IGNORECASE
)
_BEHIND = re.compile(
    r"commands?|functions?|methods?|class(?:es)?|modules?|endpoints?|operations?|tools?|objects?|builtins?|"
    r"built-ins?|utilit(?:y|ies)|programs?|exceptions?|decorators?",
    re.IGNORECASE,
)
_PAGES = (["man", "page"], ["manual", "page"])
_ANCHOR_PREFIX = re.compile(r"^(?:.*operation[/-]|module-|cmd-|command-|index-)")


@dataclass(frozen=True, slots=True)
class _Sighting:
    """Tools that a text names from *start* to *end*, and whether it does so as code."""

    tools: tuple[int, ...]
    start: int
    end: int
    is_code: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNames:
    """The names of some tools; `tools` are in id order, and places point into them.

    `parents` are the names that qualify others: modules and classes. `by_last_word` has the names of several
    words under their last one, as a manual on one program has them for headings.
    """

    tools: tuple[Tool, ...]
    full: Places
    codes: Places
    everyday: Places
    phrases: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]]
    folded: Places
    endpoints: Places
    parents: frozenset[str]
    by_last_word: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]] = field(default_factory=dict)

    def named(self, heading: str) -> tuple[int, ...]:
        """Tools that a heading is the name of: `The flask run command`, `git-clone(1)`, `Session()`."""
        found = self.full.get(heading.strip())
        return found or self.folded.get(fold_name(_without_noise(heading)), ())

    def anchored(self, anchor: str) -> tuple[int, ...]:
        """Tools that an id in a page is the name of, in its very letters or else folded."""
        for name in (anchor, _ANCHOR_PREFIX.sub("", anchor)):
            if found := self.full.get(name) or self.folded.get(fold_name(name)):
                return found
        return ()

    def sightings(self, text: str) -> Iterator[_Sighting]:
        """Every place of a text that names tools, in no order; places may overlap."""
        for match in _TOKEN.finditer(text):
            token, end = match[0].removesuffix("("), match.end() - bool(match["call"])
            found = self.codes.get(token) or (self.everyday.get(token) if match["call"] else None)
            if found:
                yield _Sighting(found, match.start(), end, is_code=True)
            yield from self._phrases_at(text, match.start(), token)
        for match in _ENDPOINT.finditer(text):
            if found := self.endpoints.get(_endpoint(match[1], match[2])):
                yield _Sighting(found, match.start(), match.end(), is_code=True)
        yield from self._prompts(text)

    def _phrases_at(self, text: str, start: int, word: str) -> Iterator[_Sighting]:
        for phrase, tools in self.phrases.get(word, ()):
            end = start + len(phrase)
            if text.startswith(phrase, start) and not _GOES_ON.match(text, end):
                yield _Sighting(tools, start, end, is_code=False)

    def _prompts(self, text: str) -> Iterator[_Sighting]:
        """Commands behind a prompt; there an everyday word is one as well."""
        for match in _PROMPT.finditer(text):
            start, words = match.start("command"), match["command"].split()
            if found := self.everyday.get(words[0]):
                yield _Sighting(found, start, start + len(words[0]), is_code=True)
            for sighting in self._phrases_at(text, start, words[0]):
                yield _Sighting(sighting.tools, sighting.start, sighting.end, is_code=True)


def tool_names(tools: Iterable[Tool]) -> ToolNames:
    """Gather the names of tools."""
    ordered = tuple(sorted(tools, key=lambda tool: tool.id))
    stated, derived = _Owners(ordered), _Owners(ordered)
    phrases, everyday = _Owners(ordered), _Owners(ordered)
    folded, endpoints = _Owners(ordered), _Owners(ordered)
    for place, tool in enumerate(ordered):
        for name in (tool.name, *tool.aliases):
            folded.add(fold_name(name), place)
            owners = phrases if " " in name else stated if is_distinct(name) else everyday
            owners.add(name, place)
            for tail in _tails(name):
                derived.add(tail, place)
        for endpoint in tool.endpoints:
            method, _, path = endpoint.partition(" ")
            endpoints.add(_endpoint(method, path), place)
    full = _Owners(ordered)
    for place, tool in enumerate(ordered):
        for name in (tool.name, *tool.aliases):
            full.add(name, place)
    return ToolNames(
        tools=ordered,
        full=full.unambiguous(),
        codes={**derived.unambiguous(), **stated.unambiguous()},
        everyday=everyday.unambiguous(),
        phrases=_by_word(phrases.unambiguous(), 0, str),
        folded=folded.unambiguous(),
        endpoints=endpoints.unambiguous(),
        parents=frozenset(parent for tool in ordered if (parent := parent_of(tool.name))),
        by_last_word=_by_word(phrases.unambiguous(), -1, fold_name),
    )


def fold_name(name: str) -> str:
    """Fold what headings and anchors change of a name: case, and what parts its words."""
    return re.sub(r"[\W_]+", "-", name.casefold()).strip("-")


def is_distinct(name: str) -> bool:
    """Whether a name without spaces is no word of prose: `Flask.run`, `url_for`, `HTTPAdapter`, `-x`."""
    return name.startswith("-") or len(_PARTS.split(name)) > 1 or bool(_DISTINCT.search(name))


def last_part(name: str) -> str:
    """What a name without its qualifiers is: `run` of `flask.Flask.run`."""
    return _PARTS.split(name)[-1]


def parent_of(name: str) -> str:
    """What a qualified name belongs to: `flask.Flask` of `flask.Flask.run`."""
    cuts = [match.start() for match in _PARTS.finditer(name)]
    return name[: cuts[-1]] if cuts else ""


def _tails(name: str) -> Iterator[str]:
    """What a qualified name is called among those who know the module: `Flask.run`; a distinct `url_for`."""
    cuts = [match.end() for match in _PARTS.finditer(name)]
    for cut in cuts:
        if is_distinct(name[cut:]):
            yield name[cut:]


def _without_noise(heading: str) -> str:
    """A heading without what it says of the kind of thing: `The flask run command`, `git-clone(1) Page`."""
    bare = _without_kind(_BEFORE.sub("", heading.strip()))
    return _without_kind(bare.partition("(")[0]) if bare.endswith(")") else bare


def _without_kind(name: str) -> str:
    words = name.split()
    while len(words) > 1 and (count := _words_of_kind(words)):
        del words[-count:]
    return " ".join(words)


def _words_of_kind(words: list[str]) -> int:
    """How many words at the end of a name say of what kind the thing is."""
    if _BEHIND.fullmatch(words[-1]):
        return 1
    return 2 if len(words) > 2 and [word.lower() for word in words[-2:]] in _PAGES else 0


def _endpoint(method: str, path: str) -> str:
    """An endpoint as all its spellings have it: `GET /pets/{}` for `{id}`, `<id>` and `:id`."""
    return f"{method.upper()} {_VARIABLE.sub('{}', path).rstrip('/.') or '/'}"


def _by_word(
    phrases: Places, at: int, key: Callable[[str], str]
) -> Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]]:
    """Phrases under the *key* of one of their words."""
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for phrase, tools in sorted(phrases.items()):
        found.setdefault(key(phrase.split()[at]), []).append((phrase, tools))
    return {word: tuple(entries) for word, entries in found.items()}


class _Owners:
    """Which tools have a name. Tools of one name, as two files may describe it, are one owner."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._name_of: Callable[[int], str] = lambda place: tools[place].name
        self._places: dict[str, dict[int, None]] = {}

    def add(self, name: str, place: int) -> None:
        self._places.setdefault(name, {})[place] = None

    def unambiguous(self) -> dict[str, tuple[int, ...]]:
        return {
            name: tuple(places)
            for name, places in self._places.items()
            if name and len({self._name_of(place) for place in places}) == 1
        }
