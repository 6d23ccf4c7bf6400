"""JSON as it is printed: readable in every script, and harmless to the terminal it is printed on."""

import json
import re
from typing import Any

_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that JSON leaves as they are: C1 controls, line separators, marks that turn the direction."""


def to_json(value: Any, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Return *value* as JSON; characters stand for themselves, but for those that nobody sees."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort_keys)
    return _UNSEEN.sub(lambda char: f"\\u{ord(char[0]):04x}", text)
