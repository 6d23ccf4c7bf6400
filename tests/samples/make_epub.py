"""Make the EPUB samples, by EbookLib, Pandoc and Sphinx: `python -m tests.samples.make_epub`."""

from pathlib import Path

from tests.fakes.epub_files import ebooklib_epub, pandoc_epub, sphinx_epub

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

HARBOUR = {
    "index": """The harbour
===========

What to know before a boat comes in.

.. toctree::

   moorings
   weather
""",
    "moorings": """Moorings
========

A boat lies at the mole; in a swell, see :ref:`gales`.

Ropes
-----

Two ropes at the bow, one at the stern.

Fees
----

.. list-table::
   :header-rows: 1

   * - Length
     - Fee
   * - to 8 m
     - 4 shillings
   * - to 12 m
     - 7 shillings
""",
    "weather": """Weather
=======

The glass is read at dawn.

.. _gales:

Gales
-----

In a gale boats lie in the inner basin, not at the :doc:`mole <moorings>`.
""",
}

if __name__ == "__main__":
    (FOLDER / "epub.1.epub").write_bytes(ebooklib_epub("The island", ISLAND))
    (FOLDER / "epub.2.epub").write_bytes(pandoc_epub(BOATS))
    (FOLDER / "epub.3.epub").write_bytes(sphinx_epub("The harbour book", HARBOUR))
