"""What the encoder reads for a chunk: the one text that is measured, encoded and cached."""

from functools import lru_cache

HEADING_WEIGHT = 256
"""Most a heading path may weigh in what is encoded (letters 1, other characters 4): about 64 word pieces."""

_JOIN = " > "


def encoded_text(heading_path: tuple[str, ...], text: str) -> str:
    """Return exactly what the encoder reads for a chunk: its headings on one line, then the text."""
    headings = encoded_headings(heading_path)
    return f"{headings}\n{text}" if headings else text


def encoded_headings(heading_path: tuple[str, ...]) -> str:
    """Join a heading path; an enormous one loses its front, since the last heading says most."""
    return _JOIN.join(_fitting(heading_path))


def _fitting(heading_path: tuple[str, ...]) -> tuple[str, ...]:
    left = HEADING_WEIGHT
    kept: list[str] = []
    for heading in reversed(heading_path):
        weight = _weight(heading[:left])
        if len(heading) > left or weight > left:
            if not kept:
                kept.append(heading[: left // 4])
            break
        kept.append(heading)
        left -= weight + 4
    return tuple(reversed(kept))


@lru_cache(maxsize=4096)
def _weight(heading: str) -> int:
    """What a heading weighs; it stands over all chunks below it, and over every page of a manual."""
    return sum(1 if char.isascii() and (char.isalnum() or char == " ") else 4 for char in heading)
