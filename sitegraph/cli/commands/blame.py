"""`sitegraph blame`: since when a passage says what it says."""

from functools import partial
from typing import TYPE_CHECKING

import typer

from schemas.errors import ConfigError, StoreUnavailable
from sitegraph.cli.options import ChunkArgument, FormatOption, IndexOption, print_result
from sitegraph.cli.reading import open_for_reading, read_shown_settings, terminal_width, utc_now

if TYPE_CHECKING:
    from indexes.wiring import Readers
    from schemas.nodes import Chunk
    from sitegraph.actions.archive import LedgerArchive
    from sitegraph.actions.blame import Blame, DatedSentence, PassageVersion


def blame(
    chunk: ChunkArgument,
    index: IndexOption = None,
    output: FormatOption = "text",
) -> None:
    """Show since when a passage has had each of its sentences, and what it said before.

    Reads the ledger, which only the index that runs write to has; copies do not.

    Examples:

      sitegraph blame chunk:27ktmbseikcisalxxqmll75jfe

      sitegraph blame chunk:27ktm --format json
    """
    from sitegraph.actions.archive import LedgerArchive
    from sitegraph.actions.blame import blame_chunk, history_record

    settings = read_shown_settings(index)
    readers = open_for_reading(settings)
    # What the archive says has the name of the program before it.
    archive = LedgerArchive(settings, now=utc_now, warn=partial(typer.echo, err=True), draw_seconds=1.0)
    found = blame_chunk(readers, archive, _find(readers, archive, chunk))
    if found is None:
        raise StoreUnavailable("cannot be read; blame needs it", subject="ledger")
    print_result(output, history_record(found), [_text(found)])


def _find(readers: "Readers", archive: "LedgerArchive", name: str) -> "Chunk":
    """Find the chunk; of one that is no more, say what became of it."""
    from retrieval.bundle.render import find_chunk
    from sitegraph.actions.blame import last_departure

    try:
        return find_chunk(readers.chunks, name, graph=readers.graph)
    except ConfigError:
        step = last_departure(readers, archive, name)
        if step is None:
            raise
        now, since = step.new_id, f"since generation {step.generation}"
        told = f"is {now} {since}; run: sitegraph blame {now}" if now else f"is gone {since}: {step.reason}"
        raise ConfigError(told, subject=name) from None


def _text(found: "Blame") -> str:
    from retrieval.bundle.build import locate_in_pdf
    from retrieval.bundle.render import cite_line, show_line

    head = [
        " > ".join(found.chunk.heading_path),
        cite_line(found.chunk, locate_in_pdf(found.chunk)),
    ]
    marks = [_mark(one) for one in found.sentences]
    width = max(map(len, marks), default=0)
    said = [
        _wrapped(f"{mark:<{width}}  ", one.text) for mark, one in zip(marks, found.sentences, strict=True)
    ]
    before = [line for one in found.versions for line in _change(one)]
    parts = ([show_line(line) for line in head if line], said, before)
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _mark(one: "DatedSentence") -> str:
    """The generation and the day, as the margin of a line has them."""
    if one.generation is None:
        return "older than what is known"
    day = (one.as_of or "")[:10]
    return f"{one.generation} {day}{' or before' if one.or_before else ''}"


def _wrapped(margin: str, text: str) -> str:
    from retrieval.bundle.render import wrap_text

    lines = wrap_text(text, width=max(40, terminal_width() - len(margin))).split("\n")
    return "\n".join([margin + lines[0], *(" " * len(margin) + line for line in lines[1:])])


def _change(version: "PassageVersion") -> list[str]:
    """What the coming of a version changed, word by word where both texts are kept."""
    from sitegraph.actions.word_difference import Mark

    if version.generation is None:
        return []
    head = f"generation {version.generation} of {version.as_of}: {version.reason}"
    if version.pieces is None:
        return [head]
    marks = {Mark.SAME: "{}", Mark.REMOVED: "[-{}-]", Mark.ADDED: "{{+{}+}}"}
    told = "".join(marks[piece.mark].format(piece.text) for piece in version.pieces)
    return [head, _wrapped("    ", told)]
