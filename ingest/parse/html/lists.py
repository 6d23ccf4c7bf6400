"""The numbers that browsers show before the items of a list."""

import re
from collections.abc import Mapping
from itertools import islice

from lxml.html import HtmlElement

from ingest.parse.html.dom import class_words
from ingest.parse.html.words import word_set
from ingest.parse.marks import COUNTED, item_number

_STYLES = {
    "lower-alpha": "a",
    "lower-latin": "a",
    "loweralpha": "a",
    "upper-alpha": "A",
    "upper-latin": "A",
    "upperalpha": "A",
    "lower-roman": "i",
    "lowerroman": "i",
    "upper-roman": "I",
    "upperroman": "I",
}
"""In CSS, and as docutils and Asciidoctor call them in classes."""

_STYLE = re.compile(r"list-style(?:-type)?:[^;]*?\b(none|(?:lower|upper)-(?:alpha|latin|roman))\b")
_PLAIN = word_set(
    "list-unstyled unstyled list-none list-inline no-bullets breadcrumb breadcrumbs commentlist"
)
"""Classes of lists that show no numbers."""


def item_numbers(ordered: HtmlElement) -> Mapping[HtmlElement, str]:
    """Return the number of each item of an `ol` as it is shown; none where the items are written with theirs.

    Source: WHATWG HTML, 4.4.5 and 4.4.8: `start`, `reversed`, `type`, and `value` of items.
    """
    items = [child for child in ordered if child.tag == "li"]
    style = _style_of(ordered)
    if style is None:
        return {}
    step = -1 if "reversed" in ordered.attrib else 1
    number = _integer(ordered.get("start"), len(items) if step < 0 else 1)
    found = {}
    for item in items:
        number = _integer(item.get("value"), number)
        mark = item.get(COUNTED) or item_number(number, item.get("type") or style)
        if not _is_written(item, mark):
            found[item] = mark
        number += step
    return found


def _style_of(ordered: HtmlElement) -> str | None:
    words = class_words(ordered.get("class") or "")
    stated = _STYLE.search("".join((ordered.get("style") or "").lower().split()))
    name = stated[1] if stated else next((word for word in words if word in _STYLES), "")
    if name == "none" or not _PLAIN.isdisjoint(words):
        return None
    return _STYLES.get(name) or ordered.get("type") or "1"


def _integer(stated: str | None, default: int) -> int:
    text = (stated or "").strip()
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 8 else default


def _is_written(item: HtmlElement, mark: str) -> bool:
    """Whether an item begins with its number as text."""
    texts = list(islice(filter(None, (str(text).strip() for text in item.itertext())), 2))
    number = mark[:-1]
    return bool(texts) and (
        texts[0].startswith((mark, f"{number})", f"({number})")) or texts[0] == number != texts[-1]
    )
