"""Lines of a text file as fragments of its chunks, for links such as `#L12`."""

import re
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate

from schemas.fragment import GraphFragment
from schemas.nodes import DocumentKind

_COMPARED = (40, 16)
"""Letters of a chunk that are looked for; fewer where markup, such as an address, stands among the first."""

_NO_WORD = re.compile(r"[\W_]+")


def with_lines(fragment: GraphFragment, data: bytes, pattern: str) -> GraphFragment:
    """Give the line that it begins on, as *pattern* with `{line}` says it, to each chunk without a fragment.

    A chunk has the words of its lines without their markup, so that only letters and digits are compared; one
    whose first words stand nowhere keeps none. Lines count from 1.
    """
    if fragment.kind != DocumentKind.MARKDOWN:
        return fragment
    lines = [_NO_WORD.sub("", line) for line in data.decode("utf-8", errors="replace").splitlines()]
    starts, text = list(accumulate(map(len, lines), initial=0)), "".join(lines)
    chunks, at = [], 0
    for chunk in fragment.chunks:
        found = _find(text, _NO_WORD.sub("", chunk.text), at)
        if chunk.fragment is None and found is not None:
            line = bisect_right(starts, found)
            chunk = replace(chunk, fragment=pattern.format(line=line))  # noqa: PLW2901 - the same, but placed
        at = at if found is None else found
        chunks.append(chunk)
    return replace(fragment, chunks=tuple(chunks))


def _find(text: str, words: str, start: int) -> int | None:
    places = (text.find(words[:letters], start) for letters in _COMPARED)
    return next((place for place in places if place >= 0), None) if words else None
