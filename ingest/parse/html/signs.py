"""What a page says without words, written into its tree as words: signs, pictures, icons, boxes.

A picture is a word where it stands amid words, or alone in a cell; its alternative text says which.
"""

import re
from functools import lru_cache
from itertools import islice, pairwise

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.formulas import write_formulas
from ingest.parse.html.visibility import raw_text, stands_in, word_set
from ingest.parse.wording import BOXES, lowered, note_mark, raised

AS_TEXT = "sup"
"""The element of what is not found as it is read: of raised signs, and of all that is written here."""

_LONGEST = 60
"""Characters of an alternative text that is a word or a few; a longer one describes a picture."""

_EMOJI = re.compile(r"emoji|smiley|emoticon", re.IGNORECASE)
_RATED = re.compile(
    r"\d(?:[.,]\d+)?\s*(?:/|of|out of|von|sur|de)\s*(?:5|10)|(?=.*\d).*\b(?:stars?|rated|rating)\b.*",
    re.IGNORECASE,
)
_STATES = word_set("yes no not true false done included supported available partly partial required optional")
FILE = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp)|(?:image|img|icon|logo|photo)\W*\d*", re.IGNORECASE)
_YES = re.compile(
    r"(?:^|[\s_/-])(?:check|checkmark|tick|yes|ok|true|success|included)(?=$|[\s._-])", re.IGNORECASE
)
_NO = re.compile(
    r"(?:^|[\s_/-])(?:cross|times|xmark|x|no|remove|false|excluded|close)(?=$|[\s._-])", re.IGNORECASE
)
_CELL_TAGS = frozenset({"td", "th"})
_AMID = word_set("p li dd dt td th label figcaption")
_ITEMS = word_set("li dd td")
_WRAPS = word_set("span b strong em i small font div picture center a abbr")
_SWITCH = re.compile(r"toggle|switch|menu|nav|drawer|accordion|sidebar", re.IGNORECASE)


def write_picture(picture: HtmlElement) -> None:
    """Write what a picture, an icon, a box or a measure says in its place, if it says anything."""
    said = _said(picture)
    if said:
        for inside in list(picture):
            picture.remove(inside)
        picture.tag, picture.text = AS_TEXT, said
        _set_apart(picture)
        for name in ("aria-hidden", "class", "style"):
            picture.attrib.pop(name, None)


def _set_apart(picture: HtmlElement) -> None:
    """Let no word before or behind a picture run into what it says."""
    if _text_before(picture)[-1:].isalnum():
        picture.text = f" {picture.text}"
    if (picture.tail or "")[:1].isalnum():
        picture.tail = f" {picture.tail}"


def _text_before(picture: HtmlElement) -> str:
    beside, around = picture.getprevious(), picture.getparent()
    if beside is not None:
        return beside.tail or raw_text(beside)
    return (around.text if around is not None else "") or ""


def _said(picture: HtmlElement) -> str:
    """What it says; "" for what is for looks, or shown as text besides."""
    if picture.tag == "input":
        if picture.get("type") not in {"checkbox", "radio"}:
            return ""
        return BOXES["checked" in picture.attrib] if _is_ticked_by_author(picture) else ""
    if picture.tag == "meter":
        return _rating(picture) if not raw_text(picture).strip() else ""
    words = _alternative(picture)
    if not words and not picture.get("class") and not picture.get("src"):
        return ""
    if picture.tag not in {"img", "svg"} and raw_text(picture).strip():
        return ""
    around = _block_around(picture)
    if around is None:
        return ""
    beside = " ".join(raw_text(around).split())
    if words and _is_for_all(picture, words):
        return words if words not in beside else ""
    is_alone = around.tag in _CELL_TAGS and not _without_titles(around) and _is_among_rows(around)
    if not words and is_alone:
        return _by_name(picture)
    if not words or picture.get("aria-hidden") == "true" or len(words) > _LONGEST or FILE.fullmatch(words):
        return ""
    return words if is_alone or (around.tag in _AMID and _is_amid(picture, around, words, beside)) else ""


def _is_amid(picture: HtmlElement, around: HtmlElement, words: str, beside: str) -> bool:
    """Whether it is a word of a sentence: behind others, or at the beginning of an item or a cell."""
    said = words.lower().split()
    if not beside or len(said) > 3 or is_linked(picture) or not {*said}.isdisjoint(beside.lower().split()):
        return False
    is_state = len(said) < 3 and (around.tag == "td" or _STATES.issuperset(said))
    return _has_words_before(picture, around) or (around.tag in _ITEMS and is_state)


def _has_words_before(picture: HtmlElement, around: HtmlElement) -> bool:
    at = picture
    while at is not around:
        before = at.itersiblings(preceding=True)
        if any("".join(one.itertext(with_tail=True)).strip() for one in before):
            return True
        at = at.getparent()
        if (at.text or "").strip():
            return True
    return False


def _alternative(picture: HtmlElement) -> str:
    title = picture.find("title")
    inner = "" if title is None else title.text
    names = (picture.get("alt"), picture.get("aria-label"), inner, picture.get("title"))
    return " ".join(next(filter(None, names), "").split())


def _is_for_all(picture: HtmlElement, words: str) -> bool:
    """Whether it is said wherever it stands: a sign that is a picture, or a rating."""
    is_sign = picture.tag == "img" and len(words) <= _LONGEST and _EMOJI.search(picture.get("class") or "")
    is_glyph = picture.tag == "img" and len(words) <= 4 and not words.isascii() and not words.isalnum()
    return bool(is_sign or is_glyph or (len(words) <= _LONGEST and _RATED.fullmatch(words)))


def _by_name(picture: HtmlElement) -> str:
    """Yes or no, by what an icon without words is called."""
    name = f"{picture.get('class') or ''} {(picture.get('src') or '').rpartition('/')[2]}"
    return "Yes" if _YES.search(name) else "No" if _NO.search(name) else ""


def _block_around(picture: HtmlElement) -> HtmlElement | None:
    """The element whose words it may be among: the nearest that does more than set them apart."""
    for around in picture.iterancestors():
        if around.tag not in _WRAPS or (around.tag == "div" and raw_text(around).strip()):
            return around
    return None


def _is_among_rows(cell: HtmlElement) -> bool:
    """Whether its table has several rows; a single one sets a picture beside a text."""
    table = next(cell.iterancestors("table"), None)
    return table is not None and len(list(islice(table.iter("tr"), 2))) == 2


def _without_titles(cell: HtmlElement) -> str:
    titles = sum(len(raw_text(title).strip()) for title in cell.iter("title"))
    return raw_text(cell).strip()[titles:]


def is_linked(picture: HtmlElement) -> bool:
    """Whether a link is nothing but the picture: a badge, a logo."""
    link = next(picture.iterancestors("a"), None)
    return link is not None and not raw_text(link).strip()


def _is_ticked_by_author(box: HtmlElement) -> bool:
    """Whether a box is part of the text: it cannot be ticked, or is an item's or a cell's; and no switch."""
    if _SWITCH.search(" ".join(box.get(name) or "" for name in ("class", "id", "name"))):
        return False
    around = next(
        (one for one in box.iterancestors() if one.tag in _AMID or one.tag in {"form", "nav"}), None
    )
    if around is None or around.tag in {"form", "nav"}:
        return "disabled" in box.attrib and around is None
    is_form = stands_in(box, "form", "nav")
    return "disabled" in box.attrib or not is_form


def _rating(meter: HtmlElement) -> str:
    value, most = meter.get("value"), meter.get("max")
    return f"{value}/{most}" if value and most else value or ""


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
_AFTER_LINE = re.compile(r"(?:\s*\n\s*)?")
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
    if element.tag == "span" and (name := _shift_of(element.get("class") or "", element.get("style") or "")):
        element.tag = name


@lru_cache(maxsize=4096)
def _shift_of(class_: str, style: str) -> str | None:
    named = (_BY_CLASS.get(word) for word in class_.lower().split())
    stated = _BY_STYLE.search(style.replace(" ", ""))
    return next(filter(None, named), {"super": "sup", "sub": "sub"}[stated[1]] if stated else None)


def _write_shifted(element: HtmlElement) -> None:
    text = raw_text(element)
    around = next(element.iterancestors("a"), None)
    if any(link.get("href") for link in element.iter("a")):
        return  # its links are looked at by themselves
    if around is not None and raw_text(around).strip() == text.strip() and _MARK.fullmatch(text.strip()):
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
    if tag == "code" and (_is_inline(element) if len(element) else "\n" not in (element.text or "")):
        return False
    class_ = element.get("class") or ""
    is_stated = _states_language(class_)
    if tag == "div" and not (is_stated or _is_called_code(class_) or _frames_lines(element, class_)):
        return False
    if stands_in(element, "pre"):
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


def _is_inline(code: HtmlElement) -> bool:
    """Whether Docutils wrote it: an element for each word, and line ends where the source has them."""
    return "pre" in (code[0].get("class") or "").split()


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
    """Whether there are several lines: breaks, elements that are one each, or indented text.

    Elements with a blank between them are words of a line.
    """
    children = [child.tag for child in code]
    if children.count("br") > 0 or re.search(r"\S[ \t]*\r?\n[ \t]*\S", raw_text(code)):
        return True
    return len(children) > 1 and all(
        one.tag in {"div", "span", "p"} and _AFTER_LINE.fullmatch(one.tail or "") for one in code
    )


def _is_alone(element: HtmlElement) -> bool:
    around = element.getparent()
    return around is not None and len(around) == 1 and not f"{around.text or ''}{element.tail or ''}".strip()


def _has_numbered_lines(table: HtmlElement) -> bool:
    """Whether its rows are lines of code behind their numbers, which go up by one."""
    rows = [[cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr")]
    if len(rows) < 2 or any(len(row) != 2 for row in rows):
        return False
    numbers = [(raw_text(first).strip() or first.get("data-line-number") or "") for first, _ in rows]
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
