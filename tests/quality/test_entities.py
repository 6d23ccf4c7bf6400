"""Entities that rules make, on passages of an encyclopedia without links: do they join what belongs together?

Each passage is a document with a title. Of the passages that answer one question, those pairs are linked
of which one holds the other's title; a path is at most two steps long, over names, mentions, relations and
links. How many pairs of any passages are joined as well, and how many edges a chunk has, shows whether
everything is.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from schemas.edges import Edge, EdgeKind
from schemas.nodes import Entity
from tests.fakes.real_sites import DATA
from tests.fakes.written_index import WrittenIndex, open_written_index
from tests.quality.floors import hold

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(900)]

JOINING = (EdgeKind.NAMES, EdgeKind.MENTIONS, EdgeKind.RELATED, EdgeKind.LINKS_TO)
RANDOM_PAIRS = 5000

Neighbours = Mapping[str, set[str]]


def test_passages_that_answer_one_question_are_joined_and_others_are_not(
    tmp_path: Path, figures: list[str]
) -> None:
    folder = DATA / "qa" / "2wiki-101"
    passages = json.loads((folder / "corpus.json").read_text())
    questions = json.loads((folder / "questions.json").read_text())
    with open_written_index(tmp_path / "index") as index:
        write(index, passages)
        docs = [index.notes["notes", f"{number}.md"].doc for number in range(len(passages))]
        edges, chunks = index.edges(*JOINING), index.chunks
        entities = {node.id: node for node in index.nodes if isinstance(node, Entity)}
    near = neighbours(edges)
    pairs = [pair for question in questions for pair in combinations(question["gold_idx"], 2)]
    linked = [(a, b) for a, b in pairs if holds(passages[a], passages[b]) or holds(passages[b], passages[a])]
    chance = random.Random(0)
    others = [tuple(chance.sample(range(len(docs)), 2)) for _ in range(RANDOM_PAIRS)]

    def share(of: Iterable[tuple[int, ...]]) -> float:
        found = [docs[b] in within_two(near, docs[a]) for a, b in of]
        return sum(found) / len(found)

    counts = Counter(edge.kind for edge in edges)
    hubs = Counter(entities[edge.dst].name for edge in edges if edge.kind is EdgeKind.MENTIONS)
    figures.append(
        f"  2wiki: {len(passages)} passages, {len(chunks)} chunks, {len(entities)} entities, "
        + ", ".join(f"{kind} {number / len(chunks):.2f} a chunk" for kind, number in sorted(counts.items()))
    )
    figures.append(
        f"  2wiki: {len(linked)} of {len(pairs)} pairs linked; most mentioned: {hubs.most_common(5)}"
    )
    figures.append(f"  2wiki: of all pairs of one question {share(pairs):.3f} are joined")
    check_support(edges, {chunk.id: chunk.text for chunk in chunks})
    hold(figures, "entities", "2wiki.linked_pairs_joined", share(linked), note=f"of {len(linked)}")
    hold(figures, "entities_at_most", "2wiki.random_pairs_joined", share(others), note=f"of {len(others)}")
    hold(figures, "entities_at_most", "2wiki.edges_per_chunk", len(edges) / len(chunks))


def write(index: WrittenIndex, passages: list[dict[str, Any]]) -> None:
    """Publish each passage as a document without a heading, so that its title is not in its own text."""
    texts = {
        f"{number}.md": f"---\ntitle: {json.dumps(passage['title'])}\n---\n{passage['text']}\n"
        for number, passage in enumerate(passages)
    }
    index.publish(texts)


def neighbours(edges: Iterable[Edge]) -> Neighbours:
    """Documents and entities that an edge joins; a chunk stands for its document."""
    near: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        start = edge.doc if edge.kind is EdgeKind.MENTIONS else edge.src
        near[start].add(edge.dst)
        near[edge.dst].add(start)
    return near


def within_two(near: Neighbours, start: str) -> set[str]:
    """What is at most two steps away."""
    once = near.get(start, set())
    return once.union(*(near[middle] for middle in once))


def holds(passage: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether a passage's text holds the title of another, without what stands in brackets at its end."""
    title = re.sub(r"\s*\([^()]*\)$", "", other["title"])
    return re.search(rf"(?<!\w){re.escape(title)}(?!\w)", passage["text"]) is not None


def check_support(edges: Iterable[Edge], texts: Mapping[str, str]) -> None:
    """Hold that the words which support an edge stand in its chunk."""
    read = [edge for edge in edges if edge.kind in (EdgeKind.MENTIONS, EdgeKind.RELATED)]
    assert read
    assert [edge.id for edge in read if not edge.text or edge.text not in texts[edge.chunk or ""]] == []
