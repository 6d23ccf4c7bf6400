"""Displayed formulas are regions of their own, and what they say stays in the text around them."""

from typing import Any

import pymupdf
import pytest

from ingest.parse.pdf.lines import count_math, is_math_font
from schemas.fragment import GraphFragment
from schemas.nodes import PdfRegion, RegionType
from tests.fakes.pdfs import parse, prose

PLAIN, GREEK = "helv", "china-s"
Printed = tuple[float, float, str, str]


def page_with(*printed: Printed) -> GraphFragment:
    """Text, then what is given as (x, y, text, font), then text."""
    document = pymupdf.open()
    page: Any = document.new_page()
    page.insert_textbox((72, 72, 520, 130), prose("lamp"), fontsize=10)
    for x, y, text, font in printed:
        page.insert_text((x, y), text, fontsize=10, fontname=font)
    page.insert_textbox((72, 240, 520, 300), prose("plug"), fontsize=10)
    return parse(document.tobytes())


def formulas(fragment: GraphFragment) -> list[PdfRegion]:
    return [
        node
        for node in fragment.nodes
        if isinstance(node, PdfRegion) and node.region_type is RegionType.FORMULA
    ]


def test_a_displayed_formula_is_a_region_and_the_chunk_around_it_keeps_its_text() -> None:
    fragment = page_with((200, 180, "λ = ∑ ζ + ξ", GREEK))

    (formula,) = formulas(fragment)
    assert formula.text == "λ = ∑ ζ + ξ"
    assert 160 < formula.bbox.y0 < formula.bbox.y1 < 190
    (chunk,) = fragment.chunks
    assert "\n\nλ = ∑ ζ + ξ\n\n" in chunk.text
    assert chunk.region_id != formula.id


def test_the_pieces_that_a_formula_is_cut_into_are_one() -> None:
    fragment = page_with((200, 180, "λ =", GREEK), (232, 174, "∑ ξ", GREEK), (232, 188, "n + 1", GREEK))

    assert [formula.text for formula in formulas(fragment)] == ["λ = ∑ ξ n + 1"]


def test_a_number_in_brackets_at_the_right_tells_a_formula_in_plain_type() -> None:
    fragment = page_with((200, 180, "E = m c", PLAIN), (480, 180, "(2.3)", PLAIN))

    assert [formula.text for formula in formulas(fragment)] == ["E = m c (2.3)"]


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param([(200, 180, "E = m c", PLAIN)], id="no sign of mathematics"),
        pytest.param([(200, 180, "λ is the length of λ ∈ ξ", GREEK)], id="words"),
        pytest.param([(200, 180, "λ ξ ζ", GREEK)], id="no relation"),
        pytest.param([(72, 180, "12. λ = ξ", GREEK)], id="an item of a list"),
        pytest.param([(72, 180, "LANG=C (2)", PLAIN)], id="a setting"),
        pytest.param([(72, 180, "λ = ξ", "cour")], id="code"),
    ],
)
def test_what_only_resembles_a_formula_is_none(printed: list[Printed]) -> None:
    assert formulas(page_with(*printed)) == []


def test_signs_at_the_end_of_a_line_of_text_are_no_formula() -> None:
    document = pymupdf.open()
    page: Any = document.new_page()
    page.insert_textbox((72, 72, 420, 130), prose("lamp"), fontsize=10)
    x0, _, _, y1 = page.get_text("blocks")[0][:4]
    page.insert_text((x0 + 390, y1 - 4), "λ = ∑ ξ", fontsize=10, fontname=GREEK)

    assert formulas(parse(document.tobytes())) == []


@pytest.mark.parametrize(
    "name",
    ["CMMI10", "CMSY7", "LMMathItalic10-Regular", "CambriaMath", "PazoMath-Italic", "txsy", "STIXTwoMath"],
)
def test_fonts_made_for_mathematics_are_known(name: str) -> None:
    assert is_math_font(name)


@pytest.mark.parametrize("name", ["CMR10", "Helvetica", "TimesNewRomanPSMT", "Mathilde", "SymbolMT"])
def test_fonts_of_text_are_not(name: str) -> None:
    assert not is_math_font(name)


def test_signs_of_ascii_speak_of_mathematics_by_their_font_alone() -> None:
    assert count_math("x + y", in_math_font=True) == 3
    assert count_math("x + y", in_math_font=False) == 0
    assert count_math("x ≤ λ", in_math_font=False) == 2
