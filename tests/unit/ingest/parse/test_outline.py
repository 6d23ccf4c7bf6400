import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ingest.parse import outline as outline_module
from ingest.parse.outline import (
    Block,
    BoxEnd,
    BoxStart,
    EntryEnd,
    EntryStart,
    Heading,
    Part,
    build_outline,
)


def test_a_heading_ends_sections_of_its_level_and_deeper() -> None:
    outline = build_outline(
        [
            Heading(text="Top", level=1),
            Heading(text="A", level=2),
            Heading(text="Deep", level=4),
            Heading(text="B", level=2),
        ]
    )
    assert [section.heading_path for section in outline] == [
        ("Top",),
        ("Top", "A"),
        ("Top", "A", "Deep"),
        ("Top", "B"),
    ]
    assert [section.parent for section in outline] == [None, 0, 1, 0]


def test_text_before_any_heading_is_a_section_of_level_0() -> None:
    (section,) = build_outline([Block(text="Hello.")])
    assert (section.level, section.heading, section.heading_path, section.text) == (0, "", (), "Hello.")


def test_a_heading_without_text_is_its_own_text() -> None:
    (section,) = build_outline([Heading(text="Downloads", level=1)])
    assert section.text == "Downloads"


def test_text_after_a_note_belongs_to_the_section_around_it() -> None:
    outline = build_outline(
        [
            Heading(text="Types", level=2),
            Block(text="Before."),
            BoxStart(),
            Heading(text="Note", level=3),
            Block(text="Inside."),
            BoxEnd(),
            Block(text="After."),
        ]
    )
    assert [(section.heading_path, section.text) for section in outline] == [
        (("Types",), "Before.\n\nAfter."),
        (("Types", "Note"), "Inside."),
    ]


def test_a_note_of_the_same_level_ends_no_section_outside() -> None:
    outline = build_outline(
        [
            Heading(text="Types", level=3, fragment="types"),
            BoxStart(),
            Heading(text="Note", level=3),
            BoxEnd(),
            Heading(text="Next", level=3),
        ]
    )
    assert [section.heading_path for section in outline] == [("Types",), ("Types", "Note"), ("Next",)]
    assert outline[1].nearest_fragment == "types"


def test_anchors_and_captions_move_with_their_block() -> None:
    (section,) = build_outline(
        [
            Heading(text="T", level=1),
            Block(text="One."),
            Block(text="Two.", anchors=((0, "two"),), caption="Table 1"),
        ]
    )
    assert section.text == "One.\n\nTwo."
    assert section.anchors == ((6, "two"),)
    assert section.captions == ((6, 10, "Table 1"),)


def _entries(number: int) -> list[Part]:
    return [
        part
        for n in range(number)
        for part in (EntryStart(name=f"e{n}"), Block(text=f"e{n}"), Block(text="Means it."), EntryEnd())
    ]


def test_each_of_many_entries_costs_what_each_of_few_does() -> None:
    def lines_run(number: int) -> int:
        """Lines of the module that reading so many entries goes through."""
        ran = 0

        def count(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
            nonlocal ran
            ran += event == "line"
            return count if frame.f_code.co_filename == outline_module.__file__ else None

        parts, before = _entries(number), sys.gettrace()
        sys.settrace(count)
        try:
            (section,) = build_outline(parts)
        finally:
            sys.settrace(before)
        assert len(section.entries) == number
        return ran

    assert lines_run(800) < 2.2 * lines_run(400)  # squared, it would be nearly 4 times as many


def test_an_entry_begins_with_the_first_text_behind_its_mark_and_an_empty_one_is_none() -> None:
    (section,) = build_outline(
        [
            Block(text="Before."),
            EntryStart(name="outer"),
            EntryStart(name="empty"),
            EntryEnd(),
            Block(text=""),
            EntryStart(name="inner"),
            Block(text="Text."),
            EntryEnd(),
            Block(text="More."),
            EntryEnd(),
        ]
    )
    said = {one.name: section.text[one.start : one.end] for one in section.entries}
    assert said == {"outer": "Text.\n\nMore.", "inner": "Text."}
