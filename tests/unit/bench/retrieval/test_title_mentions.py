"""Titles that passages say of other documents, as edges."""

from bench.retrieval.title_mentions import WithEdges, title_edges
from retrieval.neighbours import find_ways
from tests.fakes.small_index import SmallIndex, build_index, page


def titled(*passages: tuple[str, str]) -> SmallIndex:
    return build_index([page(f"p{n}", {title: text}) for n, (title, text) in enumerate(passages)], [])


def leads(index: SmallIndex) -> set[tuple[str, str]]:
    """Title to title, as one hop over the graph with the edges added."""
    title = {row.doc: row.heading_path[0] for row in index.rows}
    graph = WithEdges(index.graph, title_edges(index.rows))
    ways = find_ways(graph, sorted(title), {row.id: row.doc for row in index.rows})  # type: ignore[arg-type]
    return {(title[way.src], title[way.dst]) for way in ways}


def test_a_title_said_in_another_text_joins_the_two_both_ways() -> None:
    index = titled(("Lothair II", "His mother was Ermengarde."), ("Ermengarde", "A queen."))
    assert leads(index) == {("Lothair II", "Ermengarde"), ("Ermengarde", "Lothair II")}


def test_what_stands_in_brackets_is_no_part_of_the_title() -> None:
    index = titled(("Rakka (film)", "A film."), ("Abhishek", "He played in Rakka once."))
    assert ("Abhishek", "Rakka (film)") in leads(index)


def test_case_word_ends_and_length_count() -> None:
    index = titled(("Aha!", "x"), ("Sun", "y"), ("Moon", "the moon and Moonlight, Sun"), ("Other", "a moon"))
    assert leads(index) == set()
