"""Which documentation generator made a page, and where such pages keep content and anchors."""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum

from lxml.html import HtmlElement

from ingest.parse.html.apart import is_beside_text, is_toc, is_within_words, leads_elsewhere, names_heading
from ingest.parse.html.dom import HEADING_LEVELS, Survey, class_words, name_parts
from ingest.parse.html.words import word_set


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
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a family lays out its pages.

    `containers` are tried in order (tag, attribute, value; `class` matches one word); `chrome` are class
    names and ids of what stands around or amid the content, `chrome_words` words inside such names;
    `signatures` are class names of headings that declare a function or type: they head no section, and
    neither do the headings h5 and h6 of what is said about one; `members.py` has what they declare.
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
        containers=(*_MAIN, ("div", "class", "body"), ("div", "class", "document")),
        chrome=word_set(
            "related sphinxsidebar clearer contents toc-backref viewcode-link rst-footer-buttons"
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
    ("sphinx", Family.SPHINX),
    ("docutils", Family.SPHINX),
)

_SPHINX_SCRIPTS = frozenset(
    {"doctools.js", "documentation_options.js", "searchtools.js", "sphinx_highlight.js"}
)

_MARKS = (
    (frozenset({"titlepage", "navheader"}), Family.DOCBOOK),
    (frozenset({"sphinxsidebar"}), Family.SPHINX),
    (frozenset({"headerlink", "toctree-wrapper"}), Family.SPHINX),
    (frozenset({"headerlink", "section"}), Family.SPHINX),
    (frozenset({"md-content", "headerlink"}), Family.MKDOCS),
    (frozenset({"theme-doc-markdown"}), Family.DOCUSAURUS),
    (frozenset({"topnav", "contentcontainer"}), Family.JAVADOC),
    (frozenset({"sect1", "sectionbody"}), Family.ASCIIDOCTOR),
)


def recognise_family(survey: Survey) -> Family:
    """Detect the family by the generator meta element, else by classes that only it writes together."""
    generator = survey.generator.lower()
    if not _SPHINX_SCRIPTS.isdisjoint(survey.scripts):
        return Family.SPHINX
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
    return not _is_named(f"{class_} {id_}", shape, 1) and next(element.iter("a"), None) is not None


def _is_within_text(element: HtmlElement) -> bool:
    says = next(element.iter("p", "pre", "li", "dd", "td"), None) is not None
    return says and (element.tag in {"details", "table"} or is_beside_text(element))


def _is_called(names: Set[str], name: str, shape: Shape, least: int) -> bool:
    is_written = any(one in shape.chrome or one.replace("_", "-") in shape.chrome for one in names)
    return is_written or _is_named(name, shape, least)


def _is_named(name: str, shape: Shape, least: int) -> bool:
    if not shape.chrome_words:
        return False
    words = name_parts(name)
    return len(words) >= least and not shape.chrome_words.isdisjoint(words)
