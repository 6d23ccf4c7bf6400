"""Addresses of other forms of a page > those of the page: Markdown beside it, a final slash more or less."""

import re
from collections.abc import Iterator

_MARKDOWN = re.compile(r"(?:\.(?:md|mdx|markdown)|\.(?:html?|md)\.txt)\Z", re.IGNORECASE)
_INDEX = re.compile(r"/(?:index|readme)\Z", re.IGNORECASE)
_START = re.compile(r"/(?:index\.(?:html?|php))?\Z", re.IGNORECASE)
_PAGE = re.compile(r"\.html?\Z", re.IGNORECASE)


def markdown_forms(uri: str) -> tuple[str, ...]:
    """Return the addresses of pages whose Markdown *uri* may be: `/page.md` of `/page` and `/page/`."""
    path, mark, query = uri.partition("?")
    match = _MARKDOWN.search(path)
    return tuple(f"{page}{mark}{query}" for page in _pages(path[: match.start()])) if match else ()


def _pages(name: str) -> Iterator[str]:
    yield name
    if not _PAGE.search(name):
        yield from (f"{name}/", f"{name}.html", f"{name}.htm", f"{name}/index.html")
        if start := _INDEX.search(name):
            yield from (name[: start.start()], f"{name[: start.start()]}/")
    elif start := _START.search(name):
        yield from (name[: start.start()], f"{name[: start.start()]}/")


def slash_forms(uri: str) -> tuple[str, ...]:
    """Return the addresses under which servers send one file: with a final slash, without, by its name."""
    path, mark, query = uri.partition("?")
    start = _START.search(path)
    name = path[: start.start()] if start else path
    forms = (name, *(f"{name}/{end}" for end in ("", "index.html", "index.htm", "index.php")))
    return tuple(f"{form}{mark}{query}" for form in forms if form != path and not form.endswith(":/"))
