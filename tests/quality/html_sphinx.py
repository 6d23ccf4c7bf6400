"""What a Sphinx site says of itself: titles with their anchors, from searchindex.js or objects.inv."""

import html
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TAG = re.compile(r"<[^>]+>")
_LABEL = re.compile(r"^(?P<name>\S.*?) std:label -?\d+ (?P<place>\S+) (?P<title>.*)$")


@dataclass(frozen=True, slots=True)
class StatedTitle:
    """A title with its page, without suffix, and the id it stands under.

    A label of the inventory names any id at the heading, not always that of the section.
    """

    page: str
    anchor: str
    title: str
    is_label: bool = False


def stated_titles(folder: Path) -> Iterator[StatedTitle]:
    """Titles with anchors: `alltitles` of the search index, else the titled labels of the inventory."""
    script = (folder / "searchindex.js").read_text()
    if '"alltitles"' not in script and "alltitles:" not in script:
        return _inventory_titles(folder / "objects.inv")
    return _search_titles(json.loads(script[script.index("(") + 1 : script.rindex(")")]))


def _search_titles(index: dict[str, dict[str, list[tuple[int, str | None]]]]) -> Iterator[StatedTitle]:
    pages = list(index["docnames"])
    for title, places in index["alltitles"].items():
        for number, anchor in places:
            if anchor is not None:
                yield StatedTitle(pages[number], anchor, html.unescape(_TAG.sub("", title)))


def _inventory_titles(path: Path) -> Iterator[StatedTitle]:
    packed = path.read_bytes().split(b"\n", 4)[4]
    for line in zlib.decompress(packed).decode().splitlines():
        label = _LABEL.match(line)
        if label and label["title"] != "-" and "#" in label["place"]:
            page, _, anchor = label["place"].replace("$", label["name"]).partition("#")
            if anchor:
                yield StatedTitle(page.removesuffix(".html"), anchor, label["title"], is_label=True)
