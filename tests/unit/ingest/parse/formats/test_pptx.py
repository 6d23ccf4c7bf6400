"""PPTX: what comes of slides, their order, lists, tables and notes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pptx.util import Emu, Inches

from ingest.parse.formats.pptx import Box, reading_order
from schemas.fragment import GraphFragment
from tests.fakes.office_files import CONTENT, TITLE, TITLE_ONLY, python_pptx, repacked, saved
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of
from tests.fakes.plain_documents import H, N, P, T
from tests.fakes.secret_samples import github_token

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
parse = partial(parse_file, path="talks/lamps.pptx")


def deck(layout: int = CONTENT, title: str = "Lamps") -> tuple[Any, Any]:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[layout])
    slide.shapes.title.text = title
    return made, slide


def write(slide: Any, text: str, left: float, top: float, width: float = 3, height: float = 1) -> Any:
    box = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(height))
    box.text_frame.text = text
    return box


def test_slides_are_sections_below_the_title_slide_or_part_before_them() -> None:
    made = python_pptx(
        (H(1, "Lamps"), P("by the keeper"), H(2, "Oil"), P("Buy early."), H(1, "Ropes"), H(2, "Bow"))
    )
    fragment = parse(made)

    assert [section.heading_path for section in sections_of(fragment)] == [
        ("Lamps",),
        ("Lamps", "Oil"),
        ("Ropes",),
        ("Ropes", "Bow"),
    ]
    assert (fragment.kind, fragment.title) == ("pptx", "Lamps")
    assert [chunk.fragment for chunk in fragment.chunks] == ["1", "2", "3", "4"]


def test_notes_have_a_heading_of_their_own() -> None:
    fragment = parse(python_pptx((H(1, "Boats"), N("On Thursdays.", "Not in fog."))))

    assert texts_of(fragment) == {"Boats": "On Thursdays.", "Notes": "Not in fog."}
    assert [section.heading_path for section in sections_of(fragment)][1] == ("Boats", "Notes")


def test_hidden_slides_are_left_out_and_counted_and_the_others_keep_their_numbers() -> None:
    made, slide = deck()
    slide.element.set("show", "0")
    slide.notes_slide.notes_text_frame.text = "said by nobody"
    made.slides.add_slide(made.slide_layouts[TITLE_ONLY]).shapes.title.text = "Ropes"
    made.slides.add_slide(made.slide_layouts[TITLE_ONLY])
    fragment = parse(saved(made))

    assert [(section.heading, section.fragment) for section in sections_of(fragment)] == [("Ropes", "2")]
    assert fragment.warnings == ("left out as hidden: slides 1", "slides without text: 1")
    assert fragment.coverage is not None
    assert fragment.coverage.lost == 0


def test_a_slide_without_a_title_is_called_by_its_number() -> None:
    made, slide = deck(TITLE_ONLY, "")
    write(slide, "Trim them.", 1, 1)

    assert texts_of(parse(saved(made))) == {"Slide 1": "Trim them."}


def test_items_are_told_from_paragraphs_by_slide_layout_and_master() -> None:
    made, slide = deck()
    frame = slide.placeholders[1].text_frame
    frame.text = "oil"
    frame.add_paragraph().text = "rape"
    frame.paragraphs[1].level = 1
    frame.add_paragraph().text = "wick"
    for at in (0, 2):
        properties = frame.paragraphs[at]._p.get_or_add_pPr()
        numbered = {"type": "alphaLcParenR", "startAt": "3"}
        properties.append(properties.makeelement(f"{{{properties.nsmap['a']}}}buAutoNum", numbered))
    frame.add_paragraph().text = "lens"
    write(slide, "no item", 1, 6)
    _, cover = deck(TITLE)
    cover.placeholders[1].text = "no item either"

    assert texts_of(parse(saved(made)))["Lamps"] == "c. oil\n  - rape\nd. wick\n\n- lens\n\nno item"
    assert (
        texts_of(parse(saved(cover.part.package.presentation_part.presentation)))["Lamps"] == "no item either"
    )


def test_tables_have_their_header_in_every_passage() -> None:
    rows = (("Oil", "Price"), *((f"oil {number}", str(number)) for number in range(250)))
    fragment = parse(python_pptx((H(2, "Prices"), T(rows))))

    assert len(fragment.chunks) > 1
    assert {chunk.text.partition("\n")[0] for chunk in fragment.chunks} == {"Oil | Price"}


def test_merged_cells_are_repeated_in_every_place_that_they_cover() -> None:
    made, slide = deck(TITLE_ONLY)
    table = slide.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = "abcdefghi"[number]
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))

    first, second, third = texts_of(parse(saved(made)))["Lamps"].split("\n")
    assert (first, second, third) == ("a | b c | b c", "d g | e | f", "d g | h | i")


def test_cards_side_by_side_are_read_one_after_the_other_whatever_the_order_of_the_file() -> None:
    made, slide = deck(TITLE_ONLY)
    write(slide, "at the foot", 0.5, 6, 9, 0.5)
    for column in (2, 0, 1):
        write(slide, f"text {column}", 0.5 + 3.2 * column, 3.1)
        write(slide, f"head {column}", 0.5 + 3.2 * column, 2)
    write(slide, "over all", 0.5, 1.2, 9, 0.5)

    assert texts_of(parse(saved(made)))["Lamps"].split("\n\n") == [
        *("over all", "head 0", "text 0", "head 1", "text 1", "head 2", "text 2", "at the foot")
    ]


def test_shapes_of_a_group_stand_together() -> None:
    made, slide = deck(TITLE_ONLY)
    group = slide.shapes.add_group_shape()
    for text, top in (("under", 3), ("over", 2)):
        box = group.shapes.add_textbox(Inches(1), Inches(top), Inches(2), Inches(0.5))
        box.text_frame.text = text
    write(slide, "aside", 5, 2.2)

    assert texts_of(parse(saved(made)))["Lamps"] == "over\n\nunder\n\naside"


def test_numbers_and_footers_of_slides_and_hidden_shapes_are_no_text() -> None:
    made, slide = deck(TITLE_ONLY)
    for kind in ("sldNum", "ftr", "dt"):
        like = next(one for one in slide.slide_layout.placeholders if one.element.ph.get("type") == kind)
        slide.shapes.clone_placeholder(like)
        slide.placeholders[like.placeholder_format.idx].text = f"running {kind}"
    hidden = write(slide, "not shown", 1, 3)
    hidden.element.nvSpPr.cNvPr.set("hidden", "1")
    write(slide, "shown", 1, 2)
    fragment = parse(saved(made))

    assert texts_of(fragment) == {"Lamps": "shown"}
    assert fragment.coverage is not None
    assert fragment.coverage.lost == 0
    assert fragment.coverage.dropped


def test_links_raised_signs_and_struck_words_are_kept() -> None:
    made, slide = deck(TITLE_ONLY)
    paragraph = write(slide, "10", 1, 2).text_frame.paragraphs[0]
    for text, attribute in (
        ("6", ("baseline", "30000")),
        ("x", ("baseline", "-25%")),
        (" now ", None),
        ("3 pounds", ("strike", "sngStrike")),
    ):
        run = paragraph.add_run()
        run.text = text
        if attribute:
            run._r.get_or_add_rPr().set(*attribute)
    run = paragraph.add_run()
    run.text, run.hyperlink.address = "more", "prices.pptx"
    fragment = parse(saved(made))

    assert texts_of(fragment)["Lamps"] == "10⁶_x now ~~3 pounds~~more"
    assert links_of(fragment)["more"].target == "files://notes/talks/prices.pptx"


MATH = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
    '<mc:Choice Requires="a14" xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main">{}</mc:Choice>'
    "<mc:Fallback>{}</mc:Fallback></mc:AlternateContent>"
)
FORMULA = (
    '<a14:m><m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:sSup><m:e><m:r>'
    "<m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m>"
)


def test_a_formula_is_tex_and_what_older_programs_show_instead_is_not_read_too() -> None:
    made, slide = deck(TITLE_ONLY)
    write(slide, "AREA", 1, 2)

    def change(name: str, xml: bytes) -> bytes:
        if name != "ppt/slides/slide1.xml":
            return xml
        text = xml.decode()
        shape = text[text.rindex("<p:sp>") : text.rindex("</p:spTree>")]
        newer = shape.replace("<a:r><a:t>AREA</a:t></a:r>", FORMULA)
        return text.replace(shape, MATH.format(newer, shape)).encode()

    data = saved(made)
    changed = repacked(data, change)
    assert changed != data
    assert texts_of(parse(changed))["Lamps"] == "r²"


def test_ink_costs_no_slide() -> None:
    made, slide = deck(TITLE_ONLY)
    write(slide, "Trim them.", 1, 2)
    ink = MATH.format('<p:contentPart r:id="rId1"/>', "<p:pic/>").encode()
    data = repacked(saved(made), lambda _, xml: xml.replace(b"</p:spTree>", ink + b"</p:spTree>", 1))

    assert texts_of(parse(data))["Lamps"] == "Trim them."


def test_who_may_see_it_is_named_on_the_first_slide_whatever_its_part_is_called() -> None:
    made, slide = deck(TITLE_ONLY, "Ropes")
    made.slides.add_slide(made.slide_layouts[TITLE_ONLY]).shapes.title.text = "access: hr"
    order = made.slides._sldIdLst
    assert not parse(saved(made)).access

    order.append(order[0])
    assert parse(saved(made)).access

    order.append(order[0])
    slide.element.set("show", "0")
    assert parse(saved(made)).access


def test_a_presentation_that_libreoffice_wrote_has_its_parts_and_notes() -> None:
    fragment = parse((SAMPLES / "pptx.2.pptx").read_bytes())

    assert [section.heading_path for section in sections_of(fragment)] == [
        ("Boats of the island",),
        ("Boats of the island", "Notes"),
        ("Boats of the island", "Landing"),
    ]


def test_a_secret_on_a_hidden_slide_is_told() -> None:
    token = github_token()
    made, slide = deck(title=token)
    slide.element.set("show", "0")
    made.slides.add_slide(made.slide_layouts[TITLE_ONLY]).shapes.title.text = "Ropes"
    fragment: GraphFragment = parse(saved(made))

    assert fragment.secrets


SHAPES = st.lists(st.tuples(*[st.integers(0, 9)] * 2, st.lists(st.integers(0, 4), max_size=6)), max_size=8)


@settings(max_examples=40, deadline=None)
@given(SHAPES)
def test_however_shapes_and_items_lie_on_a_slide_no_word_is_lost(
    shapes: list[tuple[int, int, list[int]]],
) -> None:
    made, slide = deck()
    frames = [slide.placeholders[1].text_frame, *(write(slide, "", x, y).text_frame for x, y, _ in shapes)]
    for number, (frame, levels) in enumerate(
        zip(frames, ([0, 1, 1], *(one[2] for one in shapes)), strict=True)
    ):
        for at, level in enumerate(levels):
            paragraph = frame.add_paragraph()
            paragraph.text, paragraph.level = f"word{number}x{at}", level
    coverage = parse(saved(made)).coverage

    assert coverage is not None
    assert (coverage.lost, coverage.invented, coverage.seen) == (0, 0, coverage.kept)


BOX = st.tuples(*[st.integers(0, 40)] * 4).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3]))


@given(st.lists(BOX, max_size=12))
def test_every_shape_is_read_once(boxes: list[Box]) -> None:
    assert sorted(reading_order(boxes)) == list(range(len(boxes)))


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ([(0, 5, 9, 9), (0, 0, 9, 4)], [1, 0]),
        ([(5, 0, 9, 9), (0, 0, 4, 9)], [1, 0]),
        ([(0, 0, 9, 9), (1, 1, 3, 3)], [0, 1]),
        ([None, (0, 0, 9, 4)], [0, 1]),
        ([(Emu(at), Emu(at), Emu(at), Emu(at)) for at in range(200, 0, -1)], list(range(199, -1, -1))),
    ],
)
def test_shapes_are_read_from_top_to_bottom_and_from_left_to_right(
    boxes: Sequence[Box | None], order: list[int]
) -> None:
    assert reading_order(boxes) == order
