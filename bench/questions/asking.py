"""All questions of a set, asked one way: what was found for each, measured by entries."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, cast

from bench.questions.documents import CACHE, SETS, build_index, unpack_documents
from bench.questions.gold import (
    Passage,
    TextUnderBox,
    found_entries,
    holds,
    opens_right,
    passage_of,
    reader_of_boxes,
    stands_at,
)
from bench.questions.question_files import ASKED_SETS, AskedQuestion, load_questions
from bench.questions.remembered import RememberingReranker
from indexes.ports import ChunkReader, TokenVectors
from indexes.wiring import OpenedStores, Readers, readers_of
from retrieval.evidence import build_retriever
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.evidence import ContextBundle, SearchField
from schemas.ids import normalise_text
from schemas.nodes import Chunk, Section
from schemas.settings import Settings

TOP_K = 10
CACHE_MB = 1024
EQUAL_BY, EQUAL_AMONG = 300, 10
"""Characters that a chunk's equals are searched by, and hits that are compared."""

Figures = Mapping[str, float]
"""A value per measure; a measure that says nothing of a question is absent."""
Search = Callable[[str], Sequence[str]]
"""A question to chunk ids, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSet:
    """A set's questions, its opened index, and what reads words under a box of its PDF."""

    name: str
    questions: tuple[AskedQuestion, ...]
    readers: Readers
    under: TextUnderBox | None
    seen: dict[str, Passage] = field(default_factory=dict)

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Return chunks, in the order of *ids*, as gold sees them.

        Of several that are equal word for word evidence shows one, which stands for all of them.
        """
        new = self.readers.chunks.get(sorted({*ids} - self.seen.keys()))
        for row in new:
            self.seen[row.id] = reduce(Passage.also_at, self._as_gold_sees((row, *self._equal(row))))
        return [self.seen[chunk] for chunk in ids if chunk in self.seen]

    def _equal(self, row: Chunk) -> list[Chunk]:
        text = normalise_text(row.text)
        hits = self.readers.chunks.search_text(SearchField.TEXT, text[:EQUAL_BY], top_k=EQUAL_AMONG)
        rows = self.readers.chunks.get(sorted({hit.chunk_id for hit in hits} - {row.id}))
        return [one for one in rows if normalise_text(one.text) == text]

    def _as_gold_sees(self, rows: Collection[Chunk]) -> list[Passage]:
        sections = self._fragments({row.section_id for row in rows if row.section_id})
        return [_passage(row, sections) for row in rows]

    def _fragments(self, sections: Collection[str]) -> Mapping[str, str | None]:
        nodes = self.readers.graph.nodes(sorted(sections)) if self.readers.graph else ()
        return {node.id: node.fragment for node in nodes if isinstance(node, Section)}


def open_set(name: str, *, held_out: bool | None, kinds: Collection[str] = ()) -> OpenedSet:
    """Open a set with its development questions, with those held out, or with None with all that it has."""
    readers = readers_of(OpenedStores(build_index(name), Settings(), cache_mb=CACHE_MB), use_rerank=True)
    if readers.reranker is not None:
        remembering = RememberingReranker(readers.reranker, CACHE / "logits.sqlite")
        readers = replace(readers, reranker=remembering)
    file, root = SETS[name].file, unpack_documents(name)
    asked = load_questions(name) if name in ASKED_SETS else ()
    return OpenedSet(
        name=name,
        questions=tuple(
            one for one in asked if held_out in (None, one.held_out) and (not kinds or one.kind in kinds)
        ),
        readers=readers,
        under=reader_of_boxes(root / file) if file else None,
    )


def _passage(chunk: Chunk, sections: Mapping[str, str | None]) -> Passage:
    return passage_of(
        url=chunk.url,
        file_path=chunk.file_path,
        fragment=chunk.fragment,
        fragments=chunk.fragments,
        text=chunk.text,
        section=sections.get(chunk.section_id or ""),
        page_no=chunk.page_no,
        box=chunk.bbox,
    )


def recipe(retriever: Retriever, *, use_graph: bool = True, rerank: bool = False) -> Search:
    """Return the search that `query` does, as its user gets it: ten passages within the token budget."""

    def search(text: str) -> Sequence[str]:
        query = build_query(text, top_k=TOP_K, use_graph=use_graph, rerank=rerank)
        return chunks_of(retriever.retrieve(query))

    return search


def chunks_of(bundle: ContextBundle) -> Sequence[str]:
    """Return the chunks of a bundle in rank order."""
    return [one.chunk_id for one in bundle.evidence]


def recipes(opened: OpenedSet) -> Mapping[str, Search]:
    """Return the ways of `query` by name."""
    retriever = build_retriever(opened.readers)
    return {
        "no graph": recipe(retriever, use_graph=False),
        "graph": recipe(retriever),
        "no graph, rerank": recipe(retriever, use_graph=False, rerank=True),
        "graph, rerank": recipe(retriever, rerank=True),
    }


def without_reranker(opened: OpenedSet) -> OpenedSet:
    """Return the set as it is where no cross-encoder is installed."""
    return replace(opened, readers=replace(opened.readers, reranker=None))


def without_part(opened: OpenedSet, part: str) -> Search:
    """Return the recipe whose blend gives *part* no weight."""
    from retrieval.ranking.score import WEIGHTS

    weights = replace(opened.readers.weights or WEIGHTS, **{part: 0.0})
    return recipe(build_retriever(replace(opened.readers, weights=weights)))


class _WithoutTokens:
    """Reads chunks as they are in an index without late interaction."""

    def __init__(self, chunks: ChunkReader) -> None:
        self._chunks = chunks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chunks, name)

    def token_vectors(self, ids: Collection[str]) -> Mapping[str, TokenVectors]:  # noqa: ARG002
        """Return nothing: none are kept."""
        return {}


def without_late_interaction(opened: OpenedSet) -> Mapping[str, Search]:
    """Return the recipe and the reranked one as without the token vectors of the index, by name."""
    first = next(iter(opened.readers.chunks.scan()))
    if not opened.readers.chunks.token_vectors([first.id]):
        raise SystemExit("--late: this index has none; build it with SITEGRAPH_LATE_INTERACTION=1")
    chunks = cast(ChunkReader, _WithoutTokens(opened.readers.chunks))
    retriever = build_retriever(replace(opened.readers, chunks=chunks))
    return {
        "graph, without late interaction": recipe(retriever),
        "graph, rerank, without late interaction": recipe(retriever, rerank=True),
    }


def ask_all(opened: OpenedSet, search: Search) -> dict[str, Figures]:
    """Ask every question that the documents answer; return its figures by its id."""
    return {
        one.id: measure(one, opened.passages(search(one.text)), under=opened.under)
        for one in opened.questions
        if one.entries
    }


def measure(
    question: AskedQuestion, passages: Sequence[Passage], *, under: TextUnderBox | None = None
) -> Figures:
    """Hold what was found against gold.

    `hit@k`: an entry is among the first k; `R@k`: share of the entries; `all@10`: every one. `opens` and
    `says`, of questions with a hit among ten: share of its found entries whose citation opens at the entry,
    and whether a passage that stands at one holds a fact.
    """
    ranks = found_entries(passages[:TOP_K], question)
    best = min((rank for rank in ranks if rank), default=None)
    figures = {f"hit@{k}": float(best is not None and best <= k) for k in (1, 3, 10)}
    figures |= {f"R@{k}": sum(r is not None and r <= k for r in ranks) / len(ranks) for k in (3, 10)}
    figures |= {"all@10": float(None not in ranks), "MRR": 1 / best if best else 0.0}
    if best:
        opened = [opens_right(passages, question, entry, under=under) for entry in question.entries]
        judged = [one for one in opened if one is not None]
        there = [one for one in passages if any(stands_at(one, entry) for entry in question.entries)]
        figures["opens"] = sum(judged) / len(judged)
        figures["says"] = float(any(holds(one.text, fact) for one in there for fact in question.facts))
    return figures
