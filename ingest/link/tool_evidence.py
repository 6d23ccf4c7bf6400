"""How a chunk shows that it explains a tool: the kinds of evidence, their weights, and where they stand."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from ingest.link.tool_names import ToolNames, fold_name, last_part
from schemas.nodes import Chunk

SPAN = 240
"""Most characters of a text that an edge shows."""

_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_SIGNATURE = re.compile(
    r"(?P<kind>(?:(?:abstract|class|classmethod|exception|final|method|module|property|static|staticmethod)\s+)*)"
    r"(?P<name>[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*)(?P<parameters>\((?:[^()]|\([^()]*\))*\))?\s*(?P<end>:(?!\w)|→|->|$)"
)
_ENTRY = re.compile(
    r"(?P<name>[\w.+-]+(?: [\w.+-]+){0,3}?)"
    r"(?:\s+(?P<dash>--?|–|—)\s+(?=\S)|(?P<colon>:)\s+(?=\S)|\s+(?=\[(?!\d)))"
)
"""How the entry on a command begins: `shop-open - opens it` (man-pages(7), NAME), `shop open: opens it`, and
its synopsis, `shop open [--port]`.
"""

_LISTED = re.compile(r"(?:\A|\n\n)[^\n:]{1,60}: \S")
"""How an entry of a list of definitions begins, where several share a chunk."""

_ARGUMENT = re.compile(r"[(,]\s*[\"'\d\[{]")
"""What a call passes, where a signature has names."""


class ToolEvidence(StrEnum):
    """What tells it, from the strongest down."""

    ANCHOR = "anchor"
    ENTRY = "entry"
    HEADING = "heading"
    SIGNATURE = "signature"
    IN_HEADING = "in heading"
    FIRST_SENTENCE = "first sentence"
    CODE = "code"
    AGREEMENT = "agreement"
    TEXT = "text"
    UNDER_HEADING = "under heading"
    OPTIONS = "options"


WEIGHTS: Mapping[ToolEvidence, float] = {
    ToolEvidence.ANCHOR: 0.7,
    ToolEvidence.ENTRY: 0.6,
    ToolEvidence.HEADING: 0.6,
    ToolEvidence.SIGNATURE: 0.6,
    ToolEvidence.IN_HEADING: 0.35,
    ToolEvidence.FIRST_SENTENCE: 0.3,
    ToolEvidence.CODE: 0.25,
    ToolEvidence.AGREEMENT: 0.2,
    ToolEvidence.TEXT: 0.15,
    ToolEvidence.UNDER_HEADING: 0.15,
    ToolEvidence.OPTIONS: 0.1,
}
"""How sure one piece of evidence makes it; several are joined as independent (noisy or). Set by hand."""

DEFINING = frozenset({ToolEvidence.ANCHOR, ToolEvidence.ENTRY, ToolEvidence.HEADING, ToolEvidence.SIGNATURE})
"""What only the chunk has that says what a tool does."""

MENTIONED = 0.7
"""What is left of the score without any of those: however often it is named, a definition comes first."""

MAX_OPTIONS = 4
"""Options of a tool that add to its score in one chunk."""

_LEANING = frozenset({ToolEvidence.UNDER_HEADING, ToolEvidence.OPTIONS})
"""What says nothing alone: a page names its tool over every chunk, and `--help` is everybody's."""


@dataclass(slots=True)
class Findings:
    """The evidence of one chunk for one tool, and the words that show it best."""

    kinds: dict[ToolEvidence, int] = field(default_factory=dict)
    span: tuple[int, int] | None = None

    def add(self, kind: ToolEvidence, span: tuple[int, int] | None = None) -> None:
        """Take in a piece of evidence; its span is shown unless a stronger kind has one."""
        if span is not None and (self.span is None or _weight(kind) > self._shown):
            self.span, self._shown = span, _weight(kind)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    _shown: float = 0.0

    @property
    def stands(self) -> bool:
        """Whether this is more than what leans on other evidence; options under the tool's heading are."""
        return bool(self.kinds.keys() - _LEANING) or self.kinds.keys() >= _LEANING

    @property
    def score(self) -> float:
        """How sure all of it makes it, from 0 to 1."""
        doubt = 1.0
        for kind, number in self.kinds.items():
            times = min(number, MAX_OPTIONS) if kind is ToolEvidence.OPTIONS else 1
            doubt *= (1.0 - WEIGHTS[kind]) ** times
        return round((1.0 - doubt) * (1.0 if self.kinds.keys() & DEFINING else MENTIONED), 4)


def _weight(kind: ToolEvidence) -> float:
    return WEIGHTS[kind]


class DocumentReader:
    """Reads the chunks of one document in order: an id, and the class a method is of, stand before them."""

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        # The chunks below a heading share it, and on a hostile page it is as long as all of them.
        self._named = cache(names.named)
        self._seen_in = cache(self._sight)
        self._folded = cache(fold_name)
        self._anchors: set[str] = set()
        self._scope: tuple[tuple[str, ...], str] = ((), "")

    def read(self, chunk: Chunk, *, begins_section: bool) -> Mapping[int, Findings]:
        """Return the evidence of the next chunk by the place of the tool; only what stands by itself."""
        found: dict[int, Findings] = {}
        anchored = self._read_anchors(chunk, found)
        self._read_headings(chunk, found)
        self._read_signatures(chunk, anchored, found)
        self._read_text(chunk, found, begins_section=begins_section)
        self._read_options(chunk, found)
        for findings in found.values():
            if ToolEvidence.CODE in findings.kinds:  # a phrase behind a prompt is seen as both
                findings.kinds.pop(ToolEvidence.TEXT, None)
        return {place: findings for place, findings in found.items() if findings.stands}

    def _read_anchors(self, chunk: Chunk, found: dict[int, Findings]) -> frozenset[int]:
        """An id counts for the chunk it stands in: those behind it, up to the next one, only inherit it."""
        ids = dict.fromkeys(name for name in (chunk.fragment, *chunk.fragments) if name)
        new = [name for name in ids if name not in self._anchors]
        self._anchors.update(ids)
        places = [place for name in new for place in self._names.anchored(name)]
        for place in places:
            _of(found, place).add(ToolEvidence.ANCHOR)
        return frozenset(places)

    def _read_headings(self, chunk: Chunk, found: dict[int, Findings]) -> None:
        headings, entries = split_path(chunk)
        *above, heading = headings or ("",)
        own = (*self._named(heading), *self._synopsis_under(heading, chunk.text))
        for place in dict.fromkeys(own):
            _of(found, place).add(ToolEvidence.HEADING)
        for place in self._seen_in(heading):
            if place not in own:
                _of(found, place).add(ToolEvidence.IN_HEADING)
        defined = self._defined_by(entries, chunk.text)
        for place in defined:
            _of(found, place).add(ToolEvidence.ENTRY, first_sentence(chunk.text))
        around = (*above, *(term for name in entries for term in _entry_terms(name)))
        for place in dict.fromkeys(place for text in around for place in self._named(text)):
            if place not in defined:
                _of(found, place).add(ToolEvidence.UNDER_HEADING)

    def _sight(self, heading: str) -> tuple[int, ...]:
        return tuple(dict.fromkeys(place for seen in self._names.sightings(heading) for place in seen.tools))

    def _synopsis_under(self, heading: str, text: str) -> Sequence[int]:
        """Commands that a heading calls by their last word, and whose synopsis stands right under it."""
        first = text.lstrip("$ \n").partition("\n")[0]
        return [
            place
            for name, places in self._names.by_last_word.get(self._folded(heading), ())
            if first == name or first.startswith(f"{name} ")
            for place in places
        ]

    def _defined_by(self, entries: Sequence[str], text: str) -> Sequence[int]:
        """Tools whose entry a text begins: by a term of it, or by that after the name of what it belongs to.

        A term of a list inside an entry is a value of that, and defines nothing that is called so elsewhere.
        """
        terms = _entry_terms(entries[-1]) if entries else ()
        opening = _opening_line(text)
        if not any(_opens(term, opening) for term in terms):
            return ()
        full = [".".join((*entries[:-1], term)) for term in terms] if len(entries) > 1 else terms
        return tuple(dict.fromkeys(place for name in full for place in self._names.named(name)))

    def _read_signatures(self, chunk: Chunk, anchored: Collection[int], found: dict[int, Findings]) -> None:
        headings, entries = split_path(chunk)
        if self._scope[0] != headings:
            self._scope = (headings, "")
        listed = len(_LISTED.findall(chunk.text)) > 1
        tails = {last_part(self._names.tools[place].name): place for place in sorted(anchored)}
        for line in _LINE.finditer(chunk.text):
            begin = line[0].find(line[0].lstrip())
            places: Sequence[int] = ()
            if match := _SIGNATURE.match(line[0], begin):
                places = self._signed(match, tails)
            if not places and (match := _ENTRY.match(line[0], begin)):
                is_listed = listed and (not line.start() or chunk.text.endswith("\n\n", 0, line.start()))
                places = () if match["colon"] and entries else self._entered(match, is_listed=is_listed)
            for place in places:
                _of(found, place).add(ToolEvidence.SIGNATURE, _cut(line.start(), line.end()))

    def _signed(self, match: re.Match[str], tails: Mapping[str, int]) -> Sequence[int]:
        """Tools whose definition a line begins: by full name, within its class, or by the id it has."""
        name, parameters = match["name"], match["parameters"]
        if parameters is not None and _ARGUMENT.search(parameters):
            return ()
        # A traceback has `module.Error: why`, and a list of names nothing else.
        plain = not match["kind"] and parameters is None
        by_name = () if plain and ("." in name or not match["end"]) else self._names.codes.get(name, ())
        if not by_name and parameters is not None:
            by_name = self._names.everyday.get(name, ())
        if by_name:
            self._enter(self._names.tools[by_name[0]].name)
            return by_name
        if inner := self._names.full.get(f"{self._scope[1]}.{name}"):
            return inner
        return (tails[name],) if name in tails else ()

    def _entered(self, match: re.Match[str], *, is_listed: bool) -> Sequence[int]:
        """Commands whose entry a line begins; one word and a colon tell only in a list of such lines."""
        name = match["name"]
        if match["colon"] and " " not in name:
            return self._names.full.get(name, ()) if is_listed else ()
        if match["dash"] and name in self._names.everyday:
            return ()
        return self._names.full.get(name) or self._names.folded.get(fold_name(name), ())

    def _enter(self, name: str) -> None:
        """From here on bare names are those of this class, if it is one."""
        if name in self._names.parents:
            self._scope = (self._scope[0], name)

    def _read_text(self, chunk: Chunk, found: dict[int, Findings], *, begins_section: bool) -> None:
        first = _SENTENCE_END.search(chunk.text)
        opening = (first.start() if first else len(chunk.text)) if begins_section else 0
        for sighting in self._names.sightings(chunk.text):
            kind = ToolEvidence.CODE if sighting.is_code else ToolEvidence.TEXT
            for place in sighting.tools:
                findings = _of(found, place)
                findings.add(kind, _line_around(chunk.text, sighting.start, sighting.end))
                if sighting.start < opening:
                    shown = _cut(0, opening)
                    findings.add(ToolEvidence.FIRST_SENTENCE, shown if sighting.end <= shown[1] else None)

    def _read_options(self, chunk: Chunk, found: dict[int, Findings]) -> None:
        """Options count where the tool is named as well."""
        if not any(self._names.tools[place].options for place in found):
            return
        words = frozenset(chunk.codes) | frozenset(_words(chunk.text))
        for place, findings in found.items():
            for _ in words.intersection(self._names.tools[place].options):
                findings.add(ToolEvidence.OPTIONS)


def split_path(chunk: Chunk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part a heading path into the headings, and the entries under the last of them.

    Each section above a chunk has a heading, and so has its own; an entry may be called as its section is.
    """
    path = chunk.heading_path
    if chunk.section is None or chunk.section not in path:
        return (), path
    cut = sum(parent.startswith("section:") for parent in chunk.parent_ids)
    if path[cut - 1 : cut] != (chunk.section,):
        cut = len(path) - path[::-1].index(chunk.section)
    return path[:cut], path[cut:]


def _entry_terms(entry: str) -> tuple[str, ...]:
    """The terms that the name of an entry has."""
    return tuple(entry.split(", "))


def _opening_line(text: str) -> str:
    """The first line of a text that is not empty."""
    return text.lstrip().partition("\n")[0]


def _opens(term: str, line: str) -> bool:
    """Whether a line begins with a term, or declares it: `int open(int door)`."""
    named = re.escape(term)
    return re.search(rf"^{named}(?!\w)|^(?:[\w*&:<>]+ ){{0,3}}[*&]?{named}\s*[(:]", line) is not None


def first_sentence(text: str) -> tuple[int, int]:
    """Where the first sentence of a text, or its first line, stands; what an id or a heading shows."""
    start = len(text) - len(text.lstrip())
    end = _SENTENCE_END.search(text, start)
    return _cut(start, end.start() if end else len(text.rstrip()))


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in re.finditer(r"(?<![\w-])-{0,2}\w[\w-]*", text))


def _line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The line that a name stands in, or as much of a long one as shows it."""
    low, high = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    high = len(text) if high < 0 else high
    if high - low <= SPAN:
        return low, high
    room = max(0, SPAN - (end - start)) // 2
    return max(low, start - room), min(high, end + room)


def _cut(start: int, end: int) -> tuple[int, int]:
    return start, min(end, start + SPAN)


def _of(found: dict[int, Findings], place: int) -> Findings:
    return found.setdefault(place, Findings())
