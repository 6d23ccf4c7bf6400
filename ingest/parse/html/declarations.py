"""Declarations that generators set as tables and fold-outs, written into the tree as a reader sees them.

A table of cells tears `int f(char c)` into `int f | ( | char | c | )`, and a member from its type.
"""

from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

_TABLES = etree.XPath("//table[@class='memname' or @class='mlabels' or @class='memberdecls']")
_PAGE_TITLES = etree.XPath("//div[@class='headertitle']/div[@class='title' and not(div)]")
_TITLES = etree.XPath("//h2[@class='memtitle']")
_TAGS = etree.XPath("//code[@class='tsd-tag']")
_GROUPS = etree.XPath("//*[starts-with(@class, 'tsd-accordion') or contains(@class, ' tsd-accordion')]")
_SOURCES = etree.XPath("//div[@class='pdoc-code codehilite']")
_NEAR = 3
"""Siblings before a source among which the declaration is that it is of."""
_PARTS = ("tbody", "tr", "td")


def write_declarations(root: HtmlElement) -> None:
    """Set declarations of Doxygen, TypeDoc and pdoc as lines, under headings of their own."""
    for title in _PAGE_TITLES(root):
        title.tag = "h1"
    for title in _TITLES(root):
        title.tag = "h3"  # as high as the group that it stands in
    for tag in _TAGS(root):
        tag.tail = f" {tag.tail or ''}"
    for group in _GROUPS(root):
        group.tag = "div"  # its headings are those of the page
    for source in _SOURCES(root):
        before = islice(source.itersiblings("div", preceding=True), _NEAR)
        if any((one.get("class") or "").startswith("attr ") for one in before):
            source.set("class", "pdoc-source")
    for table in _TABLES(root):
        _write_lines(table)


def _write_lines(table: HtmlElement) -> None:
    """Make one line of a declaration, and a block of each row that lists a member."""
    parts = [node for node in table.iter(*_PARTS) if next(node.iterancestors("table")) is table]
    table.tag = line = "span" if table.get("class") == "memname" else "div"
    for part in parts:
        part.tag = "span" if part.tag == "td" else line
        part.tail = f" {part.tail or ''}"
