"""Which generator made a page, and how it marks content, questions and members."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice, takewhile

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import HEADING_LEVELS, Survey, class_words, classes_of, name_parts, normal_space
from ingest.parse.html.inline import inline_text
from ingest.parse.html.landmarks import (
    is_beside_text,
    is_toc,
    is_within_words,
    leads_elsewhere,
    names_heading,
)
from ingest.parse.html.visibility import holds_tag, raw_text, word_set
from ingest.parse.outline import Heading, Part
from ingest.parse.wording import strip_numbering


class Family(StrEnum):
    """Known shapes of pages; PLAIN is any other."""

    SPHINX = "sphinx"
    DOCBOOK = "docbook"
    TEXINFO = "texinfo"
    ASCIIDOCTOR = "asciidoctor"
    MKDOCS = "mkdocs"
    DOCUSAURUS = "docusaurus"
    JAVADOC = "javadoc"
    RUSTDOC = "rustdoc"
    DOXYGEN = "doxygen"
    HADDOCK = "haddock"
    PDOC = "pdoc"
    TYPEDOC = "typedoc"
    JSDOC = "jsdoc"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a family lays out its pages.

    `containers` are tried in order (tag, attribute, value; `class` matches one word); `chrome` are class
    names and ids of what stands around or amid the content, `chrome_words` words inside such names;
    `signatures` are class names of headings that declare a function or type: they head no section, and
    neither do the headings h5 and h6 of what is said about one; `member_name` says what they declare.
    `section_anchor` says that the id of a section
    lies on the element around its heading, else it stands before the heading; `numbered` headings carry
    their number as plain text; `has_questions`: the class `question` marks those of a FAQ.
    """

    containers: tuple[tuple[str, str, str], ...]
    chrome: frozenset[str] = frozenset()
    chrome_words: frozenset[str] = frozenset()
    signatures: frozenset[str] = frozenset()
    section_anchor: bool = False
    numbered: bool = False
    has_questions: bool = False


_MAIN = (("*", "role", "main"), ("main", "", ""))
_BODY = (("body", "", ""),)

SHAPES: dict[Family, Shape] = {
    Family.SPHINX: Shape(
        containers=(
            ("article", "class", "bd-article"),
            *_MAIN,
            ("div", "class", "body"),
            ("div", "class", "document"),
        ),
        chrome=word_set(
            "related sphinxsidebar clearer contents toc-backref viewcode-link rst-footer-buttons onlyprint"
        ),
        section_anchor=True,
    ),
    Family.DOCBOOK: Shape(
        containers=_BODY,
        chrome=word_set(
            "navheader navfooter toc list-of-tables list-of-figures list-of-examples doccomments"
        ),
        section_anchor=True,
        numbered=True,
        has_questions=True,
    ),
    Family.TEXINFO: Shape(
        containers=_BODY,
        chrome=word_set("header nav-panel contents shortcontents menu mini-toc"),
        numbered=True,
    ),
    Family.ASCIIDOCTOR: Shape(
        containers=_BODY,
        chrome=frozenset({"toc", "footer"}),
        chrome_words=frozenset({"dropdown"}),
        numbered=True,
    ),
    Family.MKDOCS: Shape(
        containers=(("article", "", ""), *_MAIN),
        chrome=word_set("md-sidebar md-source-file md-content__button md-feedback toc"),
    ),
    Family.DOCUSAURUS: Shape(
        containers=(("div", "class", "theme-doc-markdown"), ("article", "", ""), *_MAIN),
        chrome=word_set(
            "theme-doc-breadcrumbs theme-doc-toc-mobile theme-doc-footer pagination-nav theme-edit-this-page"
        ),
    ),
    Family.JAVADOC: Shape(
        containers=(*_MAIN, *_BODY),
        chrome=word_set(
            "topnav bottomnav subnav legalcopy top-nav sub-nav navbar.top navbar.bottom skip-nav toc"
        ),
        section_anchor=True,
    ),
    Family.RUSTDOC: Shape(
        containers=(("section", "id", "main-content"), *_MAIN),
        chrome=word_set(
            "rustdoc-breadcrumbs out-of-band sub-heading src rightside since notable-traits rustdoc-toolbar "
            "hideme"
        ),
        signatures=frozenset({"code-header"}),
        section_anchor=True,
    ),
    Family.DOXYGEN: Shape(
        containers=(("div", "class", "contents"), ("div", "class", "textblock")),
        chrome=word_set("toc levels ttc dynheader dyncontent permalink"),
    ),
    Family.HADDOCK: Shape(
        containers=(("div", "id", "content"),),
        chrome=word_set("table-of-contents selflink link"),
    ),
    Family.PDOC: Shape(
        containers=(*_MAIN, ("article", "", "")), chrome=word_set("view-source-button pdoc-source")
    ),
    Family.TYPEDOC: Shape(
        containers=(("div", "class", "col-content"),),
        chrome=word_set("tsd-breadcrumb tsd-index-panel tsd-sources"),
    ),
    Family.JSDOC: Shape(containers=(("div", "id", "main"),), chrome=frozenset({"tag-source"})),
    Family.PLAIN: Shape(
        containers=(*_MAIN, ("article", "", "")),
        chrome=word_set(
            "toc table-of-contents breadcrumb breadcrumbs pagination pager sidebar skip-link share social"
        ),
        chrome_words=word_set("feedback footer dropdown related similar popover"),
    ),
}

_GENERATORS = (
    ("docbook", Family.DOCBOOK),
    ("makeinfo", Family.TEXINFO),
    ("texi2any", Family.TEXINFO),
    ("asciidoc", Family.ASCIIDOCTOR),
    ("mkdocs", Family.MKDOCS),
    ("docusaurus", Family.DOCUSAURUS),
    ("javadoc", Family.JAVADOC),
    ("rustdoc", Family.RUSTDOC),
    ("doxygen", Family.DOXYGEN),
    ("pdoc", Family.PDOC),
    ("sphinx", Family.SPHINX),
    ("docutils", Family.SPHINX),
)

_SCRIPTS = {
    **dict.fromkeys(
        ("doctools.js", "documentation_options.js", "searchtools.js", "sphinx_highlight.js"), Family.SPHINX
    ),
    **dict.fromkeys(("haddock-bundle.min.js", "haddock-util.js"), Family.HADDOCK),
}

_MARKS = (
    (frozenset({"titlepage", "navheader"}), Family.DOCBOOK),
    (frozenset({"sphinxsidebar"}), Family.SPHINX),
    (frozenset({"headerlink", "toctree-wrapper"}), Family.SPHINX),
    (frozenset({"headerlink", "section"}), Family.SPHINX),
    (frozenset({"md-content", "headerlink"}), Family.MKDOCS),
    (frozenset({"theme-doc-markdown"}), Family.DOCUSAURUS),
    (frozenset({"topnav", "contentcontainer"}), Family.JAVADOC),
    (frozenset({"sect1", "sectionbody"}), Family.ASCIIDOCTOR),
    (frozenset({"tsd-page-toolbar", "col-content"}), Family.TYPEDOC),
    (frozenset({"page-title", "type-signature"}), Family.JSDOC),
)


def recognise_family(survey: Survey) -> Family:
    """Detect the family by its scripts, the generator meta element, or classes it alone writes together."""
    generator = survey.generator.lower()
    for script, family in _SCRIPTS.items():
        if script in survey.scripts:
            return family
    for word, family in _GENERATORS:
        if word in generator:
            return family
    return next((family for marks, family in _MARKS if marks <= survey.classes), Family.PLAIN)


def find_container(survey: Survey, family: Family) -> HtmlElement | None:
    """The first element that is the family's own container of content, or None.

    Where a generator wrote several beside each other, as on the front of a blog, it is what is around them.
    """
    for tag, attribute, value in SHAPES[family].containers:
        for element in survey.root.iter(tag):
            if not attribute or value in class_words(element.get(attribute) or ""):
                return _around_articles(element) if family is not Family.PLAIN else element
    return None


def _around_articles(first: HtmlElement) -> HtmlElement:
    """The smallest element around all outermost articles of a page whose content is the *first* of them."""
    if first.tag != "article":
        return first
    others = (
        one for one in first.getroottree().iter("article") if next(one.iterancestors("article"), None) is None
    )
    shared = [first, *first.iterancestors()]
    for other in others:
        around = {other, *other.iterancestors()}
        shared = [one for one in shared if one in around]
    return shared[0]


def is_chrome(element: HtmlElement, shape: Shape) -> bool:
    """Whether class or id of the element are among those the family writes around its content.

    What no generator wrote must stand there as well, or lead elsewhere: authors call things as they like. An
    id of one word is none of `chrome_words`. Where one site writes `table-of-contents`, another writes
    `table_of_contents`.
    """
    class_, id_ = element.get("class"), element.get("id")
    if (shape.chrome_words or class_ is None) and is_within_words(element):
        return False
    by_class = class_ is not None and _is_called(class_words(class_), class_, shape, 1)
    by_id = id_ is not None and _is_called({id_.lower()}, id_, shape, 2) and not names_heading(element)
    if element.tag in HEADING_LEVELS or not (by_class or by_id):
        return bool(shape.chrome_words) and is_toc(element)
    if not shape.chrome_words or leads_elsewhere(element) or not _is_within_text(element):
        return True
    return not _is_named(f"{class_} {id_}", shape, 1) and holds_tag(element, "a")


def _is_within_text(element: HtmlElement) -> bool:
    says = holds_tag(element, "p", "pre", "li", "dd", "td")
    return says and (element.tag in {"details", "table"} or is_beside_text(element))


def _is_called(names: Set[str], name: str, shape: Shape, least: int) -> bool:
    is_written = any(one in shape.chrome or one.replace("_", "-") in shape.chrome for one in names)
    return is_written or _is_named(name, shape, least)


def _is_named(name: str, shape: Shape, least: int) -> bool:
    if not shape.chrome_words:
        return False
    words = name_parts(name)
    return len(words) >= least and not shape.chrome_words.isdisjoint(words)


_SPHINX_CHAPTER = "document-"
"""How Sphinx's single-file builder begins the id of each document that it puts into the one page."""


def mark_titles(parts: list[Part], survey: Survey, family: Family) -> list[Part]:
    """Return *parts* with the headings marked that title the document: no path below begins with them.

    The first heading of an ordinary page says what the page is about, and stays in the paths below. That of
    a whole manual says on every line what the document's title says, and the bookmarks of the same manual
    as PDF leave it out. In Texinfo chapters are h2 and each h1 is the manual's title, its top or a part.
    """
    if family is Family.TEXINFO:
        return [_marked(part) for part in parts]
    if not _is_whole(survey, family):
        return parts
    first = next((place for place, part in enumerate(parts) if isinstance(part, Heading)), None)
    return [_marked(part) if place == first else part for place, part in enumerate(parts)]


def _marked(part: Part) -> Part:
    return replace(part, is_title=True) if isinstance(part, Heading) and part.level == 1 else part


def _is_whole(survey: Survey, family: Family) -> bool:
    """Whether an AsciiDoc page is of the type book, or a Sphinx page one that contains all documents."""
    if family is Family.ASCIIDOCTOR:
        body = survey.root.find("body")
        return body is not None and "book" in classes_of(body)
    if family is Family.SPHINX:
        return any(
            name.startswith(_SPHINX_CHAPTER) and owner.tag == "span" for name, owner in survey.owners.items()
        )
    return False


MAX_QUESTION = 200
"""Code points; a longer one tells a story, and is no title."""

_CELLS = ("td", "th")
_LABEL = re.compile(r"^[QA](?:uestion|nswer)?\s*[:.]\s*", re.IGNORECASE)


def is_question(element: HtmlElement, shape: Shape) -> bool:
    """Whether an entry of a FAQ begins here: a row of a table, or a `div`. Source: DocBook XSL, qandaset."""
    return shape.has_questions and element.tag in {"tr", "div"} and "question" in classes_of(element)


def question_of(element: HtmlElement) -> str:
    """Return what is asked, without number and label, up to where code or a second paragraph begins."""
    cells = [cell for cell in element if cell.tag in _CELLS]
    asked = cells[-1] if cells else element
    first = next(asked.iter("p"), None)
    if first is None and holds_tag(asked, "pre"):
        first = next(asked.iter("b", "strong"), None)
    text = _LABEL.sub("", strip_numbering(inline_text(asked if first is None else first)))
    return text if len(text) <= MAX_QUESTION else ""


def is_question_label(element: HtmlElement, shape: Shape) -> bool:
    """Whether a cell holds the number or the letter of the question in the cell behind it."""
    if element.tag not in _CELLS:
        return False
    row, behind = element.getparent(), element.getnext()
    return (
        row is not None and behind is not None and is_question(row, shape) and element.getprevious() is None
    )


def asks(table: HtmlElement, shape: Shape) -> bool:
    """Whether the rows of a table are questions and answers."""
    return shape.has_questions and any(is_question(row, shape) for row in table.iter("tr"))


_REPEATED = "trait-impl"
"""Class of what a trait declares and its implementation repeats, with a link to where it is said.

Blanket implementations stand on the page of every type: as entries they would be most of an index.
"""

_SINCE = "since"
_NEAR = 8
_COUNTED = re.compile(r"-\d+$")
"""What rustdoc appends to an id that the page has already."""


def member_in(element: HtmlElement, shape: Shape) -> HtmlElement | None:
    """Return the element with the id of the member that *element*, a fold-out or declaration, is; or None."""
    if not shape.signatures or element.tag not in {"details", "section", "div"}:
        return None
    if element.tag == "details":
        summary = element.find("summary")
        declared = () if summary is None else summary.iterchildren("section", "div")
        return next((one for one in declared if _declares(one, shape)), None)
    around = element.getparent()
    folded = around is not None and around.tag == "summary"
    return element if not folded and _declares(element, shape) else None


def member_name(id_: str) -> str:
    """Return `new` for the id `method.new` or `method.new-1`."""
    return _COUNTED.sub("", id_.rpartition(".")[2])


def since_when(heading: HtmlElement, shape: Shape) -> str:
    """Return since when there is what a heading names, as stated in or beside it; "" if nowhere."""
    beside = (one for one in _beside(heading) if is_chrome(one, shape))
    nodes = (node for one in (heading, *beside) for node in one.iter(etree.Element))
    found = next((node for node in nodes if _SINCE in classes_of(node)), None)
    return "" if found is None else normal_space(found.get("title") or raw_text(found))


def _beside(heading: HtmlElement) -> Iterator[HtmlElement]:
    """Elements behind a heading, then before it, as far as the next heading."""
    for siblings in (heading.itersiblings(), heading.itersiblings(preceding=True)):
        yield from takewhile(lambda one: one.tag not in HEADING_LEVELS, islice(siblings, _NEAR))


def _declares(element: HtmlElement, shape: Shape) -> bool:
    words = classes_of(element)
    if not element.get("id") or "impl" in words or _REPEATED in words:
        return False
    headings = element.iterchildren(*HEADING_LEVELS)
    return any(not shape.signatures.isdisjoint(classes_of(one)) for one in headings)
