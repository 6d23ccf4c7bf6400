"""The outline of a document: its headings, each with the passage that stands first under it."""

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.nodes import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry:
    """A heading, from level 1; `chunk` is None where nothing but other headings stands right under it.

    `passages` counts those under it and under no deeper heading.
    """

    text: str
    level: int
    chunk: str | None = None
    passages: int = 0
    page_no: int | None = None


def outline_of(chunks: Iterable[Chunk]) -> tuple[OutlineEntry, ...]:
    """Return the headings of passages in reading order; one that has no passage of its own comes without."""
    found: list[OutlineEntry] = []
    before: tuple[str, ...] | None = None
    for chunk in chunks:
        path = chunk.heading_path
        if path == before:
            last = found[-1]
            found[-1] = OutlineEntry(
                text=last.text,
                level=last.level,
                chunk=last.chunk,
                passages=last.passages + 1,
                page_no=last.page_no,
            )
            continue
        shared = _shared(before or (), path)
        found += [OutlineEntry(text=path[depth], level=depth + 1) for depth in range(shared, len(path) - 1)]
        text = path[-1] if path else ""
        found.append(
            OutlineEntry(
                text=text, level=max(1, len(path)), chunk=chunk.id, passages=1, page_no=chunk.page_no
            )
        )
        before = path
    return tuple(found)


def _shared(before: tuple[str, ...], path: tuple[str, ...]) -> int:
    """How many headings, from the top, two paths have in common."""
    return next(
        (at for at, (one, other) in enumerate(zip(before, path, strict=False)) if one != other),
        min(len(before), len(path)),
    )
