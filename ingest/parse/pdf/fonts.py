"""What a face is, by the flags of a span and the name of its font."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

_BOLD, _MONO, _ITALIC = 16, 8, 2
_BOLD_NAME = re.compile(r"bold|black|heavy|semibold|demi|cmbx", re.IGNORECASE)
_MONO_NAME = re.compile(
    r"mono|nimbusmon|monaco|courier|consol|typewriter|inconsolata|menlo|source ?code|fira ?code|cascadia"
    r"|letter ?gothic|cmtt|cmsltt|\dxtt",
    re.IGNORECASE,
)

_LEAST_SPANS = 6
_LEAST_LETTERS = 3
_ONE_WIDTH = 0.03
"""Spans with so many letters by which a font is judged, and how far the widths of one may lie apart."""


def is_bold(span: dict[str, Any]) -> bool:
    """Whether a span of `get_text("dict")` is set in bold."""
    return bool(span["flags"] & _BOLD) or bool(_BOLD_NAME.search(span["font"]))


def is_italic(span: dict[str, Any]) -> bool:
    """Whether a span of `get_text("dict")` is set in italics."""
    return bool(span["flags"] & _ITALIC)


def is_mono(span: dict[str, Any]) -> bool:
    """Whether a span of `get_text("dict")` is set in a typewriter face."""
    return bool(span["flags"] & _MONO) or bool(_MONO_NAME.search(span["font"]))


def monospaced_fonts(spans: Iterable[dict[str, Any]]) -> frozenset[str]:
    """Return the fonts, by name, whose letters are all of one width; some files give theirs bare numbers."""
    widths: dict[str, list[float]] = defaultdict(list)
    for span in spans:
        text = span["text"].strip()
        if sum(char.isalpha() for char in text) >= _LEAST_LETTERS and text == span["text"]:
            x0, _, x1, _ = span["bbox"]
            widths[span["font"]].append((x1 - x0) / len(text) / max(span["size"], 1.0))
    return frozenset(
        font
        for font, found in widths.items()
        if len(found) >= _LEAST_SPANS and max(found) - min(found) < _ONE_WIDTH * max(found)
    )
