"""Whether evidence stands at a gold place, whether its citation opens there, and which facts it holds."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bench.questions.question_files import AskedQuestion, Entry
from schemas.nodes import BBox

_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00ad": None})
BOX_MARGIN = 2.0
"""Points around a box within which letters still count as under it."""

TextUnderBox = Callable[[int, BBox], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A found chunk as gold sees it: every place it stands at, those where a citation of it opens, its text.

    What opens at an entry inside a section opens in that section and on that page, too. `box` is where a
    citation of a PDF opens, with the page.
    """

    places: frozenset[str]
    opens: frozenset[str]
    text: str
    box: tuple[int, BBox] | None = None

    def also_at(self, other: "Passage") -> "Passage":
        """Count as standing, and opening, where another passage that says the same does."""
        return replace(self, places=self.places | other.places, opens=self.opens | other.opens)


def passage_of(
    *,
    url: str | None,
    file_path: str | None,
    fragment: str | None,
    fragments: Collection[str],
    text: str,
    section: str | None = None,
    page_no: int | None = None,
    box: BBox | None = None,
) -> Passage:
    """Return what gold compares; a page is named by its path below the site, a PDF by its file's name.

    Args: section: the fragment of the section that the chunk is part of.
    """
    if page_no is not None:
        at = f"{Path(unquote(urlsplit(url).path) if url else file_path or '').name}#page={page_no}"
        here = frozenset({at})
        return Passage(places=here, opens=here, text=text, box=(page_no, box) if box else None)
    page = unquote(urlsplit(url).path).lstrip("/") if url else file_path or ""
    page = f"{page}index.html" if not page or page.endswith("/") else page
    opens = frozenset({_at(page, fragment), _at(page, section), page})
    return Passage(places=opens | {_at(page, one) for one in fragments}, opens=opens, text=text)


def _at(page: str, fragment: str | None) -> str:
    return f"{page}#{unquote(fragment)}" if fragment else page


def stands_at(passage: Passage, entry: Entry) -> bool:
    """Whether a passage stands at one of an entry's places."""
    return any(unquote(place) in passage.places for place in entry.places)


def found_entries(passages: Sequence[Passage], question: AskedQuestion) -> tuple[int | None, ...]:
    """Return for each entry the place, from 1, of the first passage that stands there; None for none."""
    return tuple(
        next((place for place, one in enumerate(passages, start=1) if stands_at(one, entry)), None)
        for entry in question.entries
    )


def holds(text: str, fact: Collection[str]) -> bool:
    """Whether one wording of a fact stands in *text* as whole words, whatever case and white space."""
    said = fold_text(text)
    return any(re.search(rf"(?<!\w){re.escape(fold_text(one))}(?!\w)", said) for one in fact)


def fold_text(text: str) -> str:
    """Fold case, white space and typographic signs."""
    return " ".join(text.translate(_SAME).casefold().split())


def opens_right(
    passages: Sequence[Passage], question: AskedQuestion, entry: Entry, *, under: TextUnderBox | None
) -> bool | None:
    """Whether what an answer would cite for *entry* opens at it; None where nothing found stands there.

    Judged is the best passage that stands there and holds a fact, else the best that stands there. In a PDF
    the text under the cited box must hold a fact.
    """
    there = [one for one in passages if stands_at(one, entry)]
    if not there:
        return None
    holding = [one for one in there if any(holds(one.text, fact) for fact in question.facts)]
    cited = (holding or there)[0]
    if cited.box is not None and under is not None:
        page, box = cited.box
        return any(holds(under(page, box), fact) for fact in question.facts)
    return any(unquote(place) in cited.opens for place in entry.places)


def reader_of_boxes(pdf: Path) -> TextUnderBox:
    """Return what reads the words under a box of a page, by another program than wrote the box."""
    import pymupdf

    document = pymupdf.open(pdf)

    @cache
    def words(page: int) -> list[tuple[float, float, float, float, str]]:
        return [(*word[:4], word[4]) for word in document[page - 1].get_text("words")]

    def under(page: int, box: BBox) -> str:
        return " ".join(
            text
            for x0, y0, x1, y1, text in words(page)
            if box.x0 - BOX_MARGIN <= (x0 + x1) / 2 <= box.x1 + BOX_MARGIN
            and box.y0 - BOX_MARGIN <= (y0 + y1) / 2 <= box.y1 + BOX_MARGIN
        )

    return under
