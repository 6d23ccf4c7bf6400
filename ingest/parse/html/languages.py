"""In which language a block of code is written, as its markup tells."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lxml.html import HtmlElement

from ingest.parse.html.dom import class_words
from ingest.parse.html.words import word_set

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

_NAMES = word_set(
    "apache asm awk bash bat batch c c# c++ cfg clojure cmake cmd conf console cpp cs csharp css csv curl "
    "cypher dart diff docker dockerfile elixir elm env erlang f# fish fortran go golang gradle graphql "
    "groovy haskell hcl html http ini java javascript js json json5 jsonc jsx julia kotlin kt less lua "
    "makefile markdown matlab mdx nginx nix objective-c output perl php plaintext powershell prolog "
    "properties proto protobuf ps1 py python r rb rest rs ruby rust sass scala scheme scss sh shell "
    "solidity sql svelte swift terminal terraform text toml ts tsx txt typescript vb vim vue wasm xml "
    "yaml yml zig zsh"
)
_FILE = re.compile(
    r"[\w@.+-]*(?:[/\\][\w@.+\[\]-]+)*\.[A-Za-z]\w{0,9}|(?:\S*/)?(?:Dockerfile|Makefile|Gemfile)"
)
_LABELS = frozenset({"div", "span", "small", "strong", "b", "figcaption"})

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


@dataclass(frozen=True, slots=True)
class CodeLabels:
    """What themes write over code: `languages` by listing, the `names` that say them, names of `files`."""

    languages: Mapping[HtmlElement, str]
    names: frozenset[HtmlElement]
    files: frozenset[HtmlElement]


def find_labels(content: HtmlElement) -> CodeLabels:
    """Find the labels right before the listings of a page, or at the beginning of their frames."""
    languages, names, files = dict[HtmlElement, str](), set[HtmlElement](), set[HtmlElement]()
    for pre in content.iter("pre"):
        for label in islice(_before(pre), 2):
            text = " ".join("".join(label.itertext()).split())
            if text.lower() in _NAMES or (text and text.lower() == code_language(pre)):
                names.add(label)
                languages.setdefault(pre, text.lower())
            elif len(text) < 100 and _FILE.fullmatch(text):
                files.add(label)
    return CodeLabels(languages, frozenset(names), frozenset(files))


def _before(pre: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the innermost elements with text right before a listing in its frame, the nearest first."""
    at = pre
    for around in islice(pre.iterancestors("div", "figure"), _ABOVE):
        if (around.text or "").strip() or sum(1 for _ in islice(around.iter("pre"), 3)) > 2:
            return
        for beside in at.itersiblings(preceding=True):
            if beside.tag == "pre" or (beside.tail or "").strip() or beside.tag not in _BESIDE | _LABELS:
                return
            inner = [one for one in beside.iter(*_LABELS) if (one.text or "").strip()]
            yield from reversed(inner)
            if inner:
                return
        at = around


def _named(element: HtmlElement) -> str | None:
    class_ = element.get("class") or ""
    stated = next((element.get(name) for name in _STATED if element.get(name)), None)
    match = _CLASS.search(class_) if stated is None else None
    name = (match[1] if match else stated or "").strip().lower()
    if name == "js":
        name = min(_FLAVOURS & class_words(class_), default=name)
    return None if not name or name in _NO_LANGUAGE or len(name) > 30 else name
