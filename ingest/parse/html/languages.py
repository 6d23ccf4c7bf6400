"""In which language a block of code is written, as its markup tells."""

import re
from itertools import islice

from lxml.html import HtmlElement

from ingest.parse.html.dom import class_words

_STATED = ("data-lang", "data-language")
_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([a-z][a-z0-9+#._-]{0,29})(?=$|[\s;])",
    re.IGNORECASE,
)
_NO_LANGUAGE = frozenset({"default", "none", "text", "txt", "plain", "plaintext", "nohighlight", "source"})
_CONTROLS = frozenset({"code", "button", "input", "script"})
"""What stands in a `pre` of variants: they, and what switches between them and copies them."""

_BESIDE = frozenset({"button", "span", "script"})
"""What a frame of one listing holds besides it."""

_FLAVOURS = frozenset({"cjs", "mjs"})
"""Kinds of modules, which Node's manual names in a class beside `language-js`."""

_ABOVE = 3
"""Elements above a `pre` that may be its own frame; Rouge puts the name on the outer of two."""


def code_language(listing: HtmlElement) -> str | None:
    """Return the language that a listing, its `code` or its own frame names, in lower case; else None.

    Highlighters name it in a class (`language-x`, `lang-x`, `highlight-x`, `brush: x`) or in a data
    attribute. An element that frames other text too says nothing about this block.
    """
    inner = list(islice(listing.iterchildren("code"), 1))
    for element in (*inner, listing):
        name = _named(element)
        if name is not None:
            return name
    for above in islice(listing.iterancestors(), _ABOVE):
        framed = (child for child in above if child.tag not in _BESIDE)
        if len(list(islice(framed, 2))) != 1:  # not all: each of thousands of listings has the others
            return None
        name = _named(above)
        if name is not None:
            return name
    return None


def listings_in(pre: HtmlElement) -> tuple[HtmlElement, ...]:
    """Return the elements of a `pre` that are a listing each: variants of one example, else it alone.

    Variants stand side by side, and a script shows one of them. Each names a language of its own: what names
    none, or the same, is a part of one listing, and so are lines with white space between them, and code in a
    text.
    """
    variants = [child for child in pre if child.tag == "code"]
    languages = [_named(code) for code in variants if not code.tail]
    apart = len(variants) > 1 and len({*languages} - {None}) == len(variants)
    alone = all(child.tag in _CONTROLS and not (child.tail or "").strip() for child in pre)
    return tuple(variants) if apart and alone and not (pre.text or "").strip() else (pre,)


def _named(element: HtmlElement) -> str | None:
    class_ = element.get("class") or ""
    stated = next((element.get(name) for name in _STATED if element.get(name)), None)
    match = _CLASS.search(class_) if stated is None else None
    name = (match[1] if match else stated or "").strip().lower()
    if name == "js":
        name = min(_FLAVOURS & class_words(class_), default=name)
    return None if not name or name in _NO_LANGUAGE or len(name) > 30 else name
