"""What no reader sees is no text of a page, and what some reader sees is."""

from collections.abc import Callable
from typing import Any

import pymupdf
import pytest

from tests.fakes.pdfs import parse

SHOWN = "The keeper opens the gate at eight"
SECRET = "Four million crowns"
AT = (72, 100)
AROUND = pymupdf.Rect(60, 85, 300, 106)


def cover(page: Any, color: tuple[float, ...]) -> None:
    page.draw_rect(AROUND, fill=color, color=None)


def lay_picture(page: Any) -> None:
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 9, 9))
    picture.clear_with(0)
    page.insert_image(AROUND, pixmap=picture, keep_proportion=False)


def cover_by_note(page: Any) -> None:
    note = page.add_rect_annot(AROUND)
    note.set_colors(fill=(0, 0, 0), stroke=(0, 0, 0))
    note.update()


def nothing(page: Any) -> None:
    """Neither before nor after."""


@pytest.mark.parametrize("turned", [0, 90])
@pytest.mark.parametrize(
    ("before", "style", "after", "seen"),
    [
        (nothing, {"color": (1, 1, 1)}, nothing, False),
        (nothing, {"color": (0.97, 0.97, 0.97)}, nothing, False),
        (nothing, {"render_mode": 3}, nothing, False),
        (nothing, {"fill_opacity": 0}, nothing, False),
        (nothing, {"fontsize": 0.5}, nothing, False),
        (nothing, {}, lambda page: cover(page, (0, 0, 0)), False),
        (nothing, {}, lambda page: cover(page, (1, 1, 1)), False),
        (nothing, {}, lay_picture, False),
        (nothing, {}, cover_by_note, False),
        (lambda page: cover(page, (0, 0, 0.6)), {"color": (0, 0, 0.6)}, nothing, False),
        (lambda page: cover(page, (0, 0, 0.6)), {"color": (1, 1, 1)}, nothing, True),
        (lambda page: cover(page, (0.9, 0.9, 0.9)), {}, nothing, True),
        (nothing, {"color": (0.8, 0.8, 0.8)}, nothing, True),
        (nothing, {"render_mode": 1}, nothing, True),
        (lay_picture, {"render_mode": 3}, nothing, True),
        (nothing, {}, lambda page: page.add_highlight_annot(AROUND), True),
        (nothing, {"fontsize": 4}, nothing, True),
    ],
)
def test_what_leaves_no_ink_is_left_out_and_said_so(
    before: Callable[[Any], None],
    style: dict[str, Any],
    after: Callable[[Any], None],
    seen: bool,
    turned: int,
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 300), SHOWN)
    before(page)
    page.insert_text(AT, SECRET, **style)
    after(page)
    page.set_rotation(turned)
    fragment = parse(document.tobytes())

    text = "\n".join(chunk.text for chunk in fragment.chunks)
    assert SHOWN in text
    assert (SECRET in text) is seen
    assert any("hidden text" in warning for warning in fragment.warnings) is not seen
    assert all(chunk.round_trip for chunk in fragment.chunks)


@pytest.mark.parametrize(
    ("line", "covered", "left"),
    [
        ("The price is 4,250,000 crowns today", "250,000", "The price is crowns today"),
        ("Name:SECRETVALUE follows", "SECRETVALUE", "Name:follows"),
    ],
)
def test_a_box_over_part_of_a_line_hides_that_part_and_the_number_it_cuts(
    line: str, covered: str, left: str
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text(AT, line)
    page.draw_rect(page.search_for(covered)[0], fill=(0, 0, 0))
    fragment = parse(document.tobytes())

    assert [chunk.text for chunk in fragment.chunks] == [left]
