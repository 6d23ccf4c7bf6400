"""Streams of text that take every character, whatever encoding the terminal or the environment names."""

import codecs
import json
from io import TextIOWrapper
from typing import TextIO

_ESCAPED = "sitegraph.escaped"
_FAILING = ("strict", "surrogateescape")
"""What Python sets by itself; whoever asked for another way (`PYTHONIOENCODING=ascii:replace`) keeps it."""


def escape_unwritable(*streams: TextIO) -> None:
    r"""Write what the encoding of a stream lacks as JSON escapes it (`\u00bb`), in place of failing.

    Python's own `backslashreplace` writes `\xbb`, which is no JSON.
    """
    codecs.register_error(_ESCAPED, _escape)
    for stream in streams:
        if isinstance(stream, TextIOWrapper) and stream.errors in _FAILING:
            stream.reconfigure(errors=_ESCAPED)


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
