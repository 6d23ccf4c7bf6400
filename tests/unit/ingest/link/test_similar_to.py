"""Edges between passages that are alike, from one generation to the next."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np
import pytest

from ingest.link.chunk_columns import ChunkColumns, columns_of, encoded_text_of, joined, replace_chunks
from ingest.link.nearest import Floats
from ingest.link.similar_to import (
    EdgeChanges,
    dump_similarity,
    edge_changes,
    held_rows,
    load_similarity,
    similar_changes,
    similar_rows,
)
from ingest.link.similarity import Compared, Rule, Similarity, compare_chunks, nothing_similar
from schemas.edges import Edge, EdgeKind
from schemas.errors import DamageFound
from schemas.ids import edge_id
from schemas.nodes import Chunk
from tests.fakes.graph_samples import make_chunk

RULE = Rule(count=2, least=7000, model="m")
VECTORS: Mapping[str, tuple[float, float]] = {
    "a": (1, 0),
    "a too": (1, 0),
    "near a": (0.96, 0.28),
    "b": (0, 1),
    "near b": (0.6, 0.8),
}


def chunk(text: str, *, page: str = "one", **fields: object) -> Chunk:
    """A passage of a page, in a section of its own."""
    made = make_chunk(text, uri=f"https://site.test/{page}", heading_path=())
    return replace(made, **{"section_id": f"section:{page} {text}", **fields})


def vectors_of(chunks: Sequence[Chunk]) -> Iterator[tuple[list[str], Floats]]:
    """What the passages say, as directions."""
    said = [VECTORS[encoded_text_of(one)] for one in chunks]
    yield [one.id for one in chunks], np.array(said, np.float32).reshape(-1, 2)


def compare(*chunks: Chunk, base: Similarity | None = None, rule: Rule = RULE) -> Compared:
    """Return the passages of *chunks*, on top of what was known."""
    return compare_chunks(
        base or nothing_similar(rule),
        columns_of(chunks),
        rule=rule,
        vectors=lambda: vectors_of(chunks),
    )


def first_edges(*chunks: Chunk) -> EdgeChanges:
    """The edges of a first generation."""
    return edge_changes(nothing_similar(RULE), compare(*chunks).similarity)


def ends(changes: EdgeChanges) -> set[tuple[str, str, float | None]]:
    """Both ends and the score of what is upserted."""
    return {(edge.src, edge.dst, edge.score) for edge in changes.upserts}


def test_an_edge_is_stated_by_the_document_it_leaves_and_as_sure_as_its_score() -> None:
    one, other = chunk("a"), chunk("near a", page="two", source="wiki")

    changes = first_edges(one, other)

    assert set(changes.upserts) == {
        Edge(
            id=edge_id(EdgeKind.SIMILAR_TO, src.id, dst.id),
            kind=EdgeKind.SIMILAR_TO,
            src=src.id,
            dst=dst.id,
            doc=src.doc,
            source=src.source,
            confidence=0.96,
            score=0.96,
            reason="near duplicate",
        )
        for src, dst in ((one, other), (other, one))
    }
    assert (changes.deletes, changes.growth) == ((), {"site": 1, "wiki": 1})


def test_nothing_changes_where_nothing_changed() -> None:
    chunks = (chunk("a"), chunk("near a"), chunk("b"))
    before = compare(*chunks).similarity

    after = compare(*chunks, base=before)

    assert (after.searched, after.searched_again) == (0, 0)
    assert edge_changes(before, after.similarity) == EdgeChanges(upserts=(), deletes=(), growth={})


def test_edges_into_a_passage_that_went_go_although_their_own_document_stays() -> None:
    one, other = chunk("a"), chunk("a too", page="two")
    before = compare(one, other).similarity

    changes = edge_changes(before, compare(one, base=before).similarity)

    assert set(changes.deletes) == {
        edge_id(EdgeKind.SIMILAR_TO, one.id, other.id),
        edge_id(EdgeKind.SIMILAR_TO, other.id, one.id),
    }
    assert (changes.upserts, changes.growth) == ((), {"site": -2})


def test_a_passage_whose_words_changed_under_its_id_is_compared_again() -> None:
    one, other = chunk("a"), chunk("b", page="two")
    before = compare(one, other).similarity

    after = compare(one, replace(other, text="near a"), base=before)

    assert after.searched == 1
    assert ends(edge_changes(before, after.similarity)) == {
        (one.id, other.id, 0.96),
        (other.id, one.id, 0.96),
    }


def test_a_passage_that_came_into_another_section_is_compared_again() -> None:
    one, other = chunk("a", section_id="section:s"), chunk("a too", section_id="section:s")
    before = compare(one, other).similarity
    assert similar_rows(before, np.arange(2))[one.id][2] == {}

    after = compare(one, replace(other, section_id="section:t"), base=before).similarity

    assert len(edge_changes(before, after).upserts) == 2


def test_a_document_that_another_source_took_over_has_its_edges_rewritten() -> None:
    one, other = chunk("a"), chunk("a too", page="two")
    before = compare(one, other).similarity

    changes = edge_changes(before, compare(replace(one, source="wiki"), other, base=before).similarity)

    assert [(edge.src, edge.source) for edge in changes.upserts] == [(one.id, "wiki")]
    assert (changes.deletes, changes.growth) == ((), {"site": -1, "wiki": 1})


def test_another_rule_compares_everything_again_and_keeps_the_edges_that_stay() -> None:
    chunks = (chunk("a"), chunk("a too", page="two"), chunk("near a", page="three"))
    before, strict = compare(*chunks).similarity, replace(RULE, least=9900)

    after = compare(*chunks, base=before, rule=strict)

    changes = edge_changes(before, after.similarity)
    assert after.searched == 3
    assert (changes.upserts, len(changes.deletes)) == ((), 4)
    wider = compare(*chunks, base=before, rule=replace(RULE, count=1)).similarity
    assert len(edge_changes(before, wider).deletes) == 3


@pytest.mark.parametrize("without", [[], [("first",)], [("first", "second")]])
def test_passages_without_a_vector_are_like_none(without: list[tuple[str, ...]]) -> None:
    ids = {"first": chunk("a").id, "second": chunk("a too").id}
    parts = [([ids[name] for name in names], np.zeros((len(names), 2), np.float32)) for names in without]
    found = compare_chunks(
        nothing_similar(RULE),
        columns_of([chunk("a"), chunk("a too")]),
        rule=RULE,
        vectors=lambda: iter(parts),
    )
    assert edge_changes(nothing_similar(RULE), found.similarity).upserts == ()


def test_vectors_are_read_no_further_than_to_the_last_that_is_asked_for() -> None:
    first, second = chunk("a"), chunk("near a", page="two")
    known, read = compare(first).similarity, []

    def vectors() -> Iterator[tuple[list[str], Floats]]:
        for one in (second, first, second):
            read.append(one)
            yield from vectors_of([one])

    found = compare_chunks(known, columns_of([first, second]), rule=RULE, vectors=vectors)

    assert read == [second, second, first]
    assert len(edge_changes(known, found.similarity).upserts) == 2


def test_near_duplicates_are_marked_and_counted_over_all() -> None:
    chunks = (chunk("a"), chunk("a too"), chunk("near a"), chunk("b"), chunk("near b"))
    assert compare(*chunks).similarity.near_duplicates == 6
    marks = {(edge.score, edge.reason) for edge in first_edges(*chunks).upserts}
    assert marks == {(1.0, "near duplicate"), (0.96, "near duplicate"), (0.8, None)}


def test_held_edges_that_are_as_they_should_be_stay() -> None:
    chunks = (chunk("a"), chunk("near a", page="two"))
    edges = first_edges(*chunks).upserts
    wrong = replace(edges[0], id="edge:wrong", dst="chunk:gone")
    wanted = similar_rows(compare(*chunks).similarity, np.arange(2))

    assert similar_changes(held_rows(edges), wanted) == EdgeChanges(upserts=(), deletes=(), growth={})
    repaired = similar_changes(held_rows([*edges, wrong]), wanted)
    assert repaired.deletes == (edge_id(EdgeKind.SIMILAR_TO, wrong.src, wrong.dst),)
    assert (repaired.upserts, repaired.growth) == ((), {"site": -1})


def test_what_is_known_comes_back_from_its_bytes_and_equal_things_are_equal_bytes() -> None:
    chunks = (chunk("a"), chunk("near a", source="o'näll"), chunk("b"))
    known = compare(*chunks).similarity
    data = dump_similarity(known)

    back = load_similarity(data)

    assert (dump_similarity(back), back.rule) == (data, RULE)
    assert edge_changes(known, back) == EdgeChanges(upserts=(), deletes=(), growth={})
    assert compare(*chunks, base=back).searched == 0
    assert dump_similarity(compare(*reversed(chunks)).similarity) == data


def test_what_an_older_version_wrote_is_read() -> None:
    known = compare(chunk("a"), chunk("near a"), chunk("b"), chunk("a too", page="two")).similarity
    file = io.BytesIO()
    columns = {f.name: getattr(known.chunks, f.name) for f in fields(ChunkColumns)}
    rule = json.dumps({"count": RULE.count, "least": RULE.least, "model": RULE.model})
    np.savez(
        file,
        rule=np.array(rule),
        known=known.neighbours.known,
        floors=known.neighbours.floors,
        **columns,
    )

    back = load_similarity(file.getvalue())

    assert dump_similarity(back) == dump_similarity(known)


@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_what_no_version_wrote_is_damaged(data: bytes) -> None:
    with pytest.raises(DamageFound):
        load_similarity(data)


def test_what_a_later_version_wrote_is_damaged() -> None:
    file = io.BytesIO()
    np.savez(file, other=np.zeros(3))
    with pytest.raises(DamageFound):
        load_similarity(file.getvalue())


def test_of_two_passages_of_one_id_the_first_is_taken() -> None:
    old, new = chunk("a"), replace(chunk("a"), source="wiki")
    both = joined([columns_of([new]), columns_of([old, chunk("b")])])
    assert sorted(both.sources.tolist()) == [b"site", b"wiki"]
    assert replace_chunks(both, gone=[old.id], new=[]).ids.tolist() == [chunk("b").id.encode()]


def test_what_comes_stands_in_order_in_place_of_its_id_however_long_its_texts() -> None:
    held = columns_of([chunk("a"), chunk("b"), chunk("c")])
    coming = replace(chunk("b"), source="a name that is longer than any")
    found = replace_chunks(
        held, gone=[chunk("c").id, "chunk:unknown"], new=[columns_of([coming]), columns_of([chunk("d")])]
    )
    again = columns_of([chunk("a"), coming, chunk("d")])
    for column in ("ids", "docs", "sources", "sections", "texts"):
        assert getattr(found, column).tolist() == getattr(again, column).tolist()
    assert replace_chunks(columns_of(()), gone=[], new=[again]).ids.tolist() == again.ids.tolist()
