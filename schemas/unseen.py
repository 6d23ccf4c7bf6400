"""Characters that people do not see: they steer what shows a text, or tell a program what nobody reads."""

import re

_NEVER = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # controls, but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction
    "\u2028\u2029"  # separators, which end a line for some programs only
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # joiners, fillers, operators, annotations, musical controls
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tags, which spell whole sentences, and unassigned ones
    "\ufe00-\ufe0d"  # variation selectors, of which words need those below
    "\ud800-\udfff"  # halves of surrogate pairs, which UTF-8 has no bytes for
)
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSEEN = re.compile(
    f"[{_NEVER}]"
    "|(?<=[\u200c\u200d])[\u200c\u200d\ufe0e\ufe0f]"
    "|(?<=[\ufe0e\ufe0f])[\u200c\ufe0e\ufe0f]"
    f"|(?<![{_IDEOGRAPH}])[\U000e0100-\U000e01ef]"
    "|(?<![\u1820-\u18aa])[\u180b-\u180f]"
)
"""Controls, surrogates, and what is ignorable by default, but for what words cannot be written without.

Kept, one at a time: U+200C, which Persian writes inside of words; U+200D, which joins emoji and letters of
Indic scripts; U+FE0F and U+FE0E, by which a sign is an emoji or a letter (as the `↩` of footnotes); U+E0100
to U+E01EF right behind an ideograph, which Japanese names need; U+180B to U+180F behind a Mongolian letter.
Whole messages are hidden in runs of them, and no word needs a run.

Source: Unicode 16, DerivedCoreProperties.txt (Default_Ignorable_Code_Point), 23.2, 23.4, 23.8 and 23.9.
"""


def whole_text(text: str) -> str:
    """Put a question mark for each half of a surrogate pair, which UTF-8 has no bytes for.

    JSON and YAML can write one, as `\\ud800`, and no store can hold it.
    """
    return text.encode("utf-8", "replace").decode()


def replace_unseen(text: str) -> str:
    """Return *text* with U+FFFD for each character that nobody sees; its length stays."""
    return _UNSEEN.sub("\ufffd", text)
