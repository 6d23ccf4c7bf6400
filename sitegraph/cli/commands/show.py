"""`sitegraph show`: opens a citation."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.page_images import DPI, WITHHELD, RawOf, stored_bytes
from runtime.settings import naming_file
from schemas.errors import ConfigError
from schemas.settings import install_line
from sitegraph.cli.options import AsOfOption, ChunkArgument, IndexOption
from sitegraph.cli.reading import open_for_reading, read_reading_settings, terminal_width, utc_now, warn

if TYPE_CHECKING:
    from indexes.wiring import Readers
    from schemas.nodes import Chunk

_WHOLE_ID = re.compile(r"chunk:[a-z2-7]{26}")


def show(
    chunk: ChunkArgument,
    index: IndexOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="PNG file for a chunk of a PDF (default: chunk-….png).")
    ] = None,
    as_of: AsOfOption = None,
) -> None:
    """Open a citation: draw the PDF page with its box, or print the section with the cited text marked.

    Opening a chunk that a query returned raises the authority of its document in the next generation.

    Examples:

      sitegraph show chunk:27ktmbseikcisalxxqmll75jfe

      sitegraph show chunk:27ktmbseikcisalxxqmll75jfe --out page.png
    """
    settings = read_reading_settings(index)
    readers = open_for_reading(settings, as_of=as_of)
    found = _find(readers, chunk)
    typer.echo(show_chunk(readers, found, out=out, raw_of=stored_bytes(settings, readers)))
    _log_click(readers, found)


def _find(readers: "Readers", name: str) -> "Chunk":
    """Find the chunk; of a whole id that is not there, name the command that knows what became of it."""
    from retrieval.bundle.render import find_chunk

    try:
        return find_chunk(readers.chunks, name, graph=readers.graph)
    except ConfigError as error:
        if _WHOLE_ID.fullmatch(name) is None:
            raise
        told = f"{error.message}; to see what became of an earlier one, run: sitegraph blame {name}"
        raise ConfigError(told, subject=error.subject) from None


def _log_click(readers: "Readers", chunk: "Chunk") -> None:
    from retrieval.learning.usage_log import answered_query, log_click

    try:
        query = answered_query(readers.index, chunk.id)
        if query is not None:
            log_click(
                readers.index,
                doc=chunk.doc,
                chunk_id=chunk.id,
                query=query,
                generation=readers.generation,
                timestamp=utc_now(),
            )
    except OSError as error:
        warn(f"the log of followed citations cannot be written: {error}")


def show_chunk(readers: "Readers", chunk: "Chunk", *, out: Path | None, raw_of: RawOf) -> str:
    """Return the trail, the citation and the marked passage; of a PDF also draw the page."""
    from retrieval.bundle.build import locate_in_pdf
    from retrieval.bundle.render import cite_line, mark_passage, show_line, wrap_text
    from schemas.nodes import is_document
    from schemas.uses import tell_uses

    place = cite_line(chunk, locate_in_pdf(chunk))
    trails = dict.fromkeys((" > ".join(chunk.breadcrumbs), " > ".join(chunk.heading_path)))
    head = [*trails, place]
    if chunk.last_modified is not None:
        head.append(f"modified: {chunk.last_modified} ({chunk.last_modified_origin})")
    nodes = readers.graph.nodes([chunk.doc]) if readers.graph else ()
    head += [f"uses: {tell_uses(node.uses)}" for node in nodes if is_document(node) and node.uses]
    if chunk.page_no is not None:
        head.append(f"picture: {_picture(chunk, out, raw_of)}")
    elif out is not None:
        raise ConfigError("is for PDF passages; this one is text and is printed to stdout", subject="--out")
    body = wrap_text(mark_passage(readers.graph, chunk), width=terminal_width())
    return "\n".join([show_line(line) for line in head if line] + ["", body])


def _picture(chunk: "Chunk", out: Path | None, raw_of: RawOf) -> str:
    """Name the file that was drawn, or say why there is none."""
    if find_spec("pymupdf") is None:
        missing = f"needs pymupdf, which is not installed; run: {install_line('serve')}"
        if out is not None:
            raise ConfigError(missing, subject="--out")
        return f"none; {missing}"
    data = raw_of(chunk.doc)
    if data is not None:
        return str(_draw(chunk, out or Path(chunk.id.replace(":", "-") + ".png"), data))
    if out is not None:
        raise ConfigError(f"cannot be drawn: {WITHHELD}", subject=str(out))
    return f"none; {WITHHELD}"


def _draw(chunk: "Chunk", out: Path, data: bytes) -> Path:
    from ingest.parse.pdf.opening import draw_region

    if chunk.page_no is None or chunk.bbox is None:
        raise ConfigError("has no page and box to draw", subject=chunk.id)
    picture = draw_region(data, page_no=chunk.page_no, bbox=chunk.bbox, dpi=DPI)
    with naming_file(out, "cannot be written"):
        out.write_bytes(picture)
    return out
