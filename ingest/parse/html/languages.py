"""In which language a block of code is written, as its markup tells."""

import re
from itertools import islice

from lxml.html import HtmlElement

_STATED = ("data-lang", "data-language")
_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([a-z][a-z0-9+#._-]{0,29})(?=$|[\s;])",
    re.IGNORECASE,
)
_NO_LANGUAGE = frozenset({"default", "none", "text", "txt", "plain", "plaintext", "nohighlight", "source"})
_ABOVE = 3
"""Elements above a `pre` that may be its own frame; Rouge puts the name on the outer of two."""


def code_language(pre: HtmlElement) -> str | None:
    """Return the language that a `pre`, its `code` or its own frame names, in lower case; else None.

    Highlighters name it in a class (`language-x`, `lang-x`, `highlight-x`, `brush: x`) or in a data
    attribute. An element that frames other text too says nothing about this block.
    """
    inner = list(islice(pre.iterchildren("code"), 1))
    for element in (*inner, pre):
        name = _named(element)
        if name is not None:
            return name
    frame = pre
    for above in islice(pre.iterancestors(), _ABOVE):
        if sum(1 for child in above if child.tag not in {"button", "span", "script"}) != 1:
            return None
        frame = above
        name = _named(frame)
        if name is not None:
            return name
    return None


def _named(element: HtmlElement) -> str | None:
    stated = next((element.get(name) for name in _STATED if element.get(name)), None)
    match = _CLASS.search(element.get("class") or "") if stated is None else None
    name = (match[1] if match else stated or "").strip().lower()
    return None if not name or name in _NO_LANGUAGE or len(name) > 30 else name
