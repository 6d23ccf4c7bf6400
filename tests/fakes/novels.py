"""A small index of linked pages for questions that take several looks, and a model that keeps to a script."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrieval.graph.expansion import ALL_RULES, GraphRule
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.errors import SitegraphError
from schemas.evidence import Derivation, Evidence, Origin, Query, Scores
from schemas.names import Message
from schemas.nodes import DocumentKind
from tests.fakes.small_index import AS_OF, GENERATION, SmallIndex, build_index, link, page

QUESTION = "Where was the author of Silver Harbour born?"

PAGES: Mapping[str, str] = {
    "Silver Harbour": "Silver Harbour is a novel by Ada Quill. It sold well in 1931.",
    "Ada Quill": "Ada Quill (born 1893) was a writer. Ada Quill was born in Port Almond.",
    "Port Almond": "Port Almond is a town on the Grey Coast, home of an author.",
    "Tin Lantern": "Tin Lantern is a novel by Bo Reed.",
    "Bo Reed": "Bo Reed (born 1901) was a writer of verse.",
    "Grey Coast": "Grey Coast is a region. Fishing feeds its villages.",
    **{
        f"{name} Street": f"{name} Street is quiet. An author of letters was once born there."
        for name in ("Amber", "Birch", "Copper", "Dusty", "Elder", "Flint")
    },
}


def novels_index() -> SmallIndex:
    """Make one page a thing; the novels link to their authors, nothing else is linked."""
    pages = {name: page(name.lower().replace(" ", "-"), {name: text}) for name, text in PAGES.items()}
    first = {name: chunks[0] for name, (_, chunks) in pages.items()}
    joined = (("Silver Harbour", "Ada Quill"), ("Tin Lantern", "Bo Reed"))
    return build_index(pages.values(), [link(first[src], first[dst], dst) for src, dst in joined])


def retriever_of(
    index: SmallIndex, kind: type[Retriever] = Retriever, *, rules: Collection[GraphRule] = ALL_RULES
) -> Retriever:
    """Open an index for queries."""
    return kind(
        index.chunks,
        index.graph,
        index.encoder,
        generation=GENERATION,
        as_of=AS_OF,
        rules=rules,
    )


def ask(text: str = QUESTION, *, top_k: int = 5) -> Query:
    """Make a query of few passages: one look is not enough."""
    return build_query(text, top_k=top_k)


@dataclass
class ScriptedModel:
    """Keeps Complete: gives the scripted answers one after the other, the last one again and again.

    An answer that is an error is raised. `asked` are the messages and schemas it was given.
    """

    answers: Sequence[str | SitegraphError]
    asked: list[tuple[Sequence[Message], Mapping[str, Any] | None]] = field(default_factory=list)

    def __call__(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> str:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append((messages, schema))
        if isinstance(answer, SitegraphError):
            raise answer
        return answer

    @property
    def prompts(self) -> list[str]:
        """What was asked, each as one text."""
        return ["\n".join(message["content"] for message in messages) for messages, _ in self.asked]


NOTHING = '{"entities": [], "relations": []}'
"""A reading that finds nothing."""
SUFFICIENT = "Known. <judgement>sufficient</judgement>"


def insufficient(sub_query: str) -> str:
    """A judgement that asks on."""
    return f"Missing. <judgement>insufficient</judgement> <subquery>{sub_query}</subquery>"


class Likes:
    """Keeps Reranker with one logit for every pair."""

    def __init__(self, logit: float) -> None:
        self._logit = logit

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return tuple(self._logit for _ in texts)


def evidence(
    title: str, text: str, *, score: float = 0.5, logit: float | None = None, **fields: Any
) -> Evidence:
    """Make a passage of a page of its own, named by its title."""
    made: dict[str, Any] = {
        "S": "S1",
        "chunk_id": f"chunk:{title}",
        "doc": f"page:{title}",
        "doc_id": None,
        "kind": DocumentKind.MARKDOWN,
        "url": None,
        "fragment": None,
        "file_path": f"{title}.md",
        "section": title,
        "pdf": None,
        "heading_path": (title,),
        "breadcrumbs": (),
        "text": text,
        "offsets": (0, len(text)),
        "score": score,
        "scores": Scores(text=score),
        "source": Origin.VECTOR,
        "derivation": Derivation.STATED,
        "role": "rest",
        "logit": logit,
    }
    return Evidence(**{**made, **fields})
