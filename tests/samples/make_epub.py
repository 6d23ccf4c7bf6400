"""Make the EPUB samples, by EbookLib and by Pandoc: `python -m tests.samples.make_epub`."""

from pathlib import Path

from tests.fakes.epub_files import ebooklib_epub, pandoc_epub

FOLDER = Path(__file__).parent / "formats"

ISLAND = {
    "Keeping the light": (
        "<h1>Keeping the light</h1><p>The lamp is trimmed before dusk; see "
        '<a href="ch2.xhtml#landing">the landing</a>.</p><h2 id="wick">Trimming the wick</h2>'
        "<p>Cut the wick straight. The telegraph opens with SECRET-GOES-HERE and a bell.</p>"
    ),
    "Boats": (
        '<p>No heading here.</p><h3 id="landing">Landing</h3><p>Hold the bow line. '
        '<a href="https://example.org/">Web</a> <a href="ch1.xhtml">back</a></p>'
    ),
}
BOATS = """---
title: Boats of the island
lang: en
---

# Boats

The supply boat lands on Thursdays.[^fog] See [landing](#landing).

[^fog]: Not in fog.

## Landing

Two people hold the bow line.

# Tides

| Moon | Tide |
|---|---|
| full | spring |
| half | neap |
"""

if __name__ == "__main__":
    (FOLDER / "epub.1.epub").write_bytes(ebooklib_epub("The island", ISLAND))
    (FOLDER / "epub.2.epub").write_bytes(pandoc_epub(BOATS))
