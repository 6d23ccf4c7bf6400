"""What a page says it is for, to machines: an article, a product for sale, a discussion, or nothing.

Source: schema.org types in JSON-LD and microdata, the Open Graph protocol's `og:type` and
`article:published_time`.
"""

import re
from collections import Counter
from enum import StrEnum

from lxml.html import HtmlElement

from ingest.parse.html.dom import meta_contents
from ingest.parse.html.words import word_set

_STATED_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:https?://schema\.org/)?(\w+)"')
_PRODUCTS = frozenset(
    {"product", "productgroup", "individualproduct", "productmodel", "product.item", "og:product"}
)
_DISCUSSIONS = frozenset({"discussionforumposting", "qapage", "question"})
_ARTICLES = word_set(
    "article newsarticle blogposting reportagenewsarticle opinionnewsarticle scholarlyarticle recipe"
)
"""Texts with a beginning and an end; not `techarticle`, which is a page of a manual."""

_COLLECTIONS = frozenset({"collectionpage", "itemlist", "searchresultspage"})
"""What lists pages: content management systems call that an article too."""

_LONGEST_SCRIPT = 262_144


class Purpose(StrEnum):
    """Kinds of pages whose content needs another rule than prose."""

    ARTICLE = "article"
    PRODUCT = "product"
    DISCUSSION = "discussion"
    OTHER = "other"


def stated_purpose(root: HtmlElement) -> Purpose:
    """Detect a page's purpose by its Open Graph type, JSON-LD and microdata."""
    types = {name.strip().lower() for name in meta_contents(root, "og:type")}
    stated = "article" in types or any(meta_contents(root, "article:published_time"))
    entities = Counter[str]()
    for script in root.iter("script"):
        text = script.text
        if script.get("type") == "application/ld+json" and text and len(text) <= _LONGEST_SCRIPT:
            entities.update(name.lower() for name in _STATED_TYPE.findall(text))
    entities.update(item.rpartition("/")[2].lower() for item in root.xpath("//@itemtype"))
    types.update(entities)
    if not types.isdisjoint(_DISCUSSIONS):
        return Purpose.DISCUSSION
    if not types.isdisjoint(_PRODUCTS):
        return Purpose.PRODUCT
    articles = sum(entities[name] for name in _ARTICLES)
    is_article = (stated or articles == 1) and types.isdisjoint(_COLLECTIONS)
    return Purpose.ARTICLE if is_article else Purpose.OTHER
