"""What one page shows: its text, its links, a form for a password, a mount point left empty."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from schemas.fragment import GraphFragment, Link
from schemas.nodes import DocumentKind, Section

# Every repetition is bounded and stops at "<": hostile markup must not cost more than its length.
_MARK = re.compile(rb"<!--|-->|<(/?)(script|style|template)\b", re.IGNORECASE)
_PASSWORD = re.compile(rb"<input\b[^<>]{0,500}\btype\s{0,9}=\s{0,9}[\"']?password\b", re.IGNORECASE)
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_UNFILLED = re.compile(
    rb"<(?:div|main|section)\b[^<>]{0,200}\bid\s{0,9}=[^<>]{0,200}>\s{0,200}</"
    rb"|<[a-z]{1,30}-[a-z-]{1,60}[^<>]{0,200}>\s{0,200}</"
    rb"|<noscript\b.{0,500}?\bjavascript\b",
    re.DOTALL | re.IGNORECASE,
)

_LOOK = 512 * 1024
"""Bytes of a page in which its form or its mount point stands."""


def asks_password(data: bytes) -> bool:
    """Whether readers see a field for a password."""
    return _PASSWORD.search(outside_scripts(data[:_LOOK])) is not None


def is_unfilled(data: bytes) -> bool:
    """Whether scripts would fill a page that has an empty mount point, or that asks for JavaScript."""
    data = data[:_LOOK]
    return _SCRIPT.search(data) is not None and _UNFILLED.search(outside_scripts(data)) is not None


def outside_scripts(data: bytes) -> bytes:
    """What stands outside of comments, scripts, styles and templates."""
    kept: list[bytes] = []
    at, waiting = 0, b""
    for mark in _MARK.finditer(data):
        name = (mark[2] or mark[0]).lower()
        if not waiting and not mark[1] and name != b"-->":
            kept.append(data[at : mark.start()])
            waiting = b"-->" if name == b"<!--" else name
        elif waiting == name and (mark[1] or name == b"-->"):
            at, waiting = mark.end(), b""
    return b"".join(kept) + (b"" if waiting else data[at:])


HEAD = 4_096
"""Bytes at the start and the end of a page in which servers and frameworks name themselves."""

STRIPPED = 65_536
"""Bytes that are read of a page whose text is not kept, since it says `noindex`."""

_TITLE = re.compile(rb"<title[^<>]{0,200}>([^<]{0,500})", re.IGNORECASE)
_HEADING = re.compile(rb"<h[12]\b[^<>]{0,500}>(.{0,500}?)</h[12]", re.IGNORECASE | re.DOTALL)
_BREAK = re.compile(
    rb"</?(?:p|div|h[1-6]|li|tr|td|th|br|pre|ul|ol|table|section|title)\b[^<>]*>", re.IGNORECASE
)
_WAITING = frozenset({"loading", "please", "wait", "lädt", "laden", "chargement", "cargando", "caricamento"})
_TAG = re.compile(rb"<[^<>]*>")


@dataclass(frozen=True, kw_only=True)
class ErrorPageFeatures:
    """What a page shows: the title element, the first heading, its text, the links that lead from it.

    `markup` are its first and last bytes. `is_shell`: it has no text, and scripts that would bring some.
    """

    title: str = ""
    heading: str = ""
    text: str = ""
    words: int = 0
    uri: str = ""
    links: Sequence[Link] = field(default=(), repr=False)
    markup: bytes = field(default=b"", repr=False)
    is_html: bool = True
    is_shell: bool = False

    @cached_property
    def entries(self) -> int:
        """Links of a listing to what is in the folder: not to itself in another order, nor above."""
        here = [link.target for link in self.links if "?" not in link.target]
        return sum(not self.uri.startswith(target) for target in here)

    @cached_property
    def own_links(self) -> int:
        """Links to other addresses of the page's host: a page of a site has some, a server's own has none."""
        host = urlsplit(self.uri)._replace(path="/", query="").geturl()
        return sum(link.target.startswith(host) and link.target != self.uri for link in self.links)

    @cached_property
    def is_linked(self) -> bool:
        """Whether it links to any other address of its host; cheaper to ask than how many."""
        host = urlsplit(self.uri)._replace(path="/", query="").geturl()
        return any(link.target.startswith(host) and link.target != self.uri for link in self.links)


def extract_features(fragment: GraphFragment, data: bytes, *, words: int | None = None) -> ErrorPageFeatures:
    """Extract what decides whether a page is an error page.

    Args: data: its bytes, empty where they were not kept; words: those of its text, where already counted.
    """
    sections = (node.heading for node in fragment.nodes if isinstance(node, Section) and node.heading)
    text, heading = fragment.text, next(sections, "")
    if not heading and fragment.kind != DocumentKind.HTML:
        heading = text.partition("\n")[0]
    if fragment.noindex and data:
        heading, text = _heading(data) or fragment.title, _stripped(data)
    shown = len(text) > 40 or any(word.strip(".…") not in _WAITING for word in text.lower().split())
    return ErrorPageFeatures(
        title=_title(data) or fragment.title,
        heading=heading,
        text=text,
        words=len(text.split()) if words is None or fragment.noindex else words,
        uri=fragment.uri,
        links=fragment.links,
        markup=data if len(data) <= 2 * HEAD else data[:HEAD] + b"\n" + data[-HEAD:],
        is_html=fragment.kind == DocumentKind.HTML,
        is_shell=not shown and not heading and is_unfilled(data),
    )


def _title(data: bytes) -> str:
    start = data.find(b"<title")
    start = data.find(b"<TITLE") if start < 0 else start
    found = _TITLE.match(data, start) if start >= 0 else None
    return _plain(found[1]) if found else ""


def _heading(data: bytes) -> str:
    found = _HEADING.search(outside_scripts(data[:STRIPPED]))
    return _plain(found[1]) if found else ""


def _stripped(data: bytes) -> str:
    markup = _BREAK.sub(b"\n", outside_scripts(data[:STRIPPED]))
    return "\n".join(line for one in markup.split(b"\n") if (line := _plain(one)).strip(" >"))


def _plain(markup: bytes) -> str:
    return " ".join(html.unescape(_TAG.sub(b" ", markup).decode("utf-8", "replace")).split())
