"""What is struck out is marked alike in all formats; ruby and lines of Chinese are read alike."""

import io

import docx
import pytest

from schemas.fragment import GraphFragment
from tests.fakes.pages import parse_file, parse_page


def of_docx() -> GraphFragment:
    document, buffer = docx.Document(), io.BytesIO()
    paragraph = document.add_paragraph("The price was ")
    paragraph.add_run("95 crowns").font.strike = True
    paragraph.add_run(" 80 crowns.")
    document.save(buffer)
    return parse_file(buffer.getvalue(), "price.docx")


@pytest.mark.parametrize(
    "fragment",
    [
        parse_page("<main><p>The price was <del>95 <b>crowns</b></del> 80 crowns.</p></main>"),
        parse_page("<main><p>The price was <s>95 crowns</s> 80 crowns.</p></main>"),
        parse_page("<main><div>The price was <strike> 95 crowns</strike> 80 crowns.</div></main>"),
        parse_file("The price was ~~95 crowns~~ 80 crowns."),
        parse_file("The price was <del>95 crowns</del> 80 crowns."),
        of_docx(),
    ],
)
def test_what_is_struck_out_is_marked(fragment: GraphFragment) -> None:
    assert [chunk.text for chunk in fragment.chunks] == ["The price was ~~95 crowns~~ 80 crowns."]


@pytest.mark.parametrize(
    ("ruby", "read"),
    [
        ("<ruby>港<rt>こう</rt></ruby>の規則", "港の規則"),
        ("<ruby>駅<rp>(</rp><rt>えき</rt><rp>)</rp></ruby>の規則", "駅(えき)の規則"),
    ],
)
def test_a_reading_above_the_line_is_read_where_it_stands_in_brackets(ruby: str, read: str) -> None:
    (chunk,) = parse_page(f"<main><p>{ruby}</p></main>").chunks
    assert chunk.text == read


@pytest.mark.parametrize("name", ["rules.md", "rules.rst"])
def test_no_blank_parts_lines_of_chinese_but_in_code(name: str) -> None:
    code = "```\n开\n关\n```" if name.endswith("md") else "::\n\n  开\n  关"
    (chunk,) = parse_file(f"两天必须付\n费。面包每周\n烤四天 or\n五天。\n\n{code}\n", name).chunks
    assert chunk.text == "两天必须付费。面包每周烤四天 or 五天。\n\n开\n关"
