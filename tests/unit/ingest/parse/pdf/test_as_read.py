"""What a reader reads where a file stores something else: columns, raised signs, forms, numbers of lines."""

from collections.abc import Sequence
from typing import Any

import pymupdf
import pytest

from ingest.parse.pdf.joining import document_words, join_paragraph
from ingest.parse.pdf.letters import is_garbled
from ingest.parse.pdf.lines import Line
from ingest.parse.pdf.tables import count_header_rows, find_sections
from schemas.fragment import GraphFragment
from schemas.nodes import BBox
from tests.fakes.pdfs import parse

LEFT = (
    "The harbour was built on piles of oak, and each pile carries a number that was burnt into it before it "
    "was driven. The keeper writes down which of them has been replaced in a year, and who paid for the work."
)
RIGHT = (
    "Bread is baked in the village on four days of the week. The oven takes eighty loaves, and the baker "
    "lights it at three in the night with beech wood from the slope, which is cut and carried in the autumn."
)


def text_of(fragment: GraphFragment) -> str:
    return "\n".join(chunk.text for chunk in fragment.chunks)


def cut(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def printed(*pieces: tuple[float, float, str], size: float = 10, font: str = "helv") -> bytes:
    document = pymupdf.open()
    page = document.new_page()
    for x, y, text in pieces:
        page.insert_text((x, y), text, fontsize=size, fontname=font)
    return bytes(document.tobytes())


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("gutter", [16, 24, 60])
def test_columns_stored_row_by_row_are_read_one_after_the_other(columns: int, gutter: int) -> None:
    texts = [LEFT, RIGHT, LEFT.upper().lower()][:columns]
    lines = [cut(text, 34) for text in texts]
    width = 150
    pieces = [
        (20 + at * (width + gutter), 100 + row * 13, column[row])
        for row in range(max(map(len, lines)))
        for at, column in enumerate(lines)
        if row < len(column)
    ]
    fragment = parse(printed(*pieces, size=9))

    joined = " ".join(text_of(fragment).split())
    assert [joined.find(text[:80]) for text in texts] == sorted(joined.find(text[:80]) for text in texts)
    assert all(" ".join(text.split()) in joined for text in texts)
    assert all(
        chunk.bbox is not None and chunk.bbox.x1 - chunk.bbox.x0 < width + gutter for chunk in fragment.chunks
    )


@pytest.mark.parametrize(
    ("before", "shift", "sign", "after", "said"),
    [
        ("The load is 5 x 10", 4, "6", " N in all", "5 x 10\u2076 N"),
        ("A field of 40 m", 4, "2", " is let", "40 m\u00b2 is"),
        ("see the note", 4, "12", " on loads", "note ¹² on"),
        ("was built in 1911", 4, "2", " by men", "1911 ² by"),
        ("Water is H", -2, "2", "O at night", "H\u2082O"),
        ("", 4, "3", " Loads are weighed at rest", "³ Loads"),
        ("the age by ", 4, "14", "C is known", "\u00b9\u2074C"),
        ("and e", 4, "x", " grows fast", "e^x grows"),
        ("by Shaffer", 4, "4,12", " and Grant", "Shaffer \u2074,\u00b9\u00b2 and"),
        ("a harm", 4, "1)", " or loss", "harm \u00b9) or"),
        ("since the use of ", 4, "fertility", " has grown", "use of fertility has"),
    ],
)
def test_raised_and_lowered_signs_are_told(
    before: str, shift: float, sign: str, after: str, said: str
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 60), "The rules of the harbour are kept by the keeper of the gate")
    x = 72.0
    for text, up, size in ((before, 0, 11), (sign, shift, 7), (after, 0, 11)):
        if text:
            page.insert_text((x, 100 - up), text, fontsize=size, fontname="tiro")
            x += pymupdf.get_text_length(text, "tiro", size)
    assert said in text_of(parse(document.tobytes()))


def form() -> Any:
    document = pymupdf.open()
    page = document.new_page()
    for y, label in ((100, "Cost centre:"), (140, "Approved:"), (180, "Paid:"), (220, "Code word:")):
        page.insert_text((72, y), label)
    kinds = (
        (88, pymupdf.PDF_WIDGET_TYPE_TEXT, "KX-4471", 0),
        (128, pymupdf.PDF_WIDGET_TYPE_CHECKBOX, True, 0),
        (168, pymupdf.PDF_WIDGET_TYPE_CHECKBOX, False, 0),
        (208, pymupdf.PDF_WIDGET_TYPE_TEXT, "sesame", pymupdf.PDF_TX_FIELD_IS_PASSWORD),
    )
    for number, (y, kind, value, flags) in enumerate(kinds):
        field = pymupdf.Widget()
        field.field_name, field.field_type, field.field_value = f"f{number}", kind, value
        field.field_flags = flags
        field.rect = pymupdf.Rect(160, y, 176 if kind == pymupdf.PDF_WIDGET_TYPE_CHECKBOX else 300, y + 16)
        page.add_widget(field)
    return document


def test_values_of_a_form_stand_behind_their_labels() -> None:
    text = text_of(parse(form().tobytes()))

    assert "Cost centre: KX-4471" in text
    assert "Approved: (ticked)" in text
    assert "Paid: (not ticked)" in text
    assert "sesame" not in text


def _lines(texts: Sequence[tuple[float, str]]) -> tuple[Line, ...]:
    return tuple(
        Line(text=text, bbox=BBox(x, 10.0 * at, x + 6 * len(text), 10.0 * at + 9), size=9.0)
        for at, (x, text) in enumerate(texts)
    )


@pytest.mark.parametrize(
    ("texts", "others", "joined"),
    [
        (("at all tempera-", "tures we know"), "", "at all temperatures we know"),
        (("the self-", "service shop"), "", "the self-service shop"),
        (("a long-", "term plan"), "the long-term view", "a long-term plan"),
        (("a cost-", "effective way"), "what is effective at what cost", "a cost-effective way"),
        (("Bau-", "und Holz"), "", "Bau- und Holz"),
        (("并且付", "费。面包"), "", "并且付费。面包"),
        (("1. Close it.", "2. Open it."), "", "1. Close it.\n2. Open it."),
        (("(i) Close it.", "(ii) Open it."), "", "(i) Close it.\n(ii) Open it."),
        (("\u2013 one", "\u2013 two"), "", "\u2013 one\n\u2013 two"),
        (("as it says in part", "2. The rest goes on"), "", "as it says in part 2. The rest goes on"),
    ],
)
def test_lines_are_joined_as_they_are_read(texts: tuple[str, ...], others: str, joined: str) -> None:
    lines = _lines([(72, text) for text in texts])
    known = document_words((*lines, *_lines([(72, others)])))

    assert join_paragraph(lines, known, lambda text: len(text.split())).text == joined


@pytest.mark.parametrize("right", [False, True])
def test_numbers_of_lines_are_taken_off_and_lines_joined(right: bool) -> None:
    lines = [*cut(f"THE CLERK: {LEFT}", 40), *cut(f"MS. ADLER: {RIGHT}", 40)]
    x = 440 if right else 60
    numbers = [(x, 100 + 24 * at, str(at + 1)) for at in range(len(lines))]
    fragment = parse(
        printed(*numbers, *((100, 100 + 24 * at, line) for at, line in enumerate(lines)), font="cour")
    )

    assert text_of(fragment) == f"THE CLERK: {LEFT}\n\nMS. ADLER: {RIGHT}"


def test_a_large_first_letter_is_part_of_its_word_and_a_copy_is_none() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 130), "O", fontsize=42, fontname="tiro")
    for at, line in enumerate(
        ("nce the boiler is cold, the panel may be", "taken off and the filter washed")
    ):
        page.insert_text((106, 105 + 13 * at), line, fontsize=11, fontname="tiro")
    for off in (0, 0.4):
        page.insert_text((72 + off, 300), "Printed twice for weight", fontsize=11)

    text = text_of(parse(document.tobytes()))
    assert "Once the boiler is cold" in text
    assert text.count("Printed twice") == 1


CODE = (
    "def retry(times):",
    "    for n in range(times):",
    "        if try_once(n):",
    "            return True",
)


@pytest.mark.parametrize("numbered", [False, True])
def test_code_stands_in_as_it_is_placed(numbered: bool) -> None:
    pieces = [(72, 80, "The kettle is filled from the cold tap and set on the hob.")]
    document = pymupdf.open(stream=printed(*pieces))
    for at, line in enumerate(CODE):
        x = 100 + 5.4 * (len(line) - len(line.lstrip()))
        document[0].insert_text((x, 120 + 11 * at), line.strip(), fontsize=9, fontname="cour")
        if numbered:
            document[0].insert_text((72, 120 + 11 * at), f"{at + 1:2}", fontsize=9, fontname="cour")

    assert "\n".join(CODE) in text_of(parse(document.tobytes()))


@pytest.mark.parametrize(
    ("rows", "sections", "header"),
    [
        (
            (
                ("Place", "2021", "2022"),
                ("Low", "", ""),
                ("Mill", "5", "6"),
                ("High", "", ""),
                ("Mill", "7", "8"),
            ),
            (1, 3),
            1,
        ),
        ((("Place", "2021", "2022"), ("Costs of the", "", ""), ("mill", "5", "6")), (), 1),
        ((("Title of it", "", ""), ("Place", "2021", "2022"), ("Mill", "5", "6")), (0,), 2),
    ],
)
def test_rows_that_name_those_below_are_told_from_the_header(
    rows: tuple[tuple[str, ...], ...], sections: tuple[int, ...], header: int
) -> None:
    assert find_sections(rows) == sections
    assert count_header_rows(rows) == header


def test_a_bold_line_set_tight_above_its_text_is_a_heading() -> None:
    document = pymupdf.open()
    page = document.new_page()
    for at, text in enumerate((LEFT, RIGHT)):
        page.insert_text(
            (72, 100 + 80 * at), f"1.{at + 1} Ships and boats {at}", fontsize=10, fontname="tibo"
        )
        for row, line in enumerate(cut(text, 90)):
            page.insert_text((72, 113 + 80 * at + 12 * row), line, fontsize=10, fontname="tiro")
    fragment = parse(document.tobytes())

    assert [chunk.heading_path for chunk in fragment.chunks] == [
        ("Ships and boats 0",),
        ("Ships and boats 1",),
    ]
    assert "1.2" in fragment.chunks[1].codes


@pytest.mark.parametrize("by", [-29, -3, 0, 1, 3])
def test_letters_moved_along_the_alphabet_are_told_by_the_language(by: int) -> None:
    moved = "".join(chr(ord(sign) + by) if sign.isalpha() else sign for sign in LEFT + RIGHT)

    assert is_garbled(moved) is (by != 0)


def test_warnings_name_attachments_and_say_what_reads_a_scan() -> None:
    document = pymupdf.open()
    page = document.new_page()
    document.embfile_add("terms.txt", b"Terms")
    page.add_file_annot((72, 72), b"Plan", "plan.txt")
    warnings = parse(document.tobytes()).warnings

    assert "2 attachments not read: terms.txt, plan.txt" in warnings
    assert any("`ocr: true`" in warning for warning in warnings)


def test_a_small_table_of_words_keeps_its_rows() -> None:
    rows = (
        ("Code", "Name", "Use"),
        ("K1", "Coral", "doors"),
        ("K2", "Slate", "roofs"),
        ("K3", "Moss", "fences"),
    )
    pieces = [
        (72 + 90 * column, 100 + 15 * at, cell)
        for at, row in enumerate(rows)
        for column, cell in enumerate(row)
    ]

    assert text_of(parse(printed(*pieces))) == "\n".join("\t".join(row) for row in rows)
