"""Laws of similar_to: whatever comes, changes and goes, the edges are those of comparing all with all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.embed.screen import CodeFile
from ingest.link import nearest, similarity
from ingest.link.chunk_columns import columns_of, encoded_text_of, replace_chunks
from ingest.link.nearest import SCALE, Floats
from ingest.link.similar_to import dump_similarity, edge_changes, load_similarity, similar_rows
from ingest.link.similarity import CodedVectors, Rule, compare_chunks, nothing_similar
from schemas.edges import Edge
from schemas.nodes import Chunk
from tests.fakes.graph_samples import make_chunk

RULE = Rule(count=1, least=6000, model="m")
DIM = 3

# Few directions and few names, so that scores tie, texts repeat, and more than three are near.
texts = st.sampled_from(["0 0 0", "1 0 0", "2 1 0", "1 1 0", "1 2 1", "0 0 1"])
chunks = st.builds(
    lambda name, text, section, source: replace(
        make_chunk(name, heading_path=()), text=text, section_id=f"section:{section}", source=source
    ),
    st.integers(0, 19).map(lambda n: f"name {n}"),
    texts,
    st.integers(0, 11),
    st.sampled_from(["site", "wiki"]),
)
runs = st.lists(
    st.tuples(
        st.lists(chunks, max_size=8, unique_by=lambda chunk: chunk.id),
        st.sets(st.integers(0, 19), max_size=5),
    ),
    min_size=4,
    max_size=7,
)


def vector_of(text: str) -> Floats:
    """A direction that the text spells out."""
    return np.array([float(part) for part in text.split()], np.float32)


def vectors_of(held: Mapping[str, Chunk]) -> Iterator[tuple[list[str], Floats]]:
    """The vectors of passages, by what their chunks say: three at a time, in no order, the first twice."""
    ids = sorted(held, key=lambda id_: held[id_].text)
    for start in range(0, len(ids), 3):
        part = sorted({ids[0], *ids[start : start + 3]}, reverse=True)
        yield part, np.array([vector_of(encoded_text_of(held[id_])) for id_ in part], np.float32)


def coded_in(path: Path, held: Mapping[str, Chunk]) -> CodedVectors:
    """Codes in a file, and the vectors of passages by id."""

    def look_up(ids: Sequence[str]) -> Iterator[tuple[Sequence[str], Floats]]:
        yield ids, np.array([vector_of(encoded_text_of(held[id_])) for id_ in ids], np.float32)

    return CodedVectors(codes=CodeFile(path, dim=DIM), look_up=look_up)


def neighbours_by_hand(held: Sequence[Chunk]) -> dict[str, dict[str, int]]:
    """The nearest of each, by looking at every pair."""
    near: dict[str, dict[str, int]] = {}
    for one in held:
        scored = [
            (-score, other.id)
            for other in held
            if other.section_id != one.section_id
            and (score := cosine(vector_of(one.text), vector_of(other.text))) >= RULE.least
        ]
        near[one.id] = {id_: -negated for negated, id_ in sorted(scored)[: RULE.count]}
    return near


def cosine(left: Floats, right: Floats) -> int:
    """The cosine of two directions in ten-thousandths, 0 where one has none."""
    lengths = [np.float32(np.linalg.norm(vector)) for vector in (left, right)]
    if not all(lengths):
        return 0
    units = (left / lengths[0]).astype(np.float64) * (right / lengths[1])
    return min(SCALE, int(np.rint(units.sum() * SCALE)))


@settings(deadline=None, max_examples=60)
@given(runs, st.booleans(), st.sampled_from([1, 3, nearest.BLOCK]), st.sampled_from([0, 20, 10**9]))
def test_any_sequence_of_runs_gives_the_edges_of_a_rebuild(
    changes: list[tuple[list[Chunk], set[int]]], forget: bool, block: int, few_pairs: int
) -> None:
    with patch.object(nearest, "BLOCK", block), patch.object(similarity, "SCREENED", few_pairs):
        check_runs(changes, forget=forget)


@settings(deadline=None, max_examples=60)
@given(runs, st.booleans(), st.sampled_from([1, 3, 128]), st.sampled_from([0, 0.5, 1]))
def test_codes_change_no_edge(
    changes: list[tuple[list[Chunk], set[int]]], lose: bool, few: int, most_looked_up: float
) -> None:
    with (
        patch.object(similarity, "FEW", few),
        patch.object(similarity, "MOST_LOOKED_UP", most_looked_up),
        TemporaryDirectory() as folder,
    ):
        check_runs(changes, codes=Path(folder) / "codes", lose_codes=lose)


def check_runs(
    changes: list[tuple[list[Chunk], set[int]]],
    *,
    forget: bool = False,
    codes: Path | None = None,
    lose_codes: bool = False,
) -> None:
    """Go through the runs, one after the other, and look at every pair after each."""
    held: dict[str, Chunk] = {}
    graph: dict[str, Edge] = {}
    counts: dict[str, int] = {}
    known = nothing_similar(RULE)
    for number, (upserts, gone) in enumerate(changes):
        ids = sorted(held)
        deletes = {ids[n] for n in gone if n < len(ids)} - {chunk.id for chunk in upserts}
        held = {id_: chunk for id_, chunk in held.items() if id_ not in deletes}
        held |= {chunk.id: chunk for chunk in upserts}
        # One run in the middle may have lost what the ones before knew.
        base = nothing_similar(RULE) if forget and number == 1 else known
        passages = replace_chunks(known.chunks, gone=deletes, new=[columns_of(upserts)])
        if codes and lose_codes and number == 1:
            codes.unlink(missing_ok=True)
        after = compare_chunks(
            base,
            passages,
            rule=RULE,
            vectors=partial(vectors_of, held),
            coded=coded_in(codes, held) if codes else None,
        ).similarity
        step = edge_changes(known, after)
        graph = {id_: edge for id_, edge in graph.items() if id_ not in step.deletes}
        graph |= {edge.id: edge for edge in step.upserts}
        counts = {s: counts.get(s, 0) + step.growth.get(s, 0) for s in sorted({*counts, *step.growth})}
        known = load_similarity(dump_similarity(after))
        assert in_the_graph(graph.values()) == {
            id_: near for id_, near in neighbours_by_hand(list(held.values())).items() if near
        }
    assert {n: c for n, c in counts.items() if c} == by_source(graph.values())
    assert all(edge.source == held[edge.src].source for edge in graph.values())
    assert similar_rows(known, np.arange(len(held))).keys() == held.keys()


def in_the_graph(edges: Sequence[Edge]) -> dict[str, dict[str, int]]:
    """Scores by end, by start."""
    found: dict[str, dict[str, int]] = {}
    for edge in edges:
        found.setdefault(edge.src, {})[edge.dst] = round((edge.score or 0) * SCALE)
    return found


def by_source(edges: Sequence[Edge]) -> dict[str, int]:
    """How many edges each source has."""
    sources = [edge.source for edge in edges]
    return {source: sources.count(source) for source in sorted(set(sources))}
