"""Thirty DOCX files of two writers, against what they were made of: every heading, every cell."""

from itertools import count

import pytest

from ingest.parse.document import parse_document
from schemas.fragment import ParseRequest
from tests.fakes.docx_files import SOFFICE, libreoffice_docx, python_docx
from tests.fakes.pages import count_words, sections_of
from tests.fakes.plain_documents import Document, H, Item, L, N, P, T

DOCUMENTS = 15
HEADINGS_FLOOR = 0.99
WORDS = (
    *(
        "lamp",
        "wick",
        "oil",
        "harbour",
        "buoy",
        "tide",
        "rope",
        "keel",
        "bell",
        "fog",
        "gale",
        "chart",
        "mast",
    ),
    *("signal", "anchor", "Föhre", "naïve", "5 °C", "R&D", "<tag>", "“quoted”", "O'Neill", "half-hour"),
)


def phrase(seed: int, words: int) -> str:
    """Words in an order that the seed decides."""
    return " ".join(WORDS[(seed * 7 + number * (seed % 5 + 1)) % len(WORDS)] for number in range(words))


def document(seed: int) -> Document:
    """A document of up to 40 headings on six levels, with lists, tables and notes between them."""
    items: list[Item] = []
    level = 0
    for number in range(10 + seed * 2):
        level = min(level + 1, 1 + (seed + number * 3) % 6)
        items += [H(level, f"{phrase(seed + number, 3)} {number}"), P(f"{phrase(number, 12)}.")]
        if number % 3 == 0:
            items.append(T(table(seed + number)))
        if number % 4 == 1:
            items.append(L(tuple(phrase(seed + step, 4) for step in range(3))))
        if number % 5 == 2:
            items.append(N(phrase(number, 6), phrase(seed, 5)))
    return tuple(items)


def table(seed: int) -> tuple[tuple[str, ...], ...]:
    """Two to six rows of two to five cells, some of them empty."""
    cell = count(seed)
    columns = 2 + seed % 4
    return tuple(
        tuple(
            "" if (seed + next(cell)) % 9 == 8 else phrase(next(cell), 1 + seed % 3) for _ in range(columns)
        )
        for _ in range(2 + seed % 5)
    )


@pytest.mark.parametrize("writer", ["python-docx", "LibreOffice"])
def test_headings_and_tables_come_out_as_they_went_in(writer: str, figures: list[str]) -> None:
    documents = [document(seed) for seed in range(DOCUMENTS)]
    if writer == "LibreOffice":
        if SOFFICE is None:
            pytest.skip("LibreOffice is not installed: apt-get install libreoffice-writer-nogui")
        files = libreoffice_docx(documents)
    else:
        files = [python_docx(items) for items in documents]

    wanted, found, cells_wanted, cells_found, tables = 0, 0, 0, 0, 0
    for number, (items, data) in enumerate(zip(documents, files, strict=True)):
        request = ParseRequest(uri=f"files://n/{number}.docx", source="n", path=f"{number}.docx")
        sections = sections_of(parse_document(data, request, count_tokens=count_words))
        headings = [(item.level, item.text) for item in items if isinstance(item, H)]
        read = [(section.level, section.heading) for section in sections]
        wanted += max(len(headings), len(read))
        found += sum(one == other for one, other in zip(headings, read, strict=False))
        text = "\n".join(section.text for section in sections)
        for item in items:
            if isinstance(item, T):
                tables += 1
                cells_wanted += sum(map(len, item.rows))
                whole = "\n".join(" | ".join(row) for row in item.rows)
                cells_found += sum(map(len, item.rows)) if whole.strip() in text else 0

    told = f"headings {found} of {wanted}, cells {cells_found} of {cells_wanted} in {tables} tables"
    figures.append(f"{writer}: {len(files)} files, {told}")
    assert found >= HEADINGS_FLOOR * wanted > 0
    assert cells_found == cells_wanted > 0
