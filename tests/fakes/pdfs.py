"""Small PDFs written with pymupdf, parsed without a tokenizer, and what to ask of the outcome."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import pymupdf

from ingest.parse.pdf.document import parse_pdf
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import Chunk, PdfRegion, RegionType

WIDTH, HEIGHT = 595.0, 842.0
LEFT = 72.0

Toc = Sequence[tuple[int, str, int]]


@dataclass(frozen=True, slots=True)
class Text:
    """A block of lines: wrapped at *columns* letters, or as given where it holds line ends."""

    text: str
    size: float = 10.0
    font: str = "helv"
    left: float = LEFT
    columns: int = 80


def heading(text: str, size: float = 16.0) -> Text:
    """A block that is larger than body text."""
    return Text(text, size=size, font="hebo")


def code(text: str) -> Text:
    """A listing, line by line, in a fixed-width font."""
    return Text(text, font="cour")


def new_pdf(pages: Iterable[Sequence[Text]], *, toc: Toc = (), title: str = "") -> Any:
    """Set blocks one below the other, from 100 pt, and give the open pymupdf document."""
    document = pymupdf.open()
    for blocks in pages:
        page = document.new_page(width=WIDTH, height=HEIGHT)
        y = 100.0
        for block in blocks:
            y = set_block(page, block, y) + 26
    if toc:
        document.set_toc([list(entry) for entry in toc])
    document.set_metadata({"title": title})
    return document


def set_block(page: Any, block: Text, y: float) -> float:
    """Print a block with its first baseline at *y* and give the last one."""
    lines = block.text.split("\n") if "\n" in block.text else wrap(block.text, block.columns)
    for number, line in enumerate(lines):
        page.insert_text(
            (block.left, y + number * block.size * 1.2), line, fontsize=block.size, fontname=block.font
        )
    return y + (len(lines) - 1) * block.size * 1.2


def pdf_bytes(pages: Iterable[Sequence[Text]], *, toc: Toc = (), title: str = "") -> bytes:
    """The same as a file."""
    return bytes(new_pdf(pages, toc=toc, title=title).tobytes())


def count_words(text: str) -> int:
    """Stand in for the tokenizer: about as many tokens as words."""
    return len(text.split())


def request(name: str = "manual.pdf", **more: Any) -> ParseRequest:
    """A request for a document of the source `docs`."""
    url = f"https://docs.example/{name}"
    return ParseRequest(**{"uri": url, "url": url, "source": "docs", **more})


def parse(data: bytes, **more: Any) -> GraphFragment:
    """Parse with words as tokens."""
    return parse_pdf(data, request(**more), count_tokens=count_words)


def prose(topic: str, sentences: int = 4) -> str:
    """Body text about *topic* that no other topic shares."""
    return " ".join(
        f"The {topic} of step {number} is written down before the next {topic} begins."
        for number in range(1, sentences + 1)
    )


def regions(fragment: GraphFragment, kind: RegionType) -> list[PdfRegion]:
    """Regions of one kind, in reading order."""
    return [node for node in fragment.nodes if isinstance(node, PdfRegion) and node.region_type is kind]


def chunk_with(fragment: GraphFragment, words: str) -> Chunk:
    """The first chunk that says *words*."""
    return next(chunk for chunk in fragment.chunks if words in chunk.text)


def manual_pages() -> list[list[Text]]:
    """Two pages with three numbered headings."""
    return [
        [
            heading("1 Setting up"),
            Text(prose("lamp")),
            heading("1.1 Before you start", 13),
            Text(prose("plug")),
        ],
        [heading("2 Daily use"), Text(prose("switch")), Text(prose("shade"))],
    ]


def manual() -> bytes:
    """Those pages with an outline and a title."""
    toc = [(1, "1 Setting up", 1), (2, "1.1 Before you start", 1), (1, "2 Daily use", 2)]
    return pdf_bytes(manual_pages(), toc=toc, title="The Lamp Manual")


def one_link_many_times(times: int) -> bytes:
    """One page whose /Annots names the same link *times* times."""
    document = new_pdf([[Text("Read the guide first")]])
    page = document[0]
    rect = page.search_for("guide")[0]
    page.insert_link({"kind": pymupdf.LINK_URI, "from": rect, "uri": "https://docs.example/guide"})
    document = pymupdf.open(stream=document.tobytes(), filetype="pdf")
    xref = document[0].get_links()[0]["xref"]
    document.xref_set_key(document.page_xref(0), "Annots", f"[{f'{xref} 0 R ' * times}]")
    return bytes(document.tobytes())
