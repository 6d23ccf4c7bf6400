"""What the markup of a page tells of it: a form that asks for a password, a mount point left empty."""

import re

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
