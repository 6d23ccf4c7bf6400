"""Pictures that show something: what their alternative text says, as text of the place where they stand."""

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import normal_space
from ingest.parse.html.signs import FILE, is_linked
from ingest.parse.html.visibility import stands_in, strip_invisible
from ingest.parse.wording import fold_words, show_figure

_BESIDE, _NEAR, _AROUND = 300, 2, 4
"""A picture's words, said once more in so many characters of the nearest elements beside it, or beside one of
those around it, are its caption."""

_LOOKED_AT = 20
"""Beginnings and ends of elements in one beside it: a page may have very many pictures, and no text."""

_LEAST = 32
"""Pixels: a picture that is stated to be no higher or wider is an icon of a sentence, a bullet or a pixel."""

_FOR_LOOKS = frozenset({"presentation", "none"})
_ICON = re.compile(
    r"(?:^|[^a-z])(?:icon|logo|badge|avatar|gravatar|emoji|spacer|tracking)s?(?=$|[^a-z])", re.IGNORECASE
)
_CALLED_ICON = re.compile(r":[\w+-]+:|.*\b(?:icon|logo|badge|avatar)\W*", re.IGNORECASE)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|tiff?)(?:$|[?#])", re.IGNORECASE)
_MADE_UP = re.compile(
    r"\s*(?:Description automatically generated(?: with \w+ confidence)?"
    r"|AI-generated content may be incorrect)\.?\s*$",
    re.IGNORECASE,
)
"""What Word writes behind an alternative text that nobody has looked at."""


def figure_text(picture: HtmlElement) -> str:
    """Return `[Figure: words]` for an `img` that shows what no text says, "" for any other.

    Words are its `alt`, in which square brackets become round. It says nothing if it is for looks, by its
    role, size or name; if it is all of a link to something else than a picture, whose words it has; if its
    `alt` is the name of a file, or stands in the text beside it.
    """
    alt = _MADE_UP.sub("", normal_space(strip_invisible(picture.get("alt") or "")))
    if not any(map(str.isalnum, alt)) or _CALLED_ICON.fullmatch(alt) or FILE.fullmatch(alt):
        return ""
    if _is_for_looks(picture) or _is_name_of(alt, picture.get("src") or ""):
        return ""
    if is_linked(picture) and not _shows_more(picture):
        return ""
    return "" if _is_beside(alt, picture) else show_figure(alt)


def _is_for_looks(picture: HtmlElement) -> bool:
    if picture.get("role") in _FOR_LOOKS or stands_in(picture, "dt"):
        return True
    around = picture.getparent()
    classes = (one.get("class") or "" for one in (picture, around) if one is not None)
    name = " ".join((*classes, (picture.get("src") or "").rpartition("/")[2]))
    sizes = ((picture.get(side) or "").removesuffix("px") for side in ("width", "height"))
    return _ICON.search(name) is not None or any(size.isdecimal() and int(size) <= _LEAST for size in sizes)


def _is_name_of(alt: str, source: str) -> bool:
    """Whether it is the name of the file: as it is, or without its ending."""
    name = unquote(source.rpartition("/")[2].partition("?")[0])
    return bool(name) and alt.casefold() in {name.casefold(), name.rpartition(".")[0].casefold()}


def _shows_more(picture: HtmlElement) -> bool:
    """Whether the link around it leads to the same picture, larger."""
    link = next(picture.iterancestors("a"))
    return _PICTURE.search(link.get("href") or "") is not None


def _is_beside(alt: str, picture: HtmlElement) -> bool:
    said = f" {fold_words(alt)} "
    around = (picture, *islice(picture.iterancestors(), _AROUND))
    return any(said in f" {fold_words(text)} " for at in around for text in _texts_beside(at))


def _texts_beside(at: HtmlElement) -> Iterator[str]:
    behind, before = (islice(at.itersiblings(preceding=is_before), _NEAR) for is_before in (False, True))
    yield " ".join((at.tail or "", *map(_beginning, behind)))
    around = at.getparent()
    first = "" if around is None else around.text or ""
    yield " ".join((first[:_BESIDE], *reversed([*map(_beginning, before)])))


def _beginning(element: HtmlElement) -> str:
    """The first characters of an element, and of the text behind it."""
    walk = islice(etree.iterwalk(element, events=("start", "end")), _LOOKED_AT)
    texts = (node.text if event == "start" else node.tail for event, node in walk if node is not element)
    own = "".join(filter(None, (element.text, *texts)))
    return f"{own[:_BESIDE]} {(element.tail or '')[:_BESIDE]}"
