"""The difference of two versions of a manual as lines for a person."""

from collections.abc import Iterator

from retrieval.bundle.render import show_line, wrap_text
from sitegraph.cli.manuals.compare import (
    ComparedSection,
    DocumentPair,
    ManualDocument,
    SectionChange,
    VersionDifference,
)
from sitegraph.service.viewer.diff import Mark, Piece

AROUND = 60
"""Characters that are shown of what stands before and behind a change, to whole words."""

_INDENT = "    "


def difference_lines(found: VersionDifference, *, width: int, words: bool = True) -> Iterator[str]:
    """Yield a line on all, then documents that come, go, are renamed and change; these with their sections.

    Without *words* it is documents alone.
    """
    yield _summary(found)
    for what, documents in (("added", found.added), ("removed", found.removed)):
        if documents:
            yield ""
            yield from (f"{what}  {_named(one)}" for one in documents)
    for pair in found.renamed:
        yield ""
        yield show_line(f"renamed  {_called(pair.old)} > {_named(pair.new)}")
        yield from _sections(pair, width) if words else ()
    for pair in found.changed:
        if words:
            yield ""
        yield f"changed  {_named(pair.new)}{'' if words else _counted(pair)}"
        yield from _sections(pair, width) if words else ()


def _summary(found: VersionDifference) -> str:
    counts = {
        "added": len(found.added),
        "removed": len(found.removed),
        "renamed": len(found.renamed),
        "changed": len(found.changed),
        "unchanged": found.unchanged,
    }
    told = ", ".join(f"{number} {what}" for what, number in counts.items())
    return show_line(f"{found.family} {found.old} > {found.new}: documents {told}")


def _named(one: ManualDocument) -> str:
    return show_line(f"{_called(one)}  {one.title}")


def _called(one: ManualDocument) -> str:
    """What is left of the address without the version; the address, where that would read as another."""
    return one.address if "://" in one.key else one.key


def _counted(pair: DocumentPair) -> str:
    number = len(pair.sections)
    return f"  ({number} section{'' if number == 1 else 's'})"


def _sections(pair: DocumentPair, width: int) -> Iterator[str]:
    for one in pair.sections:
        yield show_line(f"  {_headed(one, pair)}")
        if one.pieces:
            yield wrap_text(_marked(one.pieces), width=width, indent=_INDENT)


def _headed(one: ComparedSection, pair: DocumentPair) -> str:
    path = _trail(one.heading_path, pair.new.title)
    if one.change is SectionChange.CHANGED:
        return path
    was = f", before: {_trail(one.old_path, pair.old.title)}" if one.old_path else ""
    return f"{path} ({one.change}{was})"


def _trail(path: tuple[str, ...], title: str) -> str:
    """Headings below that of the document; its own stands on the line above."""
    below = path[1:] if len(path) > 1 and path[0] == title else path
    return " > ".join(below) or "(without a heading)"


def _marked(pieces: tuple[Piece, ...]) -> str:
    last = len(pieces) - 1
    told = []
    for place, piece in enumerate(pieces):
        if piece.mark is Mark.SAME:
            told.append(_shortened(piece.text, begins=place == 0, ends=place == last))
        else:
            text, space = piece.text.rstrip(), piece.text[len(piece.text.rstrip()) :]
            told.append((f"[-{text}-]" if piece.mark is Mark.REMOVED else f"{{+{text}+}}") + space)
    return "".join(told)


def _shortened(text: str, *, begins: bool, ends: bool) -> str:
    """Leave out the middle of what is the same; of what stands before all changes, the beginning."""
    if len(text) <= 2 * AROUND + 10:
        return text
    head = text[:AROUND].rsplit(" ", 1)[0]
    tail = text[-AROUND:].split(" ", 1)[-1]
    return f"{'' if begins else head} … {'' if ends else tail}"
