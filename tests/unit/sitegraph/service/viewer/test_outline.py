"""The outline of a document, made of the headings over its passages."""

from dataclasses import replace

from schemas.nodes import Chunk
from sitegraph.service.viewer.document import OutlineEntry, outline_of
from tests.fakes.small_index import page

ONE = page("one", {"Title": "Text."})[1][0]


def under(number: int, *path: str, page_no: int | None = None) -> Chunk:
    return replace(ONE, id=f"chunk:{number}", heading_path=path, page_no=page_no)


def test_headings_come_in_reading_order_with_the_first_passage_under_each() -> None:
    chunks = [under(1), under(2, "A"), under(3, "A"), under(4, "A", "B", page_no=7), under(5, "C")]
    assert outline_of(chunks) == (
        OutlineEntry(text="", level=1, chunk="chunk:1", passages=1),
        OutlineEntry(text="A", level=1, chunk="chunk:2", passages=2),
        OutlineEntry(text="B", level=2, chunk="chunk:4", passages=1, page_no=7),
        OutlineEntry(text="C", level=1, chunk="chunk:5", passages=1),
    )


def test_a_heading_that_only_other_headings_stand_under_has_no_passage() -> None:
    found = outline_of([under(1, "A", "B", "C"), under(2, "A", "D", "E")])
    assert [(one.text, one.level, one.chunk) for one in found] == [
        ("A", 1, None),
        ("B", 2, None),
        ("C", 3, "chunk:1"),
        ("D", 2, None),
        ("E", 3, "chunk:2"),
    ]


def test_going_back_to_a_heading_names_it_again() -> None:
    found = outline_of([under(1, "A", "B"), under(2, "A")])
    assert [(one.text, one.chunk) for one in found] == [("A", None), ("B", "chunk:1"), ("A", "chunk:2")]
    assert outline_of([]) == ()
