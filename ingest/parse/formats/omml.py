"""Formulas of Word (ECMA-376-1, 22.1) > TeX; letters and signs stay as they are written."""

from collections.abc import Callable
from typing import Any

from ingest.parse.wording import lowered, raised

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge",
}  # fmt: skip
_ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "\u0307": "dot",
    "\u0308": "ddot", "\u030c": "check", "\u0306": "breve", "\u0301": "acute", "\u0300": "grave",
    "\u20d7": "vec", "\u20d6": "overleftarrow", "^": "hat", "~": "tilde", "¯": "bar", "→": "vec",
    "⏞": "overbrace", "⏟": "underbrace",
}  # fmt: skip


def tex_of(formula: Any) -> str:
    """Return the formula on one line; what no rule is there for gives the words in it."""
    return " ".join(_inside(formula).split())


def _inside(element: Any) -> str:
    return "".join(map(_tex, element))


def _tex(element: Any) -> str:
    name = element.tag.removeprefix(_M) if isinstance(element.tag, str) else ""
    if name == "t":
        return element.text or ""
    if name.endswith("Pr"):
        return ""
    return _RULES.get(name, _inside)(element)


def _part(element: Any, name: str) -> str:
    found = element.find(f"{_M}{name}")
    return "" if found is None else _inside(found).strip()


def _stated(element: Any, path: str, default: str) -> str:
    """The value of a property; default where it is not named, "" where it is named without a value."""
    found = element.find("/".join(f"{_M}{name}" for name in path.split("/")))
    return default if found is None else str(found.get(f"{_M}val") or "")


def _is_on(element: Any, path: str) -> bool:
    return _stated(element, path, "off") in {"", "1", "on", "true"}


def _group(text: str) -> str:
    return text if len(text) == 1 or (text[:1] == "\\" and text[1:].isalpha()) else f"{{{text}}}"


def _fraction(element: Any) -> str:
    above, below = _part(element, "num"), _part(element, "den")
    kind = _stated(element, "fPr/type", "bar")
    if kind in {"lin", "skw"}:
        return f"{_group(above)}/{_group(below)}"
    return rf"\binom{{{above}}}{{{below}}}" if kind == "noBar" else rf"\frac{{{above}}}{{{below}}}"


def _scripts(element: Any) -> str:
    base, below, above = _part(element, "e"), _part(element, "sub"), _part(element, "sup")
    base = base if len(base) == 1 or base.isalnum() or base[:1] in "(\\" else _group(base)
    if element.tag == f"{_M}sPre":
        return f"{_set('_', below)}{_set('^', above)}{base}"
    return f"{base}{_set('_', below)}{_set('^', above)}"


def _set(sign: str, text: str) -> str:
    """What is set low or high: digits as signs of their own, else as TeX has it."""
    if not text:
        return ""
    shifted = raised(text) if sign == "^" else lowered(text)
    return (
        shifted if shifted.isascii() is False and not any(map(str.isalpha, text)) else f"{sign}{_group(text)}"
    )


def _operator(element: Any) -> str:
    sign = _stated(element, "naryPr/chr", "∫")
    below, above = _part(element, "sub"), _part(element, "sup")
    limits = "".join(f"{mark}{_group(text)}" for mark, text in (("_", below), ("^", above)) if text)
    return f"{_OPERATORS.get(sign, sign)}{limits} {_part(element, 'e')}"


def _root(element: Any) -> str:
    degree = "" if _is_on(element, "radPr/degHide") else _part(element, "deg")
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e')}}}"


def _fenced(element: Any) -> str:
    first, last = _stated(element, "dPr/begChr", "("), _stated(element, "dPr/endChr", ")")
    inside = _stated(element, "dPr/sepChr", "|").join(
        _inside(one).strip() for one in element.findall(f"{_M}e")
    )
    return f"{first}{inside}{last}"


def _limit(element: Any) -> str:
    sign = "_" if element.tag == f"{_M}limLow" else "^"
    name = _part(element, "e")
    command = "\\" if name in {"lim", "max", "min", "sup", "inf"} else ""
    return f"{command}{name}{sign}{_group(_part(element, 'lim'))}"


def _accent(element: Any) -> str:
    sign = _stated(element, "accPr/chr", "\u0302")
    return rf"\{_ACCENTS.get(sign, 'hat')}{{{_part(element, 'e')}}}"


def _braced(element: Any) -> str:
    sign = _stated(element, "groupChrPr/chr", "⏟")
    return rf"\{_ACCENTS.get(sign, 'underbrace')}{{{_part(element, 'e')}}}"


def _barred(element: Any) -> str:
    name = "overline" if _stated(element, "barPr/pos", "bot") == "top" else "underline"
    return rf"\{name}{{{_part(element, 'e')}}}"


def _function(element: Any) -> str:
    return f"{_part(element, 'fName')} {_part(element, 'e')}"


def _matrix(element: Any) -> str:
    rows = (" & ".join(_inside(cell).strip() for cell in row) for row in element.findall(f"{_M}mr"))
    lines = r" \\ ".join(rows)
    return rf"\begin{{matrix}} {lines} \end{{matrix}}"


def _lines(element: Any) -> str:
    return r" \\ ".join(_inside(line).strip() for line in element.findall(f"{_M}e"))


_RULES: dict[str, Callable[[Any], str]] = {
    "f": _fraction,
    **dict.fromkeys(("sSup", "sSub", "sSubSup", "sPre"), _scripts),
    "nary": _operator,
    "rad": _root,
    "d": _fenced,
    **dict.fromkeys(("limLow", "limUpp"), _limit),
    "acc": _accent,
    "groupChr": _braced,
    "bar": _barred,
    "func": _function,
    "m": _matrix,
    "eqArr": _lines,
}
