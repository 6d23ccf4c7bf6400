"""What a page says it is for, to machines: a product for sale, a discussion, or nothing.

Source: schema.org types in JSON-LD and microdata, the Open Graph protocol's `og:type`.
"""

import re
from enum import StrEnum

from lxml.html import HtmlElement

from ingest.parse.html.dom import meta_contents

_STATED_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:https?://schema\.org/)?(\w+)"')
_PRODUCTS = frozenset(
    {"product", "productgroup", "individualproduct", "productmodel", "product.item", "og:product"}
)
_DISCUSSIONS = frozenset({"discussionforumposting", "qapage", "question"})
_LONGEST_SCRIPT = 262_144


class Purpose(StrEnum):
    """Kinds of pages whose content needs another rule than prose."""

    PRODUCT = "product"
    DISCUSSION = "discussion"
    OTHER = "other"


def stated_purpose(root: HtmlElement) -> Purpose:
    """Detect a page's purpose by its Open Graph type, JSON-LD and microdata."""
    types = {name.strip().lower() for name in meta_contents(root, "og:type")}
    for script in root.iter("script"):
        text = script.text
        if script.get("type") == "application/ld+json" and text and len(text) <= _LONGEST_SCRIPT:
            types.update(name.lower() for name in _STATED_TYPE.findall(text))
    types.update(item.rpartition("/")[2].lower() for item in root.xpath("//@itemtype"))
    if not types.isdisjoint(_DISCUSSIONS):
        return Purpose.DISCUSSION
    return Purpose.OTHER if types.isdisjoint(_PRODUCTS) else Purpose.PRODUCT
