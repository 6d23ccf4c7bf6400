"""HTML inside Markdown: its visible text, ids and links."""

from dataclasses import dataclass

from lxml import etree
from lxml.html import HtmlElement, HTMLParser

from ingest.parse.html.dom import anchor_of
from ingest.parse.html.inline import inline_text, read_inline
from ingest.parse.html.prescan import cut_markup
from ingest.parse.links import FoundLink
from ingest.parse.outline import LinkSpan
from schemas.edges import LinkPosition


@dataclass(frozen=True, slots=True)
class InlineHtml:
    """What a piece of HTML in a Markdown file says."""

    text: str = ""
    anchors: tuple[str, ...] = ()
    links: tuple[FoundLink, ...] = ()
    spans: tuple[LinkSpan, ...] = ()


def read_html(content: str) -> InlineHtml:
    """Read one HTML block or tag; a comment or a closing tag says nothing."""
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        markup, _ = cut_markup(content.encode("utf-8", "replace"))
        root = etree.fromstring(b"<body>%s</body>" % markup, parser)
    except etree.LxmlError:
        return InlineHtml()
    elements: list[HtmlElement] = list(root.iter(etree.Element))
    anchors = (anchor_of(element) for element in elements)
    read = read_inline(root)
    return InlineHtml(
        text=read.text,
        spans=read.links,
        anchors=tuple(anchor for anchor in anchors if anchor is not None),
        links=tuple(
            FoundLink(element.get("href"), inline_text(element), LinkPosition.BODY, key=element)
            for element in elements
            if element.tag == "a" and element.get("href")
        ),
    )
