"""Whether the chunks of a PDF are printed where their boxes lie."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ingest.parse.pdf.page import PageContent
from ingest.parse.round_trip import parent_texts, squeezed
from schemas.fragment import GraphFragment
from schemas.geometry import BBox
from schemas.nodes import PdfRegion, RegionType
from schemas.redaction import REDACTED

_GROWN = 1.0
"""Points around a box: letters reach over the edge of their line."""

_CUT_LINES = 2
"""Lines of a chunk that may be printed in part: it begins in one and ends in one."""

_FOUND = "\0"

Printed = Sequence[tuple[BBox, str]]


def look_up_texts(fragment: GraphFragment, pages: Sequence[PageContent]) -> Iterator[bool | None]:
    """Say for each chunk whether the lines in its box contain its text.

    None where that cannot be told: a secret of the text was hidden, or it was recognised on a picture. What
    the part of a table repeats of its header stands further up, and is not looked for.

    The lines are those that MuPDF gave, before they are joined, ordered and cut. They come as the file stores
    them: lines of a neighbour may stand between those of a chunk, and a table may be stored column by column.
    So a text is found line by line, and a table, which is read row by row, word by word, each as often as
    the box prints it.
    """
    printed = {page.page_no: page.printed for page in pages}
    texts = parent_texts(fragment)
    tables = {node.id for node in fragment.nodes if _is_table(node)}
    for chunk in fragment.chunks:
        own = texts[chunk.region_id or ""][slice(*chunk.offsets)]
        if REDACTED in own or chunk.ocr_conf is not None:
            yield None
            continue
        is_printed = _has_words if chunk.region_id in tables else _has_lines
        lines = printed.get(chunk.page_no or 0, ())
        yield chunk.bbox is not None and is_printed(own, chunk.bbox, lines)


def _is_table(node: object) -> bool:
    return isinstance(node, PdfRegion) and node.region_type is RegionType.TABLE


def _has_words(text: str, box: BBox, lines: Printed) -> bool:
    inside = [said for line, said in lines if _meets(line, box)]
    missing = Counter(map(squeezed, text.split())) - Counter(map(squeezed, " ".join(inside).split()))
    # Two words that stand apart may have no space between them in the file.
    whole = "".join(map(squeezed, inside))
    return len(squeezed(text)) <= len(whole) and all(word in whole for word in missing)


def _has_lines(text: str, box: BBox, lines: Printed) -> bool:
    wanted = squeezed(text)
    pieces = [squeezed(said) for line, said in lines if _lies_in(line, box)]
    return wanted in "".join(pieces) or _is_made_of(wanted, pieces)


def _is_made_of(wanted: str, pieces: Sequence[str]) -> bool:
    """Whether a text is whole lines, each once, and parts of two."""
    left: list[str] = []
    for piece in sorted(filter(None, pieces), key=len, reverse=True):
        if piece in wanted:
            wanted = wanted.replace(piece, _FOUND, 1)
        else:
            left.append(piece)
    parts = [part for part in wanted.split(_FOUND) if part]
    return len(parts) <= _CUT_LINES and all(any(part in piece for piece in left) for part in parts)


def _lies_in(line: BBox, box: BBox) -> bool:
    """Whether the middle of a line does: its ends may reach over the edge of the page or of a table."""
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return box.x0 - _GROWN <= x <= box.x1 + _GROWN and box.y0 - _GROWN <= y <= box.y1 + _GROWN


def _meets(line: BBox, box: BBox) -> bool:
    """Whether a line reaches into a box: one may run through several cells, or out of a table."""
    aside = min(line.x1, box.x1) - max(line.x0, box.x0)
    return aside > -_GROWN and min(line.y1, box.y1) - max(line.y0, box.y0) > -_GROWN
