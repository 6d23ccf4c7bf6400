"""What a face is, by the flags of a span and the name of its font."""

import re
from typing import Any

_BOLD, _MONO = 16, 8
_BOLD_NAME = re.compile(r"bold|black|heavy|semibold|demi|cmbx", re.IGNORECASE)
_MONO_NAME = re.compile(r"mono|courier|consol|typewriter|inconsolata|menlo|cmtt|cmsltt|\dxtt", re.IGNORECASE)


def is_bold(span: dict[str, Any]) -> bool:
    """Whether a span of `get_text("dict")` is set in bold."""
    return bool(span["flags"] & _BOLD) or bool(_BOLD_NAME.search(span["font"]))


def is_mono(span: dict[str, Any]) -> bool:
    """Whether a span of `get_text("dict")` is set in a typewriter face."""
    return bool(span["flags"] & _MONO) or bool(_MONO_NAME.search(span["font"]))
