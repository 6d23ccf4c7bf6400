"""Pictures of PDF pages: the bytes readers see, drawn here or in a child process under limits."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.settings import child_environment
from schemas.errors import ConfigError, ParseError, StoreUnavailable
from schemas.nodes import BBox, Chunk, PageSize
from schemas.settings import Settings

if TYPE_CHECKING:
    from indexes.wiring import Readers

DPI = 110
SECONDS = 10.0
ADDRESS_SPACE_MB = 2048
"""Of which importing pymupdf takes 610."""

WITHHELD = "the document holds secrets, so its bytes were not kept (see keep_raw of a source file)"

RawOf = Callable[[str], bytes | None]
"""Document node id to the bytes it was parsed from; None where they held secrets and were not kept."""


def stored_bytes(settings: Settings, readers: "Readers", *, generation: int | None = None) -> RawOf:
    """Return the bytes that a document readers see was read from; nothing is opened before it is asked.

    With *generation* those of another generation, for as long as it is kept.
    """

    def raw_of(doc: str) -> bytes | None:
        from indexes.copies.contents import pdf_of_copy
        from indexes.layout import IndexLayout
        from indexes.markers import read_marker
        from indexes.own_ledger import open_own_ledger
        from indexes.wiring import open_raw_store

        layout = IndexLayout(Path(settings.index).resolve())
        number = readers.generation if generation is None else generation
        if settings.ledger_url is None and (marker := read_marker(layout.root)) is not None:
            return pdf_of_copy(layout, readers.manifest, marker, doc, generation=number, settings=settings)
        ledger = open_own_ledger(layout, settings.ledger_url, read_only=True)
        try:
            origins = ledger.origins.of_generation(number, docs=[doc])
        finally:
            ledger.close()
        if doc not in origins:
            raise StoreUnavailable(
                "the ledger has no bytes of this document; run its source again", subject=doc
            )
        sha256 = origins[doc]
        return None if sha256 is None else open_raw_store(layout.raw, readers.manifest).get(sha256)

    return raw_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPage:
    """A page as displayed: `size` in points, turned clockwise by `rotation` degrees; boxes are not."""

    png: bytes
    size: PageSize
    rotation: int


def draw_apart(data: bytes, chunk: Chunk, *, seconds: float = SECONDS) -> bytes:
    """Draw the page of *chunk*, framed, in a child process, so that no PDF can harm or hold up this one; PNG.

    Raises: ParseError: the page cannot be drawn, or not in time; ConfigError: the chunk has no page.
    """
    if chunk.page_no is None or chunk.bbox is None:
        raise ConfigError("has no page and box to draw", subject=chunk.id)
    return _drawn(data, "framed", chunk.page_no, chunk.bbox, subject=chunk.id, seconds=seconds)


def draw_box_apart(data: bytes, page_no: int, box: BBox, *, seconds: float = SECONDS) -> bytes:
    """Draw what stands in a box of a page, counted from 1, in such a child process; PNG.

    Raises: ParseError: it cannot be drawn, or not in time.
    """
    return _drawn(data, "alone", page_no, box, subject=f"page {page_no}", seconds=seconds)


def draw_page_apart(data: bytes, page_no: int, *, dpi: int = DPI, seconds: float = SECONDS) -> DrawnPage:
    """Draw a page, counted from 1, as it is, in such a child process.

    Raises: ParseError: there is no such page, it cannot be drawn, or not in time.
    """
    subject = f"page {page_no}"
    said = _drawn(data, "whole", page_no, None, dpi=dpi, subject=subject, seconds=seconds)
    displayed, _, png = said.partition(b"\n")
    record = json.loads(displayed)
    return DrawnPage(png=png, size=PageSize(record["width"], record["height"]), rotation=record["rotation"])


def _drawn(
    data: bytes, how: str, page_no: int, box: BBox | None, *, dpi: int = DPI, subject: str, seconds: float
) -> bytes:
    numbers = (page_no, dpi, ADDRESS_SPACE_MB, *((box.x0, box.y0, box.x1, box.y1) if box else ()))
    command = [sys.executable, "-P", "-m", "runtime.page_image_child", how, *map(str, numbers)]
    # Every thread of a library would else reserve an arena out of the limited address space.
    environment = child_environment(MALLOC_ARENA_MAX="2", PYMUPDF_MESSAGE="fd:2")
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=seconds, env=environment, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ParseError(f"drawing the page took longer than {seconds:g} s", subject=subject) from error
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    raise ParseError(said[-1] if said else f"drawing ended with {done.returncode}", subject=subject)
