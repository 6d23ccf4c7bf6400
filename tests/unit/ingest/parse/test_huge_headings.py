"""Headings, titles and captions of any size: no passage repeats them, and no word of them is lost."""

import io
import json
from collections.abc import Callable

import docx
import openpyxl
import pytest

from ingest.parse.outline import MAX_DEPTH, MAX_HEADING
from schemas.ids import canonical_json
from schemas.records import to_record
from tests.fakes.epub_files import ebooklib_epub
from tests.fakes.office_files import python_pptx, saved
from tests.fakes.pages import parse_file
from tests.fakes.pdfs import Text, heading, pdf_bytes
from tests.fakes.plain_documents import H, P
from tests.fakes.secret_samples import github_token, web_token

WORDS = [f"long{number}" for number in range(4_000)]
LONG = " ".join(WORDS)
PARAGRAPHS = [f"Said {i}: " + " ".join(f"word{i}x{j}" for j in range(120)) for i in range(24)]
BODY = "\n\n".join(PARAGRAPHS)
HTML = "".join(f"<p>{one}</p>" for one in PARAGRAPHS)
NESTED = "".join(
    f"<details><summary>s</summary><h2>Heading {n}</h2><p>{PARAGRAPHS[0]}</p>" for n in range(150)
)


def _page(body: str, title: str = "T") -> str:
    return f"<html><head><title>{title}</title></head><body><main>{body}</main></body></html>"


def _docx() -> bytes:
    made = docx.Document()
    made.add_heading(LONG, 1)
    for one in PARAGRAPHS:
        made.add_paragraph(one)
    made.save(buffer := io.BytesIO())
    return buffer.getvalue()


def _pptx() -> bytes:
    return python_pptx((H(2, LONG), *map(P, PARAGRAPHS)))


def _xlsx() -> bytes:
    made = openpyxl.Workbook()
    half = len(WORDS) // 2
    for row in ([" ".join(WORDS[:half]), " ".join(WORDS[half:])], *([one, 1] for one in PARAGRAPHS)):
        made.active.append(row)
    return saved(made)


def _notebook() -> bytes:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": text} for text in (f"# {LONG}", BODY)]
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole).encode()


def _pdf() -> bytes:
    lines = [heading(" ".join(WORDS[at : at + 6])) for at in range(0, 120, 6)]
    pages = [
        [*lines, *(Text(one[:500]) for one in PARAGRAPHS[:2])],
        *([Text(one)] for one in PARAGRAPHS[:20]),
    ]
    return pdf_bytes(
        pages, toc=[[1, " ".join(WORDS[:120]), 1], *([2, f"{n} {LONG}", n] for n in range(2, 20))]
    )


DOCUMENTS: dict[str, Callable[[], bytes | str]] = {
    "atx.md": lambda: f"# {LONG}\n\n{BODY}",
    "unread.md": lambda: f"---\ntitle: [\n{LONG.replace(' ', chr(10))}\n---\n\n{BODY}",
    "title.md": lambda: f"---\ntitle: {LONG}\n---\n\n# Short\n\n{BODY}",
    "status.md": lambda: f"---\nstatus: {LONG}\n---\n\n# Short\n\n{BODY}",
    "heading.html": lambda: _page(f"<h1>{LONG}</h1><p>x</p><h2>{LONG}</h2>{HTML}"),
    "title.html": lambda: _page(HTML, LONG),
    "id.html": lambda: _page(f"<h1 id='{LONG.replace(' ', '-')}'>{LONG}</h1>{HTML}"),
    "caption.html": lambda: _page(
        f"<table><caption>{LONG}</caption>{''.join(f'<tr><td>{p}</td></tr>' for p in PARAGRAPHS)}</table>"
    ),
    "nested.html": lambda: _page(NESTED),
    "head.rst": lambda: f"{LONG}\n{'=' * len(LONG)}\n\n{BODY}",
    "head.docx": _docx,
    "head.pptx": _pptx,
    "head.xlsx": _xlsx,
    "head.ipynb": _notebook,
    "head.epub": lambda: ebooklib_epub(LONG, {LONG: HTML}),
    "head.pdf": _pdf,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_passage_repeats_a_huge_heading_and_no_word_is_lost(name: str) -> None:
    data = DOCUMENTS[name]()
    fragment = parse_file(data, name)

    said = {word.strip(".,") for chunk in fragment.chunks for word in chunk.text.split()}
    said |= {word for chunk in fragment.chunks for one in chunk.heading_path for word in one.split()}
    if "nested" not in name:
        assert said >= set(WORDS[:120] if name.endswith("pdf") else WORDS)
    repeated = [one for c in fragment.chunks for one in (*c.heading_path, *c.breadcrumbs, *c.captions)]
    assert max(map(len, [fragment.title, *repeated])) <= MAX_HEADING
    assert max(len(chunk.heading_path) for chunk in fragment.chunks) <= MAX_DEPTH + 1
    assert len(canonical_json(to_record(fragment))) < 30 * max(len(data), 50_000)


def test_of_a_long_word_no_part_is_shown_that_may_be_a_secret() -> None:
    text = f"# {'w' * 280} {github_token()} {LONG}\n\n# {web_token() * 3}\n\n{BODY}"
    assert github_token()[:20] not in json.dumps(to_record(parse_file(text, "secret.md")))
