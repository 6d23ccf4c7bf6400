"""What a source takes off its pages, or chooses of them, by CSS selectors and a hook, before they are parsed.

The page as the hook leaves it is the page: family, trail, hints and title are told from all of it. `remove`
and `select` decide on what of it is read. bs4 is imported only where a source asks for any of this.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml.html import HtmlElement

from ingest.parse.html.content import selected_lead
from ingest.parse.html.dom import normal_space, survey_tree
from ingest.parse.html.family import SHAPES, is_chrome, recognise_family
from ingest.parse.html.inline import inline_text
from ingest.parse.html.landmarks import own_landmark
from ingest.parse.html.visibility import UNSEEN_TAGS, is_hidden
from schemas.errors import ParseError
from schemas.fragment import Cleaning, Hook, label

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

RunHook = Callable[[Hook, "BeautifulSoup", str], object]
"""Calls a hook with a page, whose URI comes last; raises ParseError where that fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedPage:
    """A page before and after; `whole` is as the hook left it, `root` what may be read.

    `content` holds what was selected, in `root`; None where nothing was. `lead` is the page's h1 outside of
    that, in `whole`, as are `selected` and `removed`: elements, each with the name of its selector. `matched`
    names the selectors that matched at all.
    """

    whole: HtmlElement
    root: HtmlElement
    content: HtmlElement | None
    lead: HtmlElement | None
    title: str
    matched: tuple[str, ...]
    selected: tuple[tuple[str, HtmlElement], ...]
    removed: tuple[tuple[str, HtmlElement], ...]


def clean_page(markup: str, cleaning: Cleaning, *, subject: str, run_hook: RunHook | None) -> CleanedPage:
    """Run the hook on a page, take off what is to be removed, and find what was selected.

    Where no `select` matches, the whole page is taken. Ids that links lead to stay wherever their place does.

    Raises: ParseError: there is no element in the page, or the hook failed.
    """
    from ingest.parse.html.soup import Anchors, outermost, parse_soup, tree_of

    soup = parse_soup(markup, subject=subject)
    if cleaning.hook is not None:
        anchors = Anchors(soup)
        soup = _hooked(soup, cleaning.hook, subject, run_hook)
        anchors.restore(soup)
    found = _Found.by(cleaning, soup)
    whole, elements = root, now = tree_of(soup, uri=subject)
    removed = outermost([tag for _, tag in found.removed])
    gone = {id(tag) for tag in removed}
    alive = [tag for _, tag in found.selected if not any(id(node) in gone for node in (tag, *tag.parents))]
    selected = outermost(alive)
    lead = selected_lead(whole, *([elements[id(tag)] for tag in tags] for tags in (selected, removed)))
    content: Tag | None = selected[0] if selected else None
    if removed or len(selected) > 1:
        anchors = Anchors(soup)
        for tag in removed:
            tag.extract()
        if len(selected) > 1:
            content = _gathered(selected, elements)
        anchors.restore(soup)
        root, now = tree_of(soup, uri=subject)
    return CleanedPage(
        whole=whole,
        root=root,
        content=None if content is None else now[id(content)],
        lead=lead if selected else None,
        title="" if found.title is None else _text_of(elements[id(found.title)]),
        matched=found.matched,
        selected=tuple((name, elements[id(tag)]) for name, tag in found.selected),
        removed=tuple((name, elements[id(tag)]) for name, tag in found.removed),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Tags by the name of the selector that matched them."""

    selected: tuple[tuple[str, "Tag"], ...]
    removed: tuple[tuple[str, "Tag"], ...]
    title: "Tag | None"
    matched: tuple[str, ...]

    @classmethod
    def by(cls, cleaning: Cleaning, soup: "BeautifulSoup") -> "_Found":
        """Try every selector on the page as it is now, so that their order does not matter."""
        selected = tuple((label("select", css), tag) for css in cleaning.select for tag in soup.select(css))
        removed = tuple((label("remove", css), tag) for css in cleaning.remove for tag in soup.select(css))
        title = soup.select_one(cleaning.title) if cleaning.title else None
        names = {name for name, _ in (*selected, *removed)}
        if cleaning.title is not None and title is not None:
            names.add(label("title", cleaning.title))
        return cls(selected, removed, title, tuple(sorted(names)))


def _hooked(soup: "BeautifulSoup", hook: Hook, subject: str, run_hook: RunHook | None) -> "BeautifulSoup":
    from bs4 import BeautifulSoup

    assert run_hook is not None, "who parses with a hook says how hooks are run"
    had_text = _has_text(soup)
    made = run_hook(hook, soup, subject)
    if made is not None and not isinstance(made, BeautifulSoup):
        raise ParseError(
            f"clean {hook.name} returned a {type(made).__name__}; it should change the BeautifulSoup that it "
            "is given, or return one",
            subject=subject,
        )
    cleaned = soup if made is None else made
    if cleaned.find(True) is None or (had_text and not _has_text(cleaned)):
        raise ParseError(
            f"clean {hook.name} left no text of the page; pages nobody needs belong in scope.exclude",
            subject=subject,
        )
    return cleaned


def _has_text(soup: "BeautifulSoup") -> bool:
    """Whether anything but the head says something; a page of frames has no body."""
    texts = (text for text in (soup.body or soup).strings if text.strip())
    return any(soup.body is not None or text.find_parent("head") is None for text in texts)


def _gathered(selected: "list[Tag]", elements: dict[int, HtmlElement]) -> "Tag":
    """Leave nothing around several selected tags, and nothing by which the reader would pass one over."""
    from ingest.parse.html.soup import keep_only

    shape = SHAPES[recognise_family(survey_tree(next(iter(elements.values()))))]
    around, between = keep_only(selected)
    for tag in (*selected, *between):
        element = elements[id(tag)]
        if own_landmark(element) is not None or is_hidden(element) or is_chrome(element, shape):
            tag.attrs = type(tag.attrs)()  # its id is put back with the other anchors
            tag.name = "div"
        elif tag.name in UNSEEN_TAGS:
            tag.name = "div"
    return around


def _text_of(element: HtmlElement) -> str:
    """What a title says; that of a meta element stands in its attribute."""
    if element.tag == "meta":
        return normal_space(element.get("content") or "")
    return inline_text(element)
