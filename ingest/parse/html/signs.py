"""What a page shows by other means than words and elements that say so, written into its tree as these."""

import re
from functools import lru_cache
from itertools import pairwise

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.formulas import write_formulas
from ingest.parse.html.pictures import write_picture
from ingest.parse.html.words import word_set
from ingest.parse.marks import lowered, note_mark, raised

_TAGS = word_set(
    "a code div i img input listing m:math meter mjx-container mml:math plaintext span sub sup svg table "
    "textarea xmp"
)
_ROLED = etree.XPath("//@role/..")
_BY_CLASS = {"superscript": "sup", "sup": "sup", "super": "sup", "subscript": "sub", "sub": "sub"}
_BY_STYLE = re.compile(r"vertical-align:(super|sub)\b")
_MARK = re.compile(
    r"(?:\w+ )?(?:\d{1,4}[a-z]?|[a-z]{1,2}|[ivxlc]{1,5}|[*\u2020\u2021\u00a7#]{1,4})|[\d,\s\u2013-]+", re.I
)
_NOTE_ROLES = frozenset({"doc-noteref", "noteref"})
_NOTE_CLASSES = ("footnote", "noteref", "fnref", "fn-ref")


_CODE = re.compile(
    r"(?:^|\s)(?:code(?:[_-]*(?:block|listing|example|snippet|lines?|body|content|area))*|sourcecode|hljs"
    r"|codehilite|syntaxhighlighter|prettyprint|view-lines|cm-content|blob-code)(?:__?\w+)?(?=$|\s)",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"(?:^|\s)(?:language-|brush:\s?)\w")
_MAY_FRAME = word_set("fragment highlight listing lines")
"""Classes of frames of code, and of much else: they are where all that is in them is called a line."""

_NOT_IN_CODE = etree.XPath(
    "boolean(.//pre|.//h1|.//h2|.//h3|.//h4|.//ul|.//table|.//img|.//button|.//form"
    "|.//p[br or ../*[not(self::p)]])"
)
_TABLES = frozenset({"table", "grid", "treegrid"})
_ROWS = etree.XPath(".//*[@role='row']")
_CELLS = etree.XPath(".//*[@role='cell' or @role='gridcell' or @role='columnheader' or @role='rowheader']")
_WHOLLY_CODE = frozenset({"xmp", "listing", "plaintext"})


def write_signs(root: HtmlElement) -> None:
    """Write formulas, raised signs, marks of notes, tables by role, code and pictures as what they are."""
    found: dict[str, list[HtmlElement]] = {tag: [] for tag in _TAGS}
    for element in root.iter(*_TAGS):
        found[element.tag].append(element)
    roled = _ROLED(root)
    labelled = [*found["div"], *found["span"]]
    write_formulas(
        [*found["m:math"], *found["mml:math"], *found["mjx-container"], *found["img"], *labelled, *roled]
    )
    for element in reversed([*found["sup"], *found["sub"], *found["span"]]):
        _name_shift(element)
        if element.tag in {"sub", "sup"}:
            _write_shifted(element)
    for link in found["a"]:
        text = link.text
        if text is not None and len(text) < 6 and len(link) == 0 and _leads_to_note(link):
            _write_mark(link, text)
    for tag in ("xmp", "listing", "plaintext", "textarea", "table", "code", "div"):
        for element in reversed(found[tag]):
            if _is_code(element):
                element.tag = "pre"
    for table in roled:
        if table.get("role") in _TABLES and table.tag != "table":
            _write_table(table)
    icons = (one for one in (*found["i"], *found["span"]) if len(one) == 0 and not one.text)
    pictures = (one for one in roled if one.get("role") == "img" and one.tag not in {"img", "svg"})
    for picture in (*found["img"], *found["svg"], *found["input"], *found["meter"], *icons, *pictures):
        write_picture(picture)


def _name_shift(element: HtmlElement) -> None:
    """Call a span what it is set as."""
    if element.tag == "span" and element.attrib:
        named = (_BY_CLASS.get(word) for word in (element.get("class") or "").lower().split())
        style = _BY_STYLE.search((element.get("style") or "").replace(" ", ""))
        stated = {"super": "sup", "sub": "sub"}[style[1]] if style else None
        element.tag = next(filter(None, named), stated) or element.tag


def _write_shifted(element: HtmlElement) -> None:
    text = "".join(element.itertext())
    around = next(element.iterancestors("a"), None)
    if any(link.get("href") for link in element.iter("a")):
        return  # its links are looked at by themselves
    if (
        around is not None
        and "".join(around.itertext()).strip() == text.strip()
        and _MARK.fullmatch(text.strip())
    ):
        shown = note_mark(text)
    else:
        shown = raised(text) if element.tag == "sup" else lowered(text)
    if shown != text.strip():
        for inside in element.iterdescendants():  # they stay for their ids
            inside.text = inside.tail = None
        element.text = shown


def _leads_to_note(link: HtmlElement) -> bool:
    """Whether it is a mark: raised, called one, or set right behind a word."""
    href = link.get("href")
    around = link.getparent()
    if href is None or around is None or not _MARK.fullmatch((link.text or "").strip()):
        return False
    if around.tag == "sup":
        return "[" not in (around.text or "")
    kinds = {link.get("role"), link.get("epub:type")}
    if not _NOTE_ROLES.isdisjoint(kinds) or any(word in (link.get("class") or "") for word in _NOTE_CLASSES):
        return "[" not in _before(link)[-1:]
    return href.startswith("#") and link.text.isdigit() and _before(link)[-1:].isalnum()


def _before(link: HtmlElement) -> str:
    beside = link.getprevious()
    around = link.getparent()
    text = (around.text if around is not None else "") if beside is None else beside.tail
    return text or ""


def _write_mark(link: HtmlElement, text: str) -> None:
    """Write a mark as a raised sign, which no browser finds as it is read."""
    link.text = None
    mark = etree.SubElement(link, "sup")
    mark.text = note_mark(text)


def _is_code(element: HtmlElement) -> bool:
    """Whether an element is set as code, though it is no `pre`."""
    tag = element.tag
    if tag in _WHOLLY_CODE:
        return True
    if tag == "code" and len(element) == 0 and "\n" not in (element.text or ""):
        return False
    class_ = element.get("class") or ""
    is_stated = _states_language(class_)
    if tag == "div" and not (is_stated or _is_called_code(class_) or _frames_lines(element, class_)):
        return False
    if next(element.iterancestors("pre"), None) is not None:
        return False
    if tag == "textarea":
        named = any(word in class_.lower() for word in ("code", "example", "snippet", "source"))
        return (named or "readonly" in element.attrib) and bool((element.text or "").strip())
    if tag == "table":
        return _has_numbered_lines(element)
    if _NOT_IN_CODE(element):
        return False
    if tag == "code":
        return _is_alone(element) and ("hljs" in class_ or _has_lines(element))
    return is_stated or "data-lang" in element.attrib or _has_lines(element)


def _frames_lines(element: HtmlElement, class_: str) -> bool:
    is_frame = not _MAY_FRAME.isdisjoint(class_.lower().split())
    return is_frame and len(element) > 0 and all("line" in (one.get("class") or "") for one in element)


@lru_cache(maxsize=4096)
def _is_called_code(class_: str) -> bool:
    return _CODE.search(class_) is not None


@lru_cache(maxsize=4096)
def _states_language(class_: str) -> bool:
    return _LANGUAGE.search(class_) is not None


def _has_lines(code: HtmlElement) -> bool:
    """Whether there are several lines: breaks, elements that are one each, or indented text."""
    children = [child.tag for child in code]
    if children.count("br") > 0 or re.search(r"\S[ \t]*\r?\n[ \t]*\S", "".join(code.itertext())):
        return True
    return len(children) > 1 and all(
        one.tag in {"div", "span", "p"} and not (one.tail or "").strip() for one in code
    )


def _is_alone(element: HtmlElement) -> bool:
    around = element.getparent()
    return around is not None and len(around) == 1 and not f"{around.text or ''}{element.tail or ''}".strip()


def _has_numbered_lines(table: HtmlElement) -> bool:
    """Whether its rows are lines of code behind their numbers, which go up by one."""
    rows = [[cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr")]
    if len(rows) < 2 or any(len(row) != 2 for row in rows):
        return False
    numbers = [
        ("".join(first.itertext()).strip() or first.get("data-line-number") or "") for first, _ in rows
    ]
    if not all(number.isdecimal() and len(number) < 7 for number in numbers):
        return False
    is_called = _CODE.search(f"{table.get('class') or ''} {rows[0][1].get('class') or ''}") is not None
    in_code = is_called or all(len(cell) == 1 and cell[0].tag in {"code", "pre"} for _, cell in rows)
    return in_code and all(int(after) == int(before) + 1 for before, after in pairwise(numbers))


def _write_table(table: HtmlElement) -> None:
    """Write what is a table by its roles as one."""
    rows = _ROWS(table)
    for row in rows:
        row.tag = "tr"
        cells = _CELLS(row)
        for cell in cells:
            cell.tag = "th" if cell.get("role").endswith("header") else "td"
            cell.set("colspan", cell.get("aria-colspan") or "1")
        row[:] = cells
    if rows:
        table.tag, table.text = "table", None
        table[:] = [*_captions(table), *rows]


def _captions(table: HtmlElement) -> list[HtmlElement]:
    captions = [child for child in table if child.get("role") == "caption"]
    for caption in captions:
        caption.tag = "caption"
    return captions
