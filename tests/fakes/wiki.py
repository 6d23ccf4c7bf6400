"""What tests of the wiki share: readers of a small index, a reranker by rule, a graph that nobody may ask."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from indexes.ports import ChunkReader, GraphReader
from retrieval.retriever import Retriever
from retrieval.wiki.ask import WikiAnswer, answer_from_wiki
from retrieval.wiki.filing import Filing, GroundedSentence, file_answer
from retrieval.wiki.page import WikiPage
from retrieval.wiki.store import Wiki
from schemas.edges import Edge, EdgeKind
from schemas.evidence import Query
from schemas.ids import edge_id
from schemas.nodes import Chunk, Entity
from tests.fakes.encoder import HashEncoder
from tests.fakes.graph_samples import make_entity
from tests.fakes.small_index import AS_OF, GENERATION, SOURCE, Document, SmallIndex, build_index, page

NOW = "2026-03-01T09:00:00+00:00"
LATER = "2026-03-02T09:00:00+00:00"
QUESTION = "Who maintains the lease daemon?"


class Untouchable:
    """A graph that fails the test when anything of it is asked."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"the graph was asked for {name}")


class FixedReranker:
    """Gives every pair the same logit, and keeps what it was asked."""

    def __init__(self, logit: float) -> None:
        self.logit = logit
        self.asked: list[str] = []

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """One logit a text."""
        self.asked += texts
        return tuple(self.logit for _ in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Readers of one generation."""

    chunks: ChunkReader
    graph: GraphReader | None
    encoder: HashEncoder
    generation: int = GENERATION
    as_of: str = AS_OF


@dataclass(frozen=True, slots=True)
class Desk:
    """A wiki, and the index that it stands before."""

    wiki: Wiki
    index: SmallIndex
    untouchable: Untouchable = field(default_factory=Untouchable)

    def sources(self, graph: Any = ...) -> Opened:
        """The readers, with another graph where one is given."""
        return Opened(
            chunks=self.index.chunks,
            graph=self.index.graph if graph is ... else graph,
            encoder=self.index.encoder,
        )

    def ask(self, query: str = QUESTION, *, graph: Any = ..., **options: Any) -> WikiAnswer:
        """Ask wiki and graph, without a reranker unless one is given."""
        options = {"reranker": None, "now": NOW, **options}
        asked = Query(text=query, token_budget=options.pop("token_budget", 2500))
        sources = self.sources(graph)
        retrieve = partial(self._retriever(sources).retrieve, asked)
        return answer_from_wiki(self.wiki, sources, query, retrieve=retrieve, **options)

    def _retriever(self, sources: Opened) -> Retriever:
        return Retriever(
            sources.chunks,
            sources.graph,
            sources.encoder,
            generation=sources.generation,
            as_of=sources.as_of,
        )

    def file(self, query: str, *statements: tuple[str, Chunk], **options: Any) -> Filing:
        """File an answer, verified unless said otherwise."""
        listed = [GroundedSentence(text=text, chunks=(chunk.id,)) for text, chunk in statements]
        options = {"verified": True, "generation": GENERATION, "now": NOW, **options}
        return file_answer(self.wiki, self.index.chunks, query, listed, **options)

    def chunk(self, words: str) -> Chunk:
        """The one chunk that says *words*."""
        (found,) = [chunk for chunk in self.index.rows if words in chunk.text]
        return found

    def over(self, index: SmallIndex) -> "Desk":
        """The same wiki before another generation of the index."""
        return Desk(self.wiki, index)


def desk_at(folder: Path, index: SmallIndex) -> Desk:
    """A desk with an empty wiki."""
    return Desk(Wiki(folder / "wiki"), index)


def related(src: Entity, predicate: str, dst: Entity, chunk: Chunk, confidence: float = 0.8) -> Edge:
    """A relation that a passage states."""
    return Edge(
        id=edge_id(EdgeKind.RELATED, src.id, dst.id, predicate, chunk.doc),
        kind=EdgeKind.RELATED,
        src=src.id,
        dst=dst.id,
        doc=chunk.doc,
        source=SOURCE,
        confidence=confidence,
        chunk=chunk.id,
        text=chunk.text,
        predicate=predicate,
    )


def mention(chunk: Chunk, entity: Entity, confidence: float = 0.9) -> Edge:
    """A passage speaks of an entity."""
    return Edge(
        id=edge_id(EdgeKind.MENTIONS, chunk.id, entity.id),
        kind=EdgeKind.MENTIONS,
        src=chunk.id,
        dst=entity.id,
        doc=chunk.doc,
        source=SOURCE,
        confidence=confidence,
        chunk=chunk.id,
        text=entity.name,
    )


DAEMON, PLATFORM, STORAGE, OXFORD = (
    make_entity(name, source=SOURCE)
    for name in ("Lease Daemon", "Platform Group", "Storage Group", "Oxford Site")
)


def people_index(*, maintainer: Entity = PLATFORM, disputed: bool = False) -> SmallIndex:
    """Three pages: a daemon and who maintains it, where that group sits, and coal.

    Args: maintainer: another group for the first. disputed: the third says that the Storage Group does.
    """
    daemon = page(
        "daemon", {"Lease Daemon": f"The Lease Daemon is maintained by the {maintainer.name} since spring."}
    )
    group = page("groups", {"Groups": "The Platform Group is based in the Oxford Site, second floor."})
    minutes = (
        "The Lease Daemon is maintained by the Storage Group." if disputed else "Coal is kept in the cellar."
    )
    other = page("minutes", {"Minutes": minutes})
    told, where, said = daemon[1][0], group[1][0], other[1][0]
    edges = [
        mention(told, DAEMON),
        mention(told, maintainer),
        related(DAEMON, "is maintained by", maintainer, told),
        mention(where, PLATFORM),
        mention(where, OXFORD),
        related(PLATFORM, "is based in", OXFORD, where, 0.7),
    ]
    if disputed:
        edges += [mention(said, STORAGE), related(DAEMON, "is maintained by", STORAGE, said)]
    entities: Document = ((DAEMON, PLATFORM, STORAGE, OXFORD), ())
    return build_index((daemon, group, other, entities), edges)


def hand_page(title: str, body: str, **fields: Any) -> WikiPage:
    """A page as a person writes it."""
    return WikiPage(**{"category": "topic", "slug": "by-hand", "title": title, "body": body, **fields})
