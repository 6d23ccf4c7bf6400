"""What an entry of a definition list is called: its terms without parameters, values and types."""

import re
from collections.abc import Iterable

MAX_NAME = 80
"""Code points; what is longer says something and names nothing."""

MAX_TERMS = 3
"""Terms of one entry that its name has: the short and the long form of an option, or a synonym."""

_FLAGS = re.compile(r"(?<![\w-])--?[A-Za-z0-9?#][\w?-]*")
_KIND = re.compile(
    r"^(?:(?:abstract|async|class|classmethod|command|enum|exception|final|function|method|module|property|static|"
    r"staticmethod|struct|type|union)\s+)+(?=\S)"
)
_REST = re.compile(r"\s*(?:\(|\[|=|\{|…|\.\.\.|:(?=\s)|\s<|\s(?:-|–|—)\s|\n).*", re.DOTALL)
"""Parameters, values, types, or what it is for."""

_SAID = re.compile(r"\s+\(")
"""How a sign is read aloud: `: (a colon)`."""


def name_entry(terms: Iterable[str]) -> str:
    """Return the name of the entry that *terms* open; "" where they are none.

    `-n` and `--dry-run` give "-n, --dry-run"; `class shop.Cart(items)` gives "shop.Cart", `port (integer)`
    gives "port", and `mapfile [-d delim] [array]` gives "mapfile".
    """
    names = [name for name in dict.fromkeys(map(name_term, terms)) if name]
    while names and len(", ".join(names[:MAX_TERMS])) > MAX_NAME:
        names.pop()
    return ", ".join(names[:MAX_TERMS])


def name_term(term: str) -> str:
    """Return the name in one term; "" for a sentence."""
    text = term.strip()
    if text.startswith("-") and (flags := _FLAGS.findall(text)):
        return ", ".join(dict.fromkeys(flags[:MAX_TERMS]))
    bare = without_kind(text)
    name = _cut(bare, _REST)
    if not any(map(str.isalnum, name)):  # a sign, or a pattern of signs
        name = _cut(bare, _SAID)
    name = name.rstrip(":,;") or name
    return name if len(name) <= MAX_NAME else ""


def _cut(text: str, at: re.Pattern[str]) -> str:
    rest = at.search(text, 1)
    return " ".join(text[: rest.start() if rest else None].split())


def without_kind(text: str) -> str:
    """A signature without the words before its name: `shop.Cart(items)` of `class shop.Cart(items)`."""
    return _KIND.sub("", text)
