"""An answer that somebody else worded, held against its evidence by the rules of docs/verifying.md."""

from collections.abc import Sequence
from typing import Any

from indexes.rerank import locate_reranker
from indexes.wiring import Readers
from retrieval.bundle.build import build_bundle, unscored_evidence
from retrieval.bundle.parse_answer import parse_answer
from retrieval.bundle.render import cite_line
from retrieval.verify.verifier import verify_answer
from schemas.errors import ConfigError
from schemas.evidence import ContextBundle, Origin, Query
from sitegraph.service.answers import find_chunk
from sitegraph.service.problems import HttpProblem

PAIRS_MAX = 240
"""Sentences times passages: the cross-encoder reads each pair; on a busy machine 300 took 9 seconds."""

_GIVEN = "given"


def bundle_chunks(readers: Readers, ids: Sequence[str]) -> ContextBundle:
    """Return chunks as evidence S1, S2, ... in the order given, whole; one named twice has two labels.

    Raises: HttpProblem: there is no such chunk.
    """
    chunks = [find_chunk(readers, one) for one in ids]
    return build_bundle(
        Query(text=_GIVEN),
        tuple(
            unscored_evidence(chunk, f"S{number}", source=Origin.VECTOR, role=_GIVEN)
            for number, chunk in enumerate(chunks, start=1)
        ),
        (),
        route="plain",
        generation=readers.generation,
        as_of=readers.as_of,
        degraded=readers.degraded,
        diagnostics={},
    )


def check_answer(readers: Readers, bundle: ContextBundle, answer: str) -> dict[str, Any]:
    """Return which sentences of *answer* the evidence bears out, each with its citation, and why not others.

    Raises: HttpProblem: the cross-encoder, without which nothing can be checked, is not installed; too much.
    """
    if readers.reranker is None:
        raise HttpProblem(501, f"nothing can be checked here: {_why_no_reranker()}", "NotInstalled")
    parsed = parse_answer(answer, bundle)
    sentences, passages = len(parsed.sentences), len(bundle.evidence)
    if sentences * passages > PAIRS_MAX:
        raise HttpProblem(
            422,
            f"{sentences} sentences with {passages} passages are too many at once: at most {PAIRS_MAX} pairs "
            "are read; verify a part of the answer, or name fewer chunk_ids",
            "InvalidRequest",
        )
    verified = verify_answer(parsed, bundle, reranker=readers.reranker)
    evidence = {one.S: one for one in bundle.evidence}
    return {
        "generation": bundle.generation,
        "not_found": verified.not_found,
        "text": verified.text,
        "kept": [
            {
                "text": one.text,
                "S": one.S,
                "chunk_id": evidence[one.S].chunk_id,
                "citation": cite_line(evidence[one.S], evidence[one.S].pdf),
            }
            for one in verified.kept
        ],
        "dropped": [{"text": one.text, "S": one.S, "reason": one.reason} for one in verified.dropped],
        "unanswered": list(verified.unanswered),
    }


def _why_no_reranker() -> str:
    try:
        locate_reranker()
    except ConfigError as error:
        return str(error)
    return "the cross-encoder cannot be opened"
