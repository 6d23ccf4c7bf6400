"""Addresses of printable pages > those of the pages that they print."""

import re
from collections.abc import Iterator

_PRINT = r"print(?:able|er|view|[-_]?friendly|er[-_]?friendly|[-_]?version)?"
_PAIR = re.compile(
    rf"(?:{_PRINT}(?:=[^&]*)?|(?:view|format|mode|layout|media|action|output|display|tmpl|style)={_PRINT})\Z",
    re.IGNORECASE,
)
_FOLDER = re.compile(rf"/{_PRINT}(?=/|\Z)", re.IGNORECASE)
_NAME = re.compile(rf"[-_.]{_PRINT}(?=(?:\.[a-z0-9]{{2,5}})?\Z)", re.IGNORECASE)


def plain_forms(uri: str) -> tuple[str, ...]:
    """Return the addresses whose printable form *uri* may be, by a query, a folder or a name.

    `/page?print=1`, `/print/page`, `/page/print` and `/page-print.html` print `/page` or `/page.html`.
    """
    path, _, query = uri.partition("?")
    return tuple(dict.fromkeys(form for form in _forms(path, query) if form != uri))


def _forms(path: str, query: str) -> Iterator[str]:
    pairs = query.split("&") if query else []
    kept = "&".join(pair for pair in pairs if not _PAIR.match(pair))
    rest = f"?{kept}" if kept else ""
    if kept != query:
        yield path + rest
    site = re.match(r"[a-z]+://[^/]*", path)
    start = site.end() if site else 0
    for pattern in (_FOLDER, _NAME):
        if match := pattern.search(path, start):
            plain = path[: match.start()] + path[match.end() :]
            yield plain + rest
            if not plain.endswith("/"):
                yield f"{plain}/{rest}"
