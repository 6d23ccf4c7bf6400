"""Lines of a text file as fragments of its chunks, for links such as `#L12`."""

import re
from dataclasses import replace

from schemas.fragment import GraphFragment
from schemas.nodes import DocumentKind

_COMPARED = 40
_TELLING = 8
"""Letters of a line that say enough to know the beginning of a chunk by, if it goes on below."""

_NO_WORD = re.compile(r"[\W_]+")


def with_lines(fragment: GraphFragment, data: bytes, pattern: str) -> GraphFragment:
    """Give the line that it begins on, as *pattern* with `{line}` says it, to each chunk without a fragment.

    A chunk has the words of its lines without their markup, so that only letters and digits are compared; one
    whose first words stand on no line keeps none. Lines count from 1.
    """
    if fragment.kind != DocumentKind.MARKDOWN:
        return fragment
    lines = [_plain(line) for line in data.decode("utf-8", errors="replace").splitlines()]
    chunks, at = [], 0
    for chunk in fragment.chunks:
        found = _find(lines, _plain(chunk.text)[:_COMPARED], at)
        at = at if found is None else found
        is_named = chunk.fragment is not None or found is None
        chunks.append(chunk if is_named else replace(chunk, fragment=pattern.format(line=at + 1)))
    return replace(fragment, chunks=tuple(chunks))


def _plain(text: str) -> str:
    return _NO_WORD.sub("", text)


def _find(lines: list[str], words: str, start: int) -> int | None:
    if not words:
        return None
    return next(
        (
            number
            for number in range(start, len(lines))
            if lines[number].startswith(words)
            or (len(lines[number]) >= _TELLING and words.startswith(lines[number]))
        ),
        None,
    )
