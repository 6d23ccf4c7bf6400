"""Formulas as TeX: of MathML, of what KaTeX and MathJax make of them, and of pictures.

What shows a formula is replaced by a `math` element whose `alttext` is its source, so that none is silent.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote_plus

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.visibility import holds_tag, raw_text, stands_in

_STATED = ("data-latex", "data-tex", "data-math", "data-formula", "data-equation", "data-expr")
_MARKED = {*_STATED, "data-mathml"}
_FORMULAS = re.compile(
    r"(?:^|[\s_-])(?:math|tex|latex|formula(?:inl|dsp)?|katex|mathimg|equation|eqn?)(?=$|[\s_-])", re.I
)
_OF_SOURCE = re.compile(
    r"(?:codecogs\.com/[^?]*|/render/math|/chart|mathtex\.cgi|mimetex\.cgi)\?(?:.*&)?(?:\w+=)?([^&]+)"
)
_TEX = re.compile(r"\\[a-zA-Z]{2,}|[\^_]\{|^\$.+\$$|^\\[(\[]")
_SETTING = re.compile(r"true|false|inline|block|display|\d*", re.IGNORECASE)
_DEEPEST = 60
"""Elements in each other that are read as a formula; what is deeper is read as its characters."""

_ACCENTS = {
    "¯": "bar", "‾": "bar", "^": "hat", "ˆ": "hat", "→": "vec", "~": "tilde", "˜": "tilde", "˙": "dot",
}  # fmt: skip
_SILENT = frozenset({"annotation", "annotation-xml", "mphantom", "surd", "assistive-mml"})
_GLYPH = re.compile(r"\bmjx-c([0-9A-F]{2,6})\b")


def write_formulas(shown: Iterable[HtmlElement]) -> None:
    """Put a `math` element with its source in the place of what only shows a formula."""
    for element in shown:
        tag = element.tag
        if tag in {"m:math", "mml:math"}:
            element.tag = "math"
        source = _of_picture(element) if tag == "img" else _source_of(element)
        if source:
            element[:] = []
            element.tag, element.text = "math", None
            element.attrib.pop("aria-hidden", None)
            element.set("alttext", source)


def _source_of(element: HtmlElement) -> str:
    is_drawn = element.tag == "mjx-container" or "katex" in (element.get("class") or "")
    if not is_drawn and element.get("role") != "math" and _MARKED.isdisjoint(element.keys()):
        return ""
    around = element.getparent() if "katex-html" in (element.get("class") or "") else element
    has_source = around is not None and holds_tag(around, "math")
    return "" if has_source or stands_in(element, "math") else _stated(element) or _shown(element)


def math_text(math: HtmlElement) -> str:
    """The TeX source of a formula, else its alternative text, else what its MathML says."""
    for annotation in math.iter("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower() and annotation.text:
            return " ".join(annotation.text.split())
    stated = math.get("alttext") or math.get("alt")
    return " ".join((stated or _tex(math)).split())


def _of_picture(picture: HtmlElement) -> str:
    """The source of a picture of a formula: its alternative text, or what its address asks to be set."""
    asked = _OF_SOURCE.search(picture.get("src") or "")
    words = (picture.get("alt") or "").strip()
    beside = picture.getprevious()
    if (
        beside is not None
        and not (beside.tail or "").strip()
        and next(beside.iterdescendants("math"), None) is not None
    ):
        return ""
    if asked:
        return words or unquote_plus(asked[1])
    return words if _FORMULAS.search(picture.get("class") or "") or _TEX.search(words) else ""


def _stated(element: HtmlElement) -> str:
    own = [element, *element.iterfind("mjx-math")]
    stated = (one.get(name) or "" for one in own for name in _STATED)
    source = next((text for text in stated if not _SETTING.fullmatch(text)), "")
    return "" if element.find(".//p") is not None else " ".join(source.split())


def _shown(element: HtmlElement) -> str:
    """What the elements that draw a formula say."""
    class_ = (element.get("class") or "").split()
    if mathml := element.get("data-mathml"):
        parser = etree.HTMLParser(encoding="utf-8")
        return _tex(etree.fromstring(mathml.encode("utf-8", "replace"), parser))
    if element.tag == "mjx-container":
        return _tex(element)
    if "katex" in class_ or "katex-html" in class_:
        return _katex(element)
    if element.get("role") == "math" and not raw_text(element).strip():
        return element.get("aria-label") or ""
    return ""


def _kind(node: HtmlElement) -> str:
    """The MathML element that a node is, or is drawn for."""
    tag = str(node.tag)
    return node.get("data-mml-node") or tag.removeprefix("mjx-").rpartition(":")[2].lower()


def _operands(node: HtmlElement) -> Iterator[HtmlElement]:
    """The nearest nodes below that are MathML elements; others are there to place them."""
    for child in node:
        kind = _kind(child)
        if kind in _SILENT:
            continue
        if kind in _READ or kind in _TOKENS or kind in _GROUPS:
            yield child
        else:
            yield from _operands(child)


def _tex(node: HtmlElement, depth: int = 0) -> str:
    kind = _kind(node)
    if kind in _TOKENS or depth > _DEEPEST:
        text = _glyphs(node) or " ".join(raw_text(node).split())
        return f"{text} " if kind == "mi" and len(text) > 1 else text
    parts = [_tex(one, depth + 1) for one in _operands(node)]
    read = _READ.get(kind)
    if read is None:
        return "".join(parts) or ("" if len(node) else (node.text or ""))
    is_drawn = node.get("data-mml-node") is not None or str(node.tag).startswith("mjx-")
    return read(_in_order(kind, parts, node) if is_drawn else parts)


def _in_order(kind: str, parts: list[str], node: HtmlElement) -> list[str]:
    """Operands as MathML has them: MathJax draws what is above before what is below."""
    if kind == "msubsup" and len(parts) == 3:
        return [parts[0], parts[2], parts[1]]
    if str(node.tag).startswith("mjx-") and kind == "munderover" and len(parts) == 3:
        return [parts[1], parts[2], parts[0]]
    if str(node.tag).startswith("mjx-") and kind == "mover" and len(parts) == 2:
        return parts[::-1]
    return [part for part in parts if part != "√"] if kind in {"msqrt", "mroot"} else parts


def _glyphs(node: HtmlElement) -> str:
    """The characters of what is drawn, which are named in classes or data."""
    codes = (
        one.get("data-c") or next(iter(_GLYPH.findall(one.get("class") or "")), "") for one in node.iter()
    )
    text = "".join(chr(int(code, 16)) for code in codes if code and int(code, 16) < 0x110000)
    return unicodedata.normalize("NFKC", text)


def _braced(text: str) -> str:
    text = text.strip()
    return text if len(text) == 1 else f"{{{text}}}"


def _over(base: str, over: str) -> str:
    accent = _ACCENTS.get(over)
    return f"\\{accent}{{{base}}}" if accent else f"{base}^{_braced(over)}"


def _of(count: int, write: Callable[..., str]) -> Callable[[list[str]], str]:
    """Write *count* operands; a broken formula says what it has."""
    return lambda parts: write(*parts) if len(parts) == count else "".join(parts)


_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms", "mspace"})
_GROUPS = frozenset(
    {"math", "mrow", "mstyle", "semantics", "texatom", "TeXAtom", "mpadded", "menclose", "merror"}
)
_READ: dict[str, Callable[[list[str]], str]] = {
    "msup": _of(2, lambda base, above: f"{base}^{_braced(above)}"),
    "msub": _of(2, lambda base, below: f"{base}_{_braced(below)}"),
    "msubsup": _of(3, lambda base, below, above: f"{base}_{_braced(below)}^{_braced(above)}"),
    "mover": _of(2, _over),
    "munder": _of(2, lambda base, below: f"{base}_{_braced(below)}"),
    "munderover": _of(3, lambda base, below, above: f"{base}_{_braced(below)}^{_braced(above)}"),
    "mfrac": _of(2, lambda above, below: f"\\frac{{{above}}}{{{below}}}"),
    "mroot": _of(2, lambda base, index: f"\\sqrt[{index}]{{{base}}}"),
    "msqrt": lambda parts: f"\\sqrt{{{''.join(parts)}}}",
    "mfenced": lambda parts: f"({','.join(parts)})",
    "mtable": lambda rows: "\\begin{matrix}" + " \\\\ ".join(rows) + "\\end{matrix}",
    "mtr": " & ".join,
    "mtd": "".join,
}
_PLACING = frozenset(
    {"strut", "pstrut", "vlist-s", "nulldelimiter", "frac-line", "hide-tail", "katex-mathml"}
)


def _katex(node: HtmlElement, depth: int = 0) -> str:
    """Read what KaTeX draws: what is above and below is a list of lines, the lowest first."""
    words = (node.get("class") or "").split()
    if not _PLACING.isdisjoint(words):
        return ""
    if depth > _DEEPEST:
        return raw_text(node)
    if not {"msupsub", "mfrac", "sqrt", "op-limits"}.isdisjoint(words):
        named = ((one, (one.get("class") or "").split()) for one in node.iter("span"))
        lists = {
            name: one for one, names in reversed(list(named)) for name in names if name.startswith("vlist")
        }
        lines = [_katex(line, depth + 1) for line in lists.get("vlist", ())]
        return _of_lines(words, list(filter(None, lines)), has_below="vlist-t2" in lists)
    pieces = [node.text or ""]
    for child in node:
        pieces += [_katex(child, depth + 1), child.tail or ""]
    return "".join(pieces).replace("\u200b", "")


def _of_lines(words: list[str], lines: list[str], *, has_below: bool) -> str:
    if "mfrac" in words and len(lines) == 2:
        return f"\\frac{{{lines[1]}}}{{{lines[0]}}}"
    if "sqrt" in words:
        return f"\\sqrt{{{''.join(lines)}}}"
    if not lines:
        return ""
    if "op-limits" in words:
        below = lines.pop(0) if has_below and len(lines) > 1 else ""
        above = lines[1:]
        return (
            lines[0] + (f"_{_braced(below)}" if below else "") + "".join(f"^{_braced(one)}" for one in above)
        )
    below, above = (lines[0], lines[1:]) if has_below else ("", lines)
    return (f"_{_braced(below)}" if below else "") + "".join(f"^{_braced(one)}" for one in above)
