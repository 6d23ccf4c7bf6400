"""A passage marked in the text it was cut from."""

from dataclasses import replace

import pytest

from retrieval.bundle.render import find_chunk, mark_passage
from schemas.errors import ConfigError
from schemas.nodes import Chunk
from tests.fakes.small_index import build_index, page

_TEXT = "Before it. The passage itself. After it."


def cut(chunk: Chunk, start: int, end: int) -> Chunk:
    return replace(chunk, text=_TEXT[start:end], offsets=(start, end))


def test_the_passage_stands_between_marks_in_its_section() -> None:
    nodes, (chunk,) = page("a", {"One": _TEXT})
    graph = build_index([(nodes, (chunk,))], []).graph
    assert mark_passage(graph, cut(chunk, 11, 30)) == "Before it. »The passage itself.« After it."


def test_without_a_graph_the_passage_stands_alone() -> None:
    _, (chunk,) = page("a", {"One": _TEXT})
    assert mark_passage(None, cut(chunk, 11, 30)) == "»The passage itself.«"


def test_a_section_that_says_something_else_is_not_guessed_at() -> None:
    nodes, (chunk,) = page("a", {"One": _TEXT})
    graph = build_index([(nodes, (chunk,))], []).graph
    assert mark_passage(graph, replace(chunk, text="Other words.", offsets=(0, 12))) == "»Other words.«"


def test_a_repeated_table_header_is_no_part_of_the_section() -> None:
    nodes, (chunk,) = page("a", {"One": _TEXT})
    graph = build_index([(nodes, (chunk,))], []).graph
    row = cut(chunk, 11, 30)
    assert mark_passage(graph, replace(row, text=f"| head |\n{row.text}")).count("»The passage itself.«") == 1


def test_an_unknown_id_is_refused() -> None:
    built = build_index([], [])
    with pytest.raises(ConfigError, match="no such chunk"):
        find_chunk(built.chunks, "chunk:nothing")
