"""All questions of a set through one retriever: the ranked documents of each answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from bench.retrieval.question_sets import Question, QuestionSet, page_key
from indexes.reader_parts import locate_reranker
from indexes.wiring import open_readers
from retrieval.evidence import build_retriever
from retrieval.learning.tuning import all_at, recall_at, reciprocal_rank
from retrieval.question.query import build_query, parse_filters
from retrieval.ranking.score import WEIGHTS
from retrieval.retriever import Retriever
from schemas.evidence import ContextBundle, Evidence, Scores

TOP_K = 12
"""As many passages as a bundle holds, so that ten documents fit among them."""

Figures = Mapping[str, tuple[float, ...]]
"""A value per question, by the name of the measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a set is asked; `right_document` filters to the file that the question is about."""

    name: str
    use_graph: bool = True
    rerank: bool = False
    right_document: bool = False


PARTS = tuple(one.name for one in fields(Scores))


def open_retriever(index: Path, *, without: str | None = None) -> Retriever:
    """Open an index with its graph and the reranker; the part *without* of the blend has no weight.

    Raises: ConfigError: the reranker is not installed.
    """
    locate_reranker()
    readers = open_readers(index, environment={})
    if without:
        readers = replace(readers, weights=replace(readers.weights or WEIGHTS, **{without: 0.0}))
    return build_retriever(readers)


def ask_all(retriever: Retriever, questions: QuestionSet, way: Way) -> Figures:
    """Ask every question one way and measure each answer by its evidence."""
    return measure_rankings([_ask(retriever, question, way) for question in questions.questions], questions)


def measure_rankings(rankings: Sequence[Sequence[str]], questions: QuestionSet) -> Figures:
    """Measure a ranking of documents for each question, in their order; an empty one has found nothing."""
    pairs = [(found, one.gold) for found, one in zip(rankings, questions.questions, strict=True)]
    return {
        **{f"R@{k}": tuple(recall_at(found, gold, k) for found, gold in pairs) for k in (2, 5, 10)},
        **{f"all@{k}": tuple(all_at(found, gold, k) for found, gold in pairs) for k in (5, 8, 10)},
        "MRR": tuple(reciprocal_rank(found, gold) for found, gold in pairs),
    }


def _ask(retriever: Retriever, question: Question, way: Way) -> tuple[str, ...]:
    filters = parse_filters([f"file_id={question.file}"] if way.right_document else [])
    query = build_query(
        question.text, filters=filters, top_k=TOP_K, use_graph=way.use_graph, rerank=way.rerank
    )
    return rank_documents(retriever.retrieve(query))


def rank_documents(bundle: ContextBundle) -> tuple[str, ...]:
    """Return the documents of the evidence in rank order, once each; for a PDF its pages."""
    return tuple(dict.fromkeys(_key(one) for one in bundle.evidence))


def _key(evidence: Evidence) -> str:
    if evidence.pdf:
        return page_key(evidence.pdf.file_id, evidence.pdf.page)
    return (evidence.file_path or evidence.url or "").rpartition("/")[2]
