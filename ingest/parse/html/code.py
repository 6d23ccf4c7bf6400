"""Code as it stands: its lines and indents without line numbers, and the language it is in."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from ingest.parse.html.dom import class_words
from ingest.parse.html.inline import InlineText, OpenLinks, OwnId, is_left_out, no_id
from ingest.parse.html.visibility import raw_text, strip_invisible, word_set
from ingest.parse.outline import Anchor, LinkSpan

LINE_NUMBERS = word_set(
    "linenos lineno linenodiv gutter line-number line-numbers-rows line-numbers-wrapper blob-num "
    "listing_lines lnt ln linenumber hljs-ln-numbers code-line-number react-syntax-highlighter-line-number"
)
_LINES = word_set("div li p tr")
_ROWS = word_set("table thead tbody tr ol ul")
_CELLS = word_set("td th")
_NUMBER = re.compile(r"\s*\d*\s*")
_LINE_CLASS = re.compile(r"(?:^|[\s_-])(?:code)?line(?:$|\s)", re.IGNORECASE)
"""Of `line`, `code-line`, `token-line`."""

_ADDED = word_set("add ins")
_REMOVED = word_set("remove del")
_BLOCK_STYLE = re.compile(r"display:\s*(?:block|table-row)")


_OF_SPANS = etree.XPath("not(descendant::*[not(self::span)] | descendant::span/@*[name() != 'class'])")
_CLASSES_IN = etree.XPath("descendant::span/@class", smart_strings=False)


@lru_cache(maxsize=4096)
def _says_nothing(class_: str) -> bool:
    """Whether spans of a class are read as the text in them."""
    return LINE_NUMBERS.isdisjoint(class_words(class_)) and _LINE_CLASS.search(class_) is None


def has_line_numbers(element: HtmlElement) -> bool:
    """Whether an element is a column of line numbers beside code, or one of them."""
    class_ = element.get("class")
    return class_ is not None and not LINE_NUMBERS.isdisjoint(class_words(class_))


def is_numbering(pre: HtmlElement) -> bool:
    """Whether there is nothing in it but the numbers of the lines beside it."""
    around = pre.getparent()
    if around is None or around.tag != "td" or len(around.getparent()) < 2:
        return False
    words = raw_text(pre).split()
    counted = words[0].isdecimal() and len(words[0]) < 7 if words else False
    return counted and words == [str(int(words[0]) + at) for at in range(len(words))]


def code_text(element: HtmlElement, *, own_id: OwnId = no_id) -> InlineText:
    """Code as it stands, without line numbers and empty lines at the ends, with the ids and links in it."""
    if len(element) == 0 or (_OF_SPANS(element) and all(map(_says_nothing, set(_CLASSES_IN(element))))):
        return _shown(raw_text(element), [], [])
    code, links = _Code(), OpenLinks()
    anchors: list[Anchor] = []
    skipped: HtmlElement | None = None
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        is_inside = node is not element
        if event == "start":
            if is_inside and (_is_number(node) or is_left_out(node)):
                walk.skip_subtree()
                skipped = node
                continue
            if is_inside:
                if _is_line(node):
                    code.line_start(_change(node.get("class") or ""))
                if (anchor := own_id(node)) is not None:
                    anchors.append((code.length, anchor))
                links.start(node, code.length)
            found = "\n" if node.tag == "br" else node.text
            is_layout = node.tag in _ROWS or (
                len(node) > 0 and (node[0].tag in _LINES or node[0].tag in _ROWS)
            )
        else:
            if not is_inside:
                break
            links.end(node)
            if node is not skipped and _is_line(node):
                code.line_end()
            found = node.tail
            is_layout = node.tag in _LINES or node.tag in _ROWS or node.tag in _CELLS
            if found and node is skipped and _is_number(node):
                found = found.removeprefix("\xa0")
        if found and not (is_layout and not found.strip()):
            links.words(*code.add(found))
    return _shown(code.text, anchors, links.spans)


class _Code:
    """Code while it is read. An element that is a line ends with a line break, unless its text has one."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.length = 0
        self._at_start = True
        self._ends = False
        self._starts: list[int] = []

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def line_start(self, sign: str) -> None:
        """Begin an element that is a line, with the *sign* that a theme shows before it."""
        if self._ends or not self._at_start:
            self._put("\n")
        self._starts.append(self.length)
        if sign:
            self._put(sign)

    def line_end(self) -> None:
        """End it; the break waits for what follows."""
        self._ends = self._ends or not self._at_start or self._starts[-1] == self.length
        self._starts.pop()

    def add(self, text: str) -> tuple[int, int]:
        """Add text, and return where its words start and end."""
        if self._ends and not text.lstrip(" \t").startswith(("\n", "\r")):
            self._put("\n")
        words = text.strip()
        start = self.length + (text.index(words) if words else 0)
        self._put(text)
        return start, start + len(words)

    def _put(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)
        self._at_start, self._ends = text.endswith("\n"), False


def _is_line(node: HtmlElement) -> bool:
    """Whether an element is a line: by its tag, or a span that is called one, as are those beside it."""
    if node.tag in _LINES:
        return True
    if node.tag not in {"span", "code"} or not node.attrib:
        return False
    beside = (node, node.getprevious(), node.getnext())
    return all(
        one is None or _is_called_line(one.get("class") or "", one.get("style") or "") for one in beside
    )


@lru_cache(maxsize=4096)
def _is_called_line(class_: str, style: str) -> bool:
    return _LINE_CLASS.search(class_) is not None or _BLOCK_STYLE.search(style) is not None


@lru_cache(maxsize=4096)
def _change(class_: str) -> str:
    """The sign before a line of code that a theme shows as added or removed, by its class alone."""
    words = class_words(class_)
    if not words.isdisjoint(_ADDED):
        return "+ "
    return "- " if not words.isdisjoint(_REMOVED) else ""


def _is_number(node: HtmlElement) -> bool:
    """Whether it numbers a line: by its class, as first cell of a row, or as what nobody can copy."""
    if has_line_numbers(node):
        return True
    is_first = node.tag in _CELLS and node.getprevious() is None and node.getnext() is not None
    is_apart = "user-select" in (node.get("style") or "") or node.get("data-line-number") is not None
    return (is_first or is_apart) and _NUMBER.fullmatch(raw_text(node)) is not None


def _shown(written: str, anchors: list[Anchor], links: list[LinkSpan]) -> InlineText:
    raw = _shown_code(written)
    body = raw.strip("\n").rstrip()
    cut = len(raw) - len(raw.lstrip("\n"))
    marks = {at for at, _ in anchors}.union(*((start, end) for start, end, _ in links))
    shown = {at: min(max(0, to - cut), len(body)) for at, to in _offsets_shown(written, marks).items()}
    return InlineText(
        body,
        tuple((shown[at], name) for at, name in anchors),
        tuple((shown[start], shown[end], link) for start, end, link in links),
    )


def _shown_code(written: str) -> str:
    return strip_invisible(written).replace("\r\n", "\n").replace("\xa0", " ").expandtabs(4)


def _offsets_shown(written: str, offsets: Iterable[int]) -> Mapping[int, int]:
    """Return where each offset is in code as it is shown, where a tab is up to four columns."""
    shown: dict[int, int] = {}
    line = before = 0
    for offset in sorted(offsets):
        begins = written.rfind("\n", 0, offset) + 1
        if begins > line:
            before += len(_shown_code(written[line:begins]))
            line = begins
        shown[offset] = before + len(_shown_code(written[line:offset]))
    return shown


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
            text = " ".join(raw_text(label).split())
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
