"""Take the pictures of pages that the manual shows, from the index of the demonstration.

make demo
python -m docs.screenshots demo/index [docs/images]
"""

import argparse
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf

from tests.fakes.chromium import chromium, watched_page
from tests.fakes.running_service import served_pages

PAGES = {
    "search": "/search?q=rollback+to+an+earlier+generation",
    "answer": "/answer?q=What+does+sitegraph+rollback+do%3F",
    "runs": "/runs",
}
FOUND = {
    "citation": ("/search?q=why+does+a+reader+need+neither+torch+nor+transformers&kind=pdf", "a.open", ""),
    "document": ("/search?q=crawling+and+recrawling+in+waves&kind=html", ".doc h2 a", "#history"),
    "neighbourhood": ("/search?q=sitegraph+rollback&kind=html", "a.open", ""),
}
"""Pages that a search leads to: the search, the link that is followed, the place on the page."""

WIDTHS = {1280: 760, 360: 720}
"""Pixels, with the height that is shown of each."""


def main() -> None:
    """Serve, open each page in both widths, write PNG files."""
    parser = argparse.ArgumentParser(description="Pictures of the pages of serve.")
    parser.add_argument("index", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent / "images")
    options = parser.parse_args()
    with served_pages(options.index) as origin, chromium() as browser:
        for name, path in {**PAGES, **dict(_found(origin, browser))}.items():
            for width, height in WIDTHS.items():
                with watched_page(browser, width=width) as watched:
                    watched.page.set_viewport_size({"width": width, "height": height})
                    watched.page.goto(origin + path, wait_until="networkidle")
                    while name == "citation" and watched.page.query_selector(".page") is None:
                        watched.page.reload(wait_until="networkidle")  # the machine was too busy to draw
                    opened = watched.page.locator(".beside details").first
                    if name == "answer" and width > height:
                        opened.evaluate("one => one.open = true")
                    picture = small_png(watched.page.screenshot())
                (options.folder / f"pages-{name}-{width}.png").write_bytes(picture)


def _found(origin: str, browser: Any) -> Iterator[tuple[str, str]]:
    """Follow the searches; around a passage is what its page leads to."""
    for name, (search, link, place) in FOUND.items():
        with watched_page(browser) as watched:
            watched.page.goto(origin + search)
            path = watched.page.get_attribute(f"{link} >> nth=0", "href")
        yield name, f"{path.replace('/cite/', '/near/') if name == 'neighbourhood' else path}{place}"


def small_png(data: bytes) -> bytes:
    """Return a PNG of at most 256 colours, a third of the size; 5 bits of each channel are kept, or fewer.

    Source: PNG (W3C), 11.2.1 IHDR, 11.2.2 PLTE.
    """
    pixels = pymupdf.Pixmap(data)
    seen = np.frombuffer(pixels.samples, np.uint8).reshape(-1, pixels.n)[:, :3]
    for kept in (5, 4, 3, 2):
        step = 1 << (8 - kept)
        rounded = ((seen.astype(int) + step // 2) // step * step).clip(0, 255).astype(np.uint8)
        colours, places = np.unique(rounded, axis=0, return_inverse=True)
        if len(colours) <= 256:
            break
    rows = places.reshape(pixels.height, pixels.width).astype(np.uint8)
    lines = np.pad(rows, ((0, 0), (1, 0)))  # each begins with its filter, 0: none
    head = struct.pack(">IIBBBBB", pixels.width, pixels.height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", colours.tobytes()), (b"IDAT", zlib.compress(lines.tobytes(), 9)))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in (*chunks, (b"IEND", b"")))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    main()
