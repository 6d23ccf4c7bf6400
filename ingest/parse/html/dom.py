"""Text of a page > its tree, and what one pass over all elements tells."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.declarations import write_declarations
from ingest.parse.html.signs import write_signs
from ingest.parse.html.visibility import count_all_words, hidden_elements, open_parts, raw_text
from ingest.urls import registrable_domain
from schemas.errors import ParseError

HEADING_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}

_FIFTH_LEVEL = frozenset({"subsubsection", "unnumberedsubsubsec", "appendixsubsubsec", "subsubheading"})
"""Classes of h4 that stands below h4: Texinfo goes no deeper and tells the fifth level by its name."""

_CHAPTERS = frozenset({"chapter", "appendix", "preface", "article"})

_TITLES = frozenset({"title", "caption"})

_START = re.compile(r"/|(?:https?:)?//([^/?#]+)/?", re.IGNORECASE)
"""Addresses of the first page of a site, with the name of its host."""

_TEXTS = frozenset({"div", "p", "main", "article", "section", "table", "h1", "header", "form", "center"})
_TEXT_OF = etree.XPath(".//text()[not(parent::style or parent::script)]")
_WHOLE_PAGE = 100
"""Words of a `noscript` from which on it is no notice that a script is needed."""

_DEEP, _FOLDED, _SOME = 200, 64, 40
"""Elements within each other at which a block ends those around it, all but so many; and how many more there
may be then. libxml2 drops without a word what is deeper than 256."""

_ROOM = 10_000
"""Elements that a page so deep may have, which take some 5 s of processor time; the rest is cut off."""

_CUT = "data-cut"

_CLASSES = etree.ElementDefaultClassLookup(element=HtmlElement)
"""All elements are of one class: a parser of lxml.html asks Python for that of each, in every walk."""

_HEAD_TAGS = frozenset({"title", "meta", "link", "script", "style", "base", "noscript", "template", "object"})
_SPLIT = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class Survey:
    """One page: its tree, who owns each id, and which classes, scripts (file names) and generator it names,
    and what of it is hidden.

    `owners` maps an id (or the `name` of an `a`) to the first element that bears it. `nodes` are all
    elements: while something holds them, lxml does not make them anew for every walk.
    """

    root: HtmlElement
    owners: dict[str, HtmlElement] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)
    scripts: set[str] = field(default_factory=set)
    generator: str = ""
    hidden: frozenset[HtmlElement] = frozenset()
    nodes: tuple[HtmlElement, ...] = ()


def parse_tree(text: str, *, subject: str) -> HtmlElement:
    """Parse *text* as HTML, also when it is XHTML; comments and processing instructions are dropped.

    Raises: ParseError: there is no element in it.
    """
    try:
        root = parse_markup(text.encode("utf-8", "replace"))
    except etree.LxmlError as error:
        raise ParseError("no element found; is this HTML?", subject=subject) from error
    if root is None:
        raise ParseError("no element found; is this HTML?", subject=subject)
    root.getroottree().docinfo.URL = subject
    settle_tree(root)
    return root


def parse_markup(data: bytes) -> HtmlElement | None:
    """Parse UTF-8 as libxml2 does, all of it: elements nested too deep for it stand beside those around them.

    Raises: LxmlError: there is nothing in it.
    """
    parser = _parser(remove_comments=True, remove_pis=True)
    root = etree.fromstring(data, parser)
    if parser.error_log.filter_types(etree.ErrorTypes.ERR_RESOURCE_LIMIT):
        return etree.fromstring(data, _parser(target=_Folded()))
    return root


def _parser(**options: Any) -> etree.HTMLParser:
    parser = etree.HTMLParser(encoding="utf-8", **options)
    parser.set_element_class_lookup(_CLASSES)
    return parser


class _Folded:
    """Builds the tree of what a parser hears; where it would be too deep, many elements end at once.

    Walks up and down a tree, of which there are many, would take time by the square of its depth.
    """

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder(element_factory=_parser().makeelement)
        self._open: list[str] = []  # by the parser
        self._kept: list[int] = []  # of these, by their places: those that the tree has open, too
        self._deep, self._room = _DEEP, _ROOM

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._open.append(tag)
        self._room -= 1
        if self._room < 0:
            return
        if len(self._kept) >= self._deep + (0 if tag in _TEXTS else _SOME):
            self._deep = _FOLDED + _SOME
            while len(self._kept) > _FOLDED:
                self._builder.end(self._open[self._kept.pop()])
        self._kept.append(len(self._open) - 1)
        self._builder.start(tag, attributes)

    def end(self, tag: str) -> None:
        self._open.pop()
        if self._kept and self._kept[-1] == len(self._open):
            self._kept.pop()
            self._builder.end(tag)

    def data(self, text: str) -> None:
        if self._room >= 0:
            self._builder.data(text)

    def comment(self, _text: str) -> None:
        """Comments are no text."""

    def close(self) -> HtmlElement:
        root = self._builder.close()
        if self._room < 0:
            root.set(_CUT, "")
        return root


def is_cut(root: HtmlElement) -> bool:
    """Whether the end of a page nested too deep was cut off."""
    return root.get(_CUT) is not None


def settle_tree(root: HtmlElement) -> None:
    """Set right what libxml2 reads otherwise than browsers show it."""
    _move_out_of_head(root)
    _part_headings(root)
    _mark_title(root)
    _free_main(root)
    _open_noscript(root)
    open_parts(root)
    for script in root.iter("script"):
        # MathJax sets what stands in such a script, which is the only text of the formula.
        if (script.get("type") or "").lower().startswith("math/tex"):
            script.tag = "math"
    write_declarations(root)
    write_signs(root)


def _move_out_of_head(root: HtmlElement) -> None:
    """Put into the body what libxml2 left in the head: where <body> is not written, elements of HTML 5."""
    head, body = root.find("head"), root.find("body")
    strays = [] if head is None else [child for child in head if child.tag not in _HEAD_TAGS]
    if strays and body is None:
        body = etree.SubElement(root, "body")
    for place, stray in enumerate(strays):
        body.insert(place, stray)


def _free_main(root: HtmlElement) -> None:
    """Let no navigation be around the main element: what is not closed in it ends with it in browsers.

    Source: WHATWG HTML, 4.4.14: `main` stands in no `article`, `aside`, `footer`, `header` or `nav`.
    """
    for main in root.iter("main"):
        for around in main.iterancestors("aside", "footer", "header", "nav"):
            around.tag = "div"


def _open_noscript(root: HtmlElement) -> None:
    """Read a page that stands in a `noscript`: where what is in it is not closed, libxml2 never ends it."""
    for noscript in root.iter("noscript"):
        words = count_all_words(noscript)
        if words >= _WHOLE_PAGE and _words_beside(noscript) * 10 < words:
            noscript.tag = "div"


def _words_beside(element: HtmlElement) -> int:
    around = element.getparent()
    others = () if around is None else (one for one in around if one is not element and one.tag in _TEXTS)
    texts = (text for one in others for text in _TEXT_OF(one))
    return sum(len(text.split()) for text in texts)


def _part_headings(root: HtmlElement) -> None:
    """End a heading where the next begins, as browsers do: libxml2 puts the second into the first."""
    last: dict[HtmlElement, HtmlElement] = {}
    for heading in list(root.iter(*HEADING_LEVELS)):
        around = heading.getparent()
        if around is not None and around.tag in HEADING_LEVELS:
            last.get(around, around).addnext(heading)
            last[around] = heading


def _mark_title(root: HtmlElement) -> None:
    """Make a heading of what is called a title, if the title element says it too."""
    stated = stated_title(root)
    for title in root.iter("div", "p"):
        if not _TITLES.isdisjoint(classes_of(title)) and len(title) < 2:
            text = normal_space(raw_text(title))
            if text and (stated == text or stated.endswith(f": {text}")):
                title.tag = "h1"
                return


def survey_tree(root: HtmlElement) -> Survey:
    """Walk all elements once and note ids, classes and the generator."""
    survey = Survey(root, nodes=tuple(root.iter(etree.Element)), hidden=hidden_elements(root))
    for element in survey.nodes:
        attributes = element.attrib
        if not attributes:
            continue
        anchor = anchor_of(element)
        if anchor is not None:
            survey.owners.setdefault(anchor, element)
        class_ = attributes.get("class")
        if class_ is not None:
            survey.classes.update(class_words(class_))
    survey.scripts.update(
        (script.get("src") or "").partition("?")[0].rpartition("/")[2] for script in root.iter("script")
    )
    survey.generator = " ".join(meta_contents(root, "generator"))
    return survey


def anchor_of(element: HtmlElement) -> str | None:
    """The id of an element, or the name of an `a`; None where it has none or one with white space."""
    anchor: str | None = element.get("id") or (element.get("name") if element.tag == "a" else None)
    return None if not anchor or anchor.split() != [anchor] else anchor


def meta_contents(root: HtmlElement, *names: str) -> Iterator[str]:
    """Contents of the meta elements of these (lower-case) names."""
    for element in root.iter("meta"):
        if (element.get("name") or element.get("property") or "").lower() in names:
            yield element.get("content") or ""


@lru_cache(maxsize=4096)
def class_words(class_: str) -> frozenset[str]:
    """The class names of a class attribute, lower case."""
    return frozenset(class_.lower().split())


def classes_of(element: HtmlElement) -> frozenset[str]:
    """The class names of an element, lower case."""
    return class_words(element.get("class") or "")


@lru_cache(maxsize=4096)
def name_parts(name: str) -> frozenset[str]:
    """The words inside class names or an id: `site-nav_bar` > site, nav, bar."""
    return frozenset(_SPLIT.split(name.lower()))


def heading_level(element: HtmlElement) -> int | None:
    """1-6 of h1-h6, or of role=heading by its aria-level, which is 2 where none is stated (WAI-ARIA).

    None for other elements, entries of menus, and the name of a site that leads to its start.
    """
    level = HEADING_LEVELS.get(element.tag)
    if level is not None and len(element) == 1 and (_is_entry(element) or _names_site(element)):
        return None
    if level == 4 and (element.get("class") or "") in _FIFTH_LEVEL:
        return 5
    if level == 2 and (_names_manual_page(element) or _names_chapter(element)):
        return 1
    if level is None and element.get("role") == "heading":
        stated = element.get("aria-level") or ""
        level = min(max(int(stated), 1), 6) if stated.isdecimal() and len(stated) < 3 else 2
    return level


def _is_entry(heading: HtmlElement) -> bool:
    """Whether a heading is an item of a list, and nothing but a link: a tab or an entry of a menu."""
    around = heading.getparent()
    return around is not None and around.tag == "li" and len(around) == 1 and _only_link(heading) is not None


def _names_chapter(heading: HtmlElement) -> bool:
    """Whether DocBook wrote it over a chapter: older versions give h2 to chapters and to their sections."""
    if heading.get("class") != "title":
        return False
    inside_title_page = False
    for around in islice(heading.iterancestors("div"), 4):
        words = classes_of(around)
        if inside_title_page:
            return not _CHAPTERS.isdisjoint(words)
        inside_title_page = "titlepage" in words
    return False


def _names_manual_page(heading: HtmlElement) -> bool:
    """Whether it is the name of a reference page, to which DocBook gives the level of the page's sections."""
    around = heading.getparent()
    stands_over = around is not None and "refnamediv" in classes_of(around)
    return stands_over and len(heading) == 1 and heading[0].get("class") == "refentrytitle"


def _names_site(heading: HtmlElement) -> bool:
    """Whether it leads to the start of the site that the page is of; one of another site is its subject."""
    link = _only_link(heading)
    start = None if link is None else _START.fullmatch((link.get("href") or "").strip())
    if start is None or start[1] is None:
        return start is not None
    own = heading.getroottree().docinfo.URL or ""
    if not own.startswith(("http://", "https://")):
        return False
    return f".{start[1].lower().partition(':')[0]}".endswith(f".{registrable_domain(own)}")


def _only_link(heading: HtmlElement) -> HtmlElement | None:
    """The link that all of a heading's text stands in."""
    link = heading[0]
    alone = not (heading.text or "").strip() and not (link.tail or "").strip()
    return link if link.tag == "a" and alone else None


def stated_title(root: HtmlElement) -> str:
    """What the title element says, in one line; "" without one."""
    return next((normal_space(title.text or "") for title in root.iter("title")), "")


def normal_space(text: str) -> str:
    """Runs of white space as one space, none at the edges."""
    return " ".join(text.split())
