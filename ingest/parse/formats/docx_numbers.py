"""What Word counts itself > the numbers before headings, clauses and items (ECMA-376-1, 17.9)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ingest.parse.marks import item_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

_LEVELS = 9
_STYLES = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    format: str
    text: str
    restarts: int | None
    is_legal: bool


@dataclass(slots=True)
class Numbers:
    """The counters of one document; its paragraphs are asked for in their order.

    `styles` gives the paragraph styles by id.
    """

    numbering: Any
    styles: Mapping[str, Any]
    _counts: dict[str, list[int | None]] = field(default_factory=dict)
    _begun: set[tuple[str, int]] = field(default_factory=set)
    _levels: dict[tuple[str, int], tuple[str, _Level] | None] = field(default_factory=dict)

    def next_of(self, paragraph: Any) -> str:
        """Return the number of a paragraph as Word shows it: `4.2`, `(a)`; "" where it has none."""
        named = None if self.numbering is None else self._named(paragraph)
        if named is None:
            return ""
        id_, place = named
        found = self._level(id_, place)
        if found is None:
            return ""
        list_, level = found
        counts = self._counts.setdefault(list_, [None] * _LEVELS)
        self._restart(id_, place, counts)
        now = counts[place]
        counts[place] = level.start if now is None else now + 1
        for deeper in range(place + 1, _LEVELS):
            below = self._level(id_, deeper)
            if below is None or below[1].restarts is None or place < below[1].restarts:
                counts[deeper] = None
        if level.format in {"bullet", "none"}:
            return ""
        return _PLACE.sub(lambda sign: self._shown(id_, int(sign[1]) - 1, counts, level), level.text).strip()

    def _shown(self, id_: str, place: int, counts: list[int | None], level: _Level) -> str:
        found = self._level(id_, place)
        own = found[1] if found else level
        if counts[place] is None:
            counts[place] = own.start
        number = counts[place] or 0
        return format_number(number, "decimal" if level.is_legal else own.format)

    def _restart(self, id_: str, place: int, counts: list[int | None]) -> None:
        """Begin anew where a further list of the same kind says so at its first paragraph."""
        if (id_, place) in self._begun:
            return
        self._begun.add((id_, place))
        if self._override(id_, place, "startOverride") is not None:
            counts[place] = None

    def _named(self, paragraph: Any) -> tuple[str, int] | None:
        """The list of a paragraph and its level there: its own, else its style's."""
        properties = paragraph.find(f"{W}pPr")
        stated = None if properties is None else properties.find(f"{W}numPr")
        id_, level = value_of(stated, "numId"), value_of(stated, "ilvl")
        style = value_of(properties, "pStyle")
        seen = set[str]()
        first = style
        while style is not None and style not in seen and (id_ is None or level is None):
            seen.add(style)
            own = self.styles.get(style)
            of_style = None if own is None else own.find(f"{W}pPr/{W}numPr")
            id_ = id_ or value_of(of_style, "numId")
            level = level or value_of(of_style, "ilvl")
            style = value_of(own, "basedOn")
        if id_ is None or id_ == "0":
            return None
        place = int(level) if level is not None and level.isdecimal() else self._level_of_style(id_, first)
        return (id_, place) if place < _LEVELS else None

    def _level_of_style(self, id_: str, style: str | None) -> int:
        list_ = self._list(id_)
        levels = () if list_ is None else list_.findall(f"{W}lvl")
        named = (one.get(f"{W}ilvl") for one in levels if style and value_of(one, "pStyle") == style)
        return int(next(named, None) or 0)

    def _level(self, id_: str, place: int) -> tuple[str, _Level] | None:
        if (id_, place) not in self._levels:
            self._levels[id_, place] = self._read_level(id_, place)
        return self._levels[id_, place]

    def _read_level(self, id_: str, place: int) -> tuple[str, _Level] | None:
        list_ = self._list(id_)
        if list_ is None:
            return None
        own = (one for one in list_.findall(f"{W}lvl") if (one.get(f"{W}ilvl") or "0") == str(place))
        level = self._override(id_, place, "lvl")
        level = next(own, None) if level is None else level
        if level is None:
            return None
        start = value_of(self._override(id_, place), "startOverride") or value_of(level, "start") or "0"
        restarts = value_of(level, "lvlRestart")
        return list_.get(f"{W}abstractNumId") or "", _Level(
            start=int(start) if start.isdecimal() else 0,
            format=value_of(level, "numFmt") or "decimal",
            text=value_of(level, "lvlText") or "",
            restarts=int(restarts) if restarts is not None and restarts.isdecimal() else None,
            is_legal=level.find(f"{W}isLgl") is not None,
        )

    def _list(self, id_: str, depth: int = 0) -> Any:
        """The definition that a list leads to, through a style if need be."""
        num = self._num(id_)
        abstract = value_of(num, "abstractNumId")
        lists = self.numbering.findall(f"{W}abstractNum")
        found = next((one for one in lists if abstract and one.get(f"{W}abstractNumId") == abstract), None)
        linked = value_of(found, "numStyleLink")
        if linked is None or depth > _LEVELS:
            return found
        style = self.styles.get(linked)
        behind = None if style is None else value_of(style.find(f"{W}pPr/{W}numPr"), "numId")
        return found if behind is None else self._list(behind, depth + 1)

    def _num(self, id_: str) -> Any:
        return next((one for one in self.numbering.findall(f"{W}num") if one.get(f"{W}numId") == id_), None)

    def _override(self, id_: str, place: int, name: str | None = None) -> Any:
        num = self._num(id_)
        stated = () if num is None else num.findall(f"{W}lvlOverride")
        found = next((one for one in stated if one.get(f"{W}ilvl") == str(place)), None)
        return found if found is None or name is None else found.find(f"{W}{name}")


def format_number(number: int, format_: str) -> str:
    """Return a number in one of Word's formats; in digits in those of scripts that are not known here."""
    if format_ == "decimalZero":
        return f"{number:02}"
    return item_number(number, _STYLES.get(format_, "1")).removesuffix(".")


def value_of(element: Any, name: str) -> str | None:
    """The value of a child of an element, None where there is none."""
    found = None if element is None else element.find(f"{W}{name}")
    value: str | None = None if found is None else found.get(f"{W}val")
    return value
