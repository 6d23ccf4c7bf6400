"""Footnotes that a page lists at its end > under the section that holds their mark."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ingest.parse.outline import BLOCK_JOINT, Block, BoxEnd, BoxStart, Heading, PageStart, Part


@dataclass(frozen=True, slots=True)
class NoteStart:
    """A footnote begins; `marks` are what leads to it from the text."""

    marks: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class NoteEnd:
    """The footnote ends."""


MarkedPart = Part | NoteStart | NoteEnd


def place_notes(
    parts: Sequence[MarkedPart], marks_of: Callable[[Heading | Block], Iterable[Hashable]]
) -> list[Part]:
    """Put each footnote behind the text of the section that holds its first mark.

    One whose mark is in the section that it stands in, or nowhere, stays in its place. A heading under which
    nothing but notes stood goes with them.

    Args: marks_of: everything in a part that may be a mark.
    """
    places: dict[Hashable, int] = {}
    for index, part in enumerate(parts):
        if isinstance(part, Heading | Block):
            places.update((mark, index) for mark in marks_of(part) if mark not in places)
    moved: dict[int, list[range]] = {}
    ends = _section_ends(parts)
    for note, marks in _notes(parts):
        end = ends[min((places[mark] for mark in marks if mark in places), default=len(parts))]
        if end < note.start:
            moved.setdefault(end, []).append(note)
    taken = {index for notes in moved.values() for note in notes for index in note}
    taken |= set(_emptied(parts, taken))
    found: list[Part] = []
    for index, part in enumerate(parts):
        for note in moved.get(index, ()):
            found += _apart(parts[at] for at in note)
        if index not in taken:
            found += _plain((part,))
    return found


def _notes(parts: Sequence[MarkedPart]) -> Iterator[tuple[range, tuple[Hashable, ...]]]:
    """Yield where each footnote is, and its marks."""
    start: int | None = None
    marks: tuple[Hashable, ...] = ()
    for index, part in enumerate(parts):
        if isinstance(part, NoteStart):
            start, marks = index, part.marks
        elif isinstance(part, NoteEnd) and start is not None:
            yield range(start, index), marks
            start = None


def _section_ends(parts: Sequence[MarkedPart]) -> list[int]:
    """Return, for each part, the part before which the text of the section ends that holds it.

    A section whose heading is in a box ends with the box; one whose heading is before it goes on behind it.
    """
    ends = [len(parts)] * (len(parts) + 1)
    at, in_box, page = len(parts), len(parts), len(parts)
    behind: list[tuple[int, int]] = []  # of each box around
    headed = _headed_in_box(parts)
    for index in reversed(range(len(parts))):
        ends[index] = in_box if headed[index] else at
        match parts[index]:
            case PageStart():
                at = in_box = page = index
                behind = [(page, page)] * len(behind)
            case Heading():
                at = in_box = index
            case BoxEnd():
                behind.append((at, in_box))
                in_box = index
            case BoxStart():
                at, in_box = behind.pop() if behind else (page, page)
    return ends


def _headed_in_box(parts: Sequence[MarkedPart]) -> list[bool]:
    """Return, for each part, whether a heading stands between it and the start of the box around it."""
    headed, boxes = [], list[bool]()
    for part in parts:
        headed.append(bool(boxes) and boxes[-1])
        match part:
            case BoxStart():
                boxes.append(False)
            case BoxEnd():
                del boxes[-1:]
            case Heading() if boxes:
                boxes[-1] = True
    return headed


def _emptied(parts: Sequence[MarkedPart], taken: set[int]) -> Iterator[int]:
    """Yield the headings under which nothing but notes stood that are taken away."""
    for index, part in enumerate(parts if taken else ()):
        if isinstance(part, Heading):
            ends = partial(_ends, level=part.level)
            under = range(
                index + 1, next((at for at in range(index + 1, len(parts)) if ends(parts[at])), len(parts))
            )
            if not taken.isdisjoint(under) and all(at in taken or not _says(parts[at]) for at in under):
                yield index


def _ends(part: MarkedPart, *, level: int) -> bool:
    return isinstance(part, PageStart) or (isinstance(part, Heading) and part.level <= level)


def _says(part: MarkedPart) -> bool:
    return isinstance(part, Heading | Block) and part.text != ""


def _apart(note: Iterable[MarkedPart]) -> Iterator[Part]:
    """Yield the parts of a note, set apart from the text before it."""
    joint = BLOCK_JOINT
    for part in _plain(note):
        if isinstance(part, Block) and part.text and joint:
            yield replace(part, joint=joint)
            joint = ""
        else:
            yield part


def _plain(parts: Iterable[MarkedPart]) -> Iterator[Part]:
    return (part for part in parts if not isinstance(part, NoteStart | NoteEnd))
