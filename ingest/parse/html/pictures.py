"""Pictures, icons and boxes that say something, written into the tree of a page as words.

A picture is a word where it stands amid words, or alone in a cell; its alternative text says which.
"""

import re
from itertools import islice

from lxml.html import HtmlElement

from ingest.parse.html.words import word_set
from ingest.parse.marks import BOXES

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
_FILE = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp)|(?:image|img|icon|logo|photo)\W*\d*", re.IGNORECASE)
_YES = re.compile(
    r"(?:^|[\s_/-])(?:check|checkmark|tick|yes|ok|true|success|included)(?=$|[\s._-])", re.IGNORECASE
)
_NO = re.compile(
    r"(?:^|[\s_/-])(?:cross|times|xmark|x|no|remove|false|excluded|close)(?=$|[\s._-])", re.IGNORECASE
)
_CELLS = frozenset({"td", "th"})
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
        return beside.tail or "".join(beside.itertext())
    return (around.text if around is not None else "") or ""


def _said(picture: HtmlElement) -> str:
    """What it says; "" for what is for looks, or shown as text besides."""
    if picture.tag == "input":
        if picture.get("type") not in {"checkbox", "radio"}:
            return ""
        return BOXES["checked" in picture.attrib] if _is_ticked_by_author(picture) else ""
    if picture.tag == "meter":
        return _rating(picture) if not "".join(picture.itertext()).strip() else ""
    words = _alternative(picture)
    if not words and not picture.get("class") and not picture.get("src"):
        return ""
    if picture.tag not in {"img", "svg"} and "".join(picture.itertext()).strip():
        return ""
    around = _block_around(picture)
    if around is None:
        return ""
    beside = " ".join("".join(around.itertext()).split())
    if words and _is_for_all(picture, words):
        return words if words not in beside else ""
    is_alone = around.tag in _CELLS and not _without_titles(around) and _is_among_rows(around)
    if not words and is_alone:
        return _by_name(picture)
    if not words or picture.get("aria-hidden") == "true" or len(words) > _LONGEST or _FILE.fullmatch(words):
        return ""
    return words if is_alone or (around.tag in _AMID and _is_amid(picture, around, words, beside)) else ""


def _is_amid(picture: HtmlElement, around: HtmlElement, words: str, beside: str) -> bool:
    """Whether it is a word of a sentence: behind others, or at the beginning of an item or a cell."""
    said = words.lower().split()
    if not beside or len(said) > 3 or _is_link(picture) or not {*said}.isdisjoint(beside.lower().split()):
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
        if around.tag not in _WRAPS or (around.tag == "div" and "".join(around.itertext()).strip()):
            return around
    return None


def _is_among_rows(cell: HtmlElement) -> bool:
    """Whether its table has several rows; a single one sets a picture beside a text."""
    table = next(cell.iterancestors("table"), None)
    return table is not None and len(list(islice(table.iter("tr"), 2))) == 2


def _without_titles(cell: HtmlElement) -> str:
    titles = sum(len("".join(title.itertext()).strip()) for title in cell.iter("title"))
    return "".join(cell.itertext()).strip()[titles:]


def _is_link(picture: HtmlElement) -> bool:
    """Whether a link is nothing but the picture: a badge, a logo."""
    link = next(picture.iterancestors("a"), None)
    return link is not None and not "".join(link.itertext()).strip()


def _is_ticked_by_author(box: HtmlElement) -> bool:
    """Whether a box is part of the text: it cannot be ticked, or is an item's or a cell's; and no switch."""
    if _SWITCH.search(" ".join(box.get(name) or "" for name in ("class", "id", "name"))):
        return False
    around = next(
        (one for one in box.iterancestors() if one.tag in _AMID or one.tag in {"form", "nav"}), None
    )
    if around is None or around.tag in {"form", "nav"}:
        return "disabled" in box.attrib and around is None
    is_form = next(box.iterancestors("form", "nav"), None) is not None
    return "disabled" in box.attrib or not is_form


def _rating(meter: HtmlElement) -> str:
    value, most = meter.get("value"), meter.get("max")
    return f"{value}/{most}" if value and most else value or ""
