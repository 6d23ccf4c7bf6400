"""What a document says about who may read it: `access` closes it, robots rules hold it back.

Only the front matter of Markdown states groups (`markdown/front_matter.py`). Whatever else looks like it has
been meant as well, in any form that people write, and is not left open.

Source of the rules for robots: RFC 9110 has no X-Robots-Tag; Google's robots meta tag specification is what
sites write to.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, takewhile
from typing import Any
from unicodedata import normalize

from ingest.uses import split_directives
from schemas.access import EVERYTHING
from schemas.text import replace_unseen

CLOSED = (EVERYTHING,)
UNREAD = (
    "access is named where it cannot be read; nobody sees it but in the whole index. Write it as YAML "
    "between --- and ---, from the first line of a Markdown file on: access: [group]"
)

_FEW_WORDS = 8
"""Of a line of prose there are more; a line of metadata without a colon has no more."""

_ONE_ROW = 3
"""Lines of a table that has one row below its head and the line under that."""

_LINES = 500
"""How far the forms of metadata are told apart; what goes on behind that has all its keys looked at."""

_LOOK_ALIKE = str.maketrans("асеѕ", "aces")
"""Cyrillic letters."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))")
_ODD = re.compile(r"[^\t\n -%'-\[\]-~]")
_UNSEEN = re.compile("[\ufffd\u180b-\u180f\u200c\u200d\ufe0e\ufe0f\U000e0100-\U000e01ef]")
"""What `replace_unseen` leaves, and what it puts."""

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?i:access)")
_URL = re.compile(
    r"^\s*\[\^[^]]{1,200}\]:|^\s*\[[^]]{1,200}\]:\s{1,9}(?:\w{1,20}://\S*"
    r"|[^\s:=]{0,300}[/.#]\w[^\s:=]{0,300}(?=\s|$))|^\s*\.\.\s\|[^|]{1,200}\|\s\w+::|\w{1,20}://\S*|\]\([^)\s]{0,2000}\)"
)
"""What leads elsewhere, with the words that it is called by."""

_OTHER = "token|key|secret|log|date|time|mode|url"
_ACCESS = (
    r"(?<!open[-_\ ])(?<!last[-_\ ])(?<!dcterms[.:])access(?:(?:group|level|list|role|user)s?(?![a-z])"
    rf"|(?![a-z]|[-_.](?:{_OTHER}|control[-_](?:allow|expose|max|request))s?(?![a-z])"
    rf"|\ (?:{_OTHER})s?\W{{0,3}}[:=]))"
)
"""The word, in no name of something else: of a credential, a file, a date, a header of HTTP."""

_WORD = re.compile(rf"(?<![a-z]){_ACCESS}")
_KEY = re.compile(
    rf"(?<![a-z?&/]){_ACCESS}[-\w.]{{0,60}}[\"'`*)\]}}>]*\s*[:=|]|<access[\s/>]|^\s*\[access\]\s*$"
)
_LIST = re.compile(r"\W*access\W{0,3}\s?[:=]\s?\[")
_FIRST = re.compile(
    rf"\W*(?=[\w$.@-]{{0,60}}(?<![a-z]){_ACCESS})\w[\w$.@-]{{0,60}}(?:[ \t]+[\w$.@-]{{1,60}}){{0,2}}"
    r"[\"'`*)\]}>]*\s*[:=]"
)
"""The key of a line, of three words at most; `access` is in the first."""

_NAMES = ("name", "property", "itemprop", "key")
"""Where a pair of name and value has its name."""

_NAMESPACE = re.compile(r"^\{[^}]*\}|^data-")
_JSON_KEY = re.compile(r'"([^"]{1,60})"\s*:')
_MARK = re.compile(r"<!--|-->|<[!?][^>]{0,2000}>")
_TAG = re.compile(r"^[ \t]*<[a-z/]", re.IGNORECASE | re.MULTILINE)
_META = re.compile(
    r"<(?:meta|opf:meta|property)\b[^>]{0,500}?\b(?:name|property|itemprop|key)\s*=\s*[\"']?\s*(?:[\w.:-]{0,60}[.:_-])?"
    r"access[\"'\s/>]"
)
_FENCE = re.compile(r"\s*(?:([-+;~`])\1\1+(?:[\s\w{].*)?|([^\w\s]|_)(?:\s*\2)*)\s*", re.IGNORECASE)
_RULED = re.compile(r"\s*([^\w\s])\1+\s*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|=+\s+\w")
_COMMENTS = (("<!--", "-->"), ("{/*", "*/}"), ("/*", "*/"), ("{#", "#}"), ("{%", "%}"), ("<?", "?>"))
_FIELD = re.compile(r"\s*(?::[^:`\n]{1,60}:(?:\s|$)|\.\.\s(?!_)|export\b|import\b|//|%|#[+:]|\[[^]]*\]:)")
_VALUE = re.compile(r"^\s*(?:-\s+)?\w[\w.-]{0,60}\s*[:=]\s+[\"'\[@{]{0,2}[\w\s][^,{\[|]{0,2000}")
"""A key with the words that it has, up to where another one may begin."""

_DIRECTIVE = re.compile(
    r"\.\.\s(?!meta|raw|access::)[\w:-]+::|:(?:param|parameter|type|arg|argument|key|keyword|raises|var|ivar)\s"
)
_ATTRIBUTES = re.compile(r"(?:\{|<!--).{0,500}(?:\}|-->)\s*$")
_SUBTITLE = re.compile(r"\w[^:\[|]*[^\s.:,;!?\[|]")
_TARGET = re.compile(r"\s*\.\.\s_")
_LOOSE = re.compile(r"\s+\S|[-*+>•]\s|[\"'\[\](){}<!@?&|;\\]|[*_]{0,3}[\w$][\w$.@ -]{0,60}[\"'`*_]*\s*[:=]")


def names_access_at_top(text: str, *, is_headed: bool = False) -> bool:
    """Whether a text names `access` before its first heading, or in a block of metadata right behind that.

    Metadata are blocks between lines of signs (`---`, `+++`, `;;;`), whether they end or not; lines with a
    key; objects of JSON or a script; comments; fields. The first line of prose ends the search.
    """
    if "access" not in _plain(text):
        return False
    every = _seen("\n".join(text.splitlines())).splitlines()
    lines = every[:_LINES]
    place: _Place | None = _Place(0, is_headed=is_headed)
    while place is not None and not place.is_named and place.at < len(lines):
        place = _read_on(lines, place)
    return place is not None and (place.is_named or any(map(_states_key, every[_LINES:])))


@dataclass(frozen=True, slots=True)
class _Place:
    """The next line to read, and whether a heading or a key `access` has come before it."""

    at: int
    is_headed: bool
    is_named: bool = False


def _read_on(lines: Sequence[str], place: _Place) -> _Place | None:
    """Read one piece of metadata, or a heading; None: here begins the text."""
    at, is_headed = place.at, place.is_headed
    line = lines[at]
    if not line.strip() or _TARGET.match(line):
        return _Place(at + 1, is_headed)
    if end := _end_of_comment(lines, at):
        return _Place(end, is_headed, any(map(_has_key, lines[at:end])))
    if _FENCE.fullmatch(line):
        return _read_block(lines, at, is_headed)
    if at + 1 < len(lines) and _RULED.fullmatch(lines[at + 1]):
        is_set = _is_set_as_title(lines, at)
        return _Place(at + 1 + is_set, is_headed=True, is_named=not is_set and _states_key(line))
    if _HEADING.match(line):
        return _read_heading(lines, at)
    if _FIELD.match(line):
        return _read_field(lines, place)
    if line.startswith("|") and not is_headed:
        return _read_table(lines, at)
    if (_LOOSE.match(line) and not is_headed) or _runs_into_fence(lines, at):
        here = _paragraph(lines, at) if at == 0 else (line,)
        return _Place(at + 1, is_headed, any(map(_states_key, here)))
    if _LIST.match(_plain(line)):
        return _Place(at + 1, is_headed, is_named=True)
    is_alone = not _is_prose(line) and len(list(_paragraph(lines, at))) == 1
    is_title = is_alone and (not is_headed or _SUBTITLE.fullmatch(line))
    return _Place(at + 1, is_headed=True) if is_title else None


def _read_heading(lines: Sequence[str], at: int) -> _Place:
    """Read a heading and attributes at its end; in AsciiDoc, they stand right below it, too."""
    below = [one for one in _paragraph(lines, at + 1) if one[0] == ":"] if lines[at][0] == "=" else []
    stated = (*_ATTRIBUTES.findall(lines[at]), *below)
    is_named = any(map(_has_key, stated)) or _LIST.match(_plain(lines[at])) is not None
    return _Place(at + 1, is_headed=True, is_named=is_named)


def _read_field(lines: Sequence[str], place: _Place) -> _Place:
    """Read a field with the indented lines below it; a directive shows its own to readers."""
    is_wide = lines[place.at].startswith("..")
    below = takewhile(lambda one: one[:1].isspace() or (is_wide and not one), lines[place.at + 1 :])
    field = (lines[place.at], *below)
    is_named = not _DIRECTIVE.match(field[0]) and any(map(_has_key, field))
    return _Place(place.at + len(field), place.is_headed, is_named)


def _read_table(lines: Sequence[str], at: int) -> _Place:
    """Read a table: metadata are a key in each row, or a single row below keys."""
    rows = list(takewhile(lambda line: line.startswith("|"), lines[at:]))
    keys = rows if len(rows) <= _ONE_ROW else [f"{row[1:].partition('|')[0]}|" for row in rows]
    return _Place(at + len(rows), is_headed=False, is_named=any(map(_has_key, keys)))


def _read_block(lines: Sequence[str], at: int, is_headed: bool) -> _Place | None:
    if is_headed and lines[at].strip()[0] in "`~":
        return None  # an example
    end = _end_of_block(lines, at)
    # Signs above and below a title are as long as it is, as in reStructuredText.
    if end is not None and end == at + 2 and len(lines[at].strip()) >= len(lines[at + 1].strip()):
        is_named = "=" not in lines[at] and _states_key(lines[at + 1])
        return _Place(end + 1, is_headed=True, is_named=is_named)
    block = lines[at + 1 : end] if end is not None else list(_paragraph(lines, at + 1))
    loosely = end is not None and not is_headed
    is_named = _has_key(lines[at]) or names_access_in_block(block, loosely=loosely)
    return _Place(at + 1 if end is None else end + 1, is_headed, is_named)


def names_access_in_block(lines: Sequence[str], *, loosely: bool = True) -> bool:
    """Whether a block names `access`: as a key; *loosely*: as a word, too, in what is no prose."""
    if any(map(_states_key, lines)):
        return True
    if any(_is_prose(line) for line in lines):
        return False
    others = [_VALUE.sub("", line) for line in lines]
    return any(map(_has_key, others)) or (loosely and any(_WORD.search(_plain(one)) for one in others))


def is_access_key(key: object) -> bool:
    """Whether a key has the word `access` in it, however it is written, and names nothing else by it."""
    return _is_access(str(key))


@lru_cache(maxsize=4096)  # pages name the same things
def _is_access(key: str) -> bool:
    return _WORD.search(_plain(key)) is not None


def keys_name_access(value: object) -> bool:
    """Whether a key of a value, or of what is in it, has the word."""
    if isinstance(value, Mapping):
        is_named = not {"content", "value"}.isdisjoint(value) and any(
            is_access_key(value.get(key)) for key in _NAMES
        )
        return is_named or any(is_access_key(key) or keys_name_access(one) for key, one in value.items())
    return isinstance(value, list | tuple) and any(map(keys_name_access, value))


def names_access_in_markup(markup: str) -> bool:
    """Whether a page does before the first element of its body, or in an element `meta` anywhere."""
    top = _MARK.sub("\n", markup[:8_192])
    if not _TAG.search(
        top, 0, len(top) - 2_002
    ):  # signs of the longest mark, of which the top may have a part
        top = _MARK.sub("\n", markup)
    named = names_access_at_top(_TAG.split(top, maxsplit=1)[0])
    root = bare_tree(markup)
    if named or root is None:
        return named
    before = takewhile(lambda one: not _is_content(one), root.iter())
    return any(map(_node_names_access, chain(root.itersiblings(preceding=True), before, root.iter("meta"))))


@lru_cache(maxsize=1)  # the account of words reads it, too
def bare_tree(markup: str) -> Any:
    """Parse markup into a tree of plain elements, which nobody changes; None: there is none in it."""
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    return etree.HTML(markup.encode("utf-8", "replace"), parser)


def names_access_in_properties(xml: bytes) -> bool:
    """Whether an element of XML that has only metadata does."""
    from lxml import etree

    try:
        root = etree.fromstring(xml, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return b"access" in xml.lower()
    return root is not None and _property_names_access(root)


def lists_name_access(text: str) -> bool:
    """Whether a text as people put under keywords does: one of what commas and semicolons part."""
    return any(map(_states_key, re.split(r"[\n,;]", text)))


def _property_names_access(node: Any) -> bool:
    if not isinstance(node.tag, str) or "title" in node.tag.lower():
        return False
    named = _node_names_access(node) or lists_name_access(node.text or "")
    return named or any(map(_property_names_access, node))


def _is_content(node: Any) -> bool:
    parent = node.getparent()
    is_element = parent is not None and parent.tag == "body" and isinstance(node.tag, str)
    return is_element and node.tag not in ("meta", "link", "script", "style", "template", "noscript")


def _node_names_access(node: Any) -> bool:
    """Whether an element, one of its attributes, or what it gives a value to is called so; a comment does."""
    if not isinstance(node.tag, str):
        return names_access_at_top(node.text or "")
    if node.tag == "script":
        is_stated = node.get("type") == "application/ld+json"
        return is_stated and any(map(is_access_key, _JSON_KEY.findall(node.text or "")))
    names = (node.tag, *node.keys(), *(node.get(key, "") for key in _NAMES))
    named = any(is_access_key(_NAMESPACE.sub("", name)) for name in names)
    return named or (node.tag == "body" and names_access_at_top(node.text or ""))


def _plain(text: str) -> str:
    """A text as people read it: escapes undone, in small letters, words of a hump apart."""
    return _HUMP.sub(lambda found: found[0].lower() or "_", _spelled(text)).lower().translate(_LOOK_ALIKE)


def _spelled(text: str) -> str:
    if not _ODD.search(text):
        return text
    return normalize("NFKC", _seen(_ESCAPE.sub(_escaped, html.unescape(text))))


def _seen(text: str) -> str:
    return _UNSEEN.sub("", replace_unseen(text))


def _escaped(escape: re.Match[str]) -> str:
    number = int(next(filter(None, escape.groups())), 16)
    return chr(number) if number < 0x110000 else escape[0]


def _states_key(line: str) -> bool:
    """Whether the first key of a line is `access`, or one of an object in it."""
    is_first = _FIRST.match(_plain(line)) is not None
    return is_first or ((re.match(r"\s*\w", line) is None or "{" in line) and _has_key(line))


def _has_key(line: str) -> bool:
    return _KEY.search(_URL.sub("", _plain(line))) is not None or _META.search(_plain(line)) is not None


def _is_prose(line: str) -> bool:
    return len(line.split()) > _FEW_WORDS and not _LOOSE.match(line)


def _end_of_comment(lines: Sequence[str], at: int) -> int | None:
    """The line behind a comment that begins here; of one that never ends, there is no such line."""
    opening = next((pair for pair in _COMMENTS if lines[at].lstrip().startswith(pair[0])), None)
    if opening is None:
        return None
    ends = (number for number in range(at, len(lines)) if opening[1] in lines[number])
    return next((number + 1 for number in ends), None)


def _end_of_block(lines: Sequence[str], at: int) -> int | None:
    """The line that ends a block; a heading behind an empty line is none of metadata."""
    sign = lines[at].strip()[0]
    closing = {"{": "}", "[": "]", "(": ")", "<": ">"}.get(sign, sign)
    for number in range(at + 1, len(lines)):
        if _closes(lines[number], closing):
            return number
        if sign not in "+;" and _HEADING.match(lines[number]) and not lines[number - 1].strip():
            return None
    return None


def _closes(line: str, sign: str) -> bool:
    found = line.strip()
    return (found[:1] == sign and _FENCE.fullmatch(line) is not None) or found == "..."


def _is_set_as_title(lines: Sequence[str], at: int) -> bool:
    """Whether signs under a lone line are as many as its own; others, and `---`, may end metadata."""
    is_lone = not at or not lines[at - 1].strip()
    title, signs = lines[at].strip(), lines[at + 1].strip()
    return is_lone and len(title) == len(signs) and (signs[0] == "=" or len(title) > len("---"))


def _runs_into_fence(lines: Sequence[str], at: int) -> bool:
    """Whether a line with a key stands in a paragraph that ends in a line of signs."""
    return _LOOSE.match(lines[at]) is not None and any(map(_RULED.fullmatch, _paragraph(lines, at)))


def _paragraph(lines: Sequence[str], at: int) -> Iterator[str]:
    for number in range(at, len(lines)):
        if not lines[number].strip():
            return
        yield lines[number]


_EVERYONE = frozenset({"*", "robots"})
_VALUED = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
"""Directives with a value after a colon; any other word before one is the name of a robot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsDirectives:
    """`noindex`: no text of it is kept; `nofollow`: its links lead nowhere."""

    noindex: bool = False
    nofollow: bool = False


def read_directives(header: str | None, metas: Iterable[str] = (), *, robot: str) -> RobotsDirectives:
    """Join what X-Robots-Tag says to all robots or to *robot* with the contents of meta elements that do.

    In a header a name holds for what follows it up to the next name or the end of the line: each header
    line speaks for itself. Rules for other robots do not count.
    """
    stated = meta_directives(metas) | header_directives(header, robot=robot)
    return RobotsDirectives(
        noindex=not stated.isdisjoint({"noindex", "none"}),
        nofollow=not stated.isdisjoint({"nofollow", "none"}),
    )


def meta_directives(metas: Iterable[str]) -> frozenset[str]:
    """Directives in the contents of meta elements, in lower case."""
    return frozenset(word for content in metas for word in split_directives(content))


def header_directives(header: str | None, *, robot: str) -> frozenset[str]:
    """Directives of X-Robots-Tag that are for all robots or for *robot*, in lower case."""
    return frozenset(word for line in (header or "").splitlines() for word in _for_us(line, robot))


def _for_us(line: str, robot: str) -> set[str]:
    stated, for_us = set(), True
    for word in split_directives(line):
        agent, colon, directive = (part.strip() for part in word.partition(":"))
        if not colon or agent in _VALUED:
            agent, directive = "", word
        if agent:
            for_us = agent in _EVERYONE or agent == robot
        if for_us:
            stated.add(directive)
    return stated
