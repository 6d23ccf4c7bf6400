"""Bundles made of nothing but texts, and a cross-encoder that goes by common words."""

from collections.abc import Mapping, Sequence

from retrieval.question.words import content_words
from schemas.evidence import ContextBundle, Derivation, Evidence, Origin, Scores
from schemas.nodes import DocumentKind


def plain_evidence(label: str, text: str, *, heading_path: tuple[str, ...] = ()) -> Evidence:
    """A passage of a Markdown file, found by words."""
    return Evidence(
        S=label,
        chunk_id=f"chunk:{label}",
        doc=f"page:{label}",
        doc_id=None,
        kind=DocumentKind.MARKDOWN,
        url=None,
        fragment=None,
        file_path=f"{label}.md",
        section=None,
        pdf=None,
        heading_path=heading_path,
        breadcrumbs=(),
        text=text,
        offsets=(0, len(text)),
        score=0.5,
        scores=Scores(text=0.5),
        source=Origin.VECTOR,
        derivation=Derivation.STATED,
        role="anchor",
    )


def plain_bundle(texts: Mapping[str, str]) -> ContextBundle:
    """A bundle with one passage a label."""
    return ContextBundle(
        version=1,
        query="what does it say",
        route="plain",
        generation=1,
        as_of="2026-01-31T12:00:00+00:00",
        degraded=(),
        persona=None,
        summaries=(),
        evidence=tuple(plain_evidence(label, text) for label, text in texts.items()),
        citations=(),
    )


class WordOverlap:
    """Keeps the port Reranker: the number of common words, less one."""

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        words = set(content_words(query))
        return tuple(len(words & set(content_words(text))) - 1.0 for text in texts)
