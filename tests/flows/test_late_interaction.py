"""Late interaction by a setting: token vectors come with the others, stay with their texts, and are read."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexes.embed.pending import text_input
from indexes.ports import TokenEncoder, TokenVectors
from indexes.wiring import Readers, open_readers
from retrieval.evidence import build_retriever
from retrieval.question.query import build_query
from tests.fakes.handbook import Handbook
from tests.fakes.sitegraph_runs import Sitegraph, assert_equals_clean_rebuild, report_of

pytestmark = [pytest.mark.system, pytest.mark.server]


@pytest.fixture
def late(sitegraph: Sitegraph) -> Sitegraph:
    """The program with late interaction on."""
    return replace(sitegraph, environment={**sitegraph.environment, "SITEGRAPH_LATE_INTERACTION": "on"})


def _read(index: Path) -> Readers:
    return open_readers(index, environment={})


def _tokens(readers: Readers) -> Mapping[str, TokenVectors]:
    return readers.chunks.token_vectors([chunk.id for chunk in readers.chunks.scan()])


def _ask(readers: Readers, text: str) -> list[tuple[str, float]]:
    """Chunks with their text scores; the handbook's graph tells its pages apart, so that it is left out."""
    evidence = build_retriever(readers).retrieve(build_query(text, use_graph=False)).evidence
    return [(one.chunk_id, one.scores.text) for one in evidence]


def test_chunks_get_token_vectors_only_once_and_questions_are_compared_by_them(
    late: Sitegraph, handbook: Handbook, source: Path, tmp_path: Path
) -> None:
    index = tmp_path / "late"
    late.run(source, index)
    first = _read(index)
    held, chunks = _tokens(first), list(first.chunks.scan())

    assert sorted(held) == [chunk.id for chunk in chunks]
    assert isinstance(first.encoder, TokenEncoder)
    again = first.encoder.encode_with_tokens([text_input(chunk) for chunk in chunks]).tokens
    for chunk, tokens in zip(chunks, again, strict=True):
        # A run packs the weights and a reader does not: sums may end in another last place of float16.
        np.testing.assert_allclose(held[chunk.id], tokens, rtol=0, atol=2**-11, err_msg=chunk.id)

    handbook.edit("/leases.html", "Renewing a lease", "A lease is renewed by its holder each minute.")
    report = late.run(source, index)

    assert 0 < report["chunks"]["embedded"] < 5
    second = _read(index)
    kept = _tokens(second)
    assert all(np.array_equal(held[chunk], kept[chunk]) for chunk in held.keys() & kept.keys())
    assert len(kept) == len(list(second.chunks.scan()))
    question = "Who renews a lease, and how often?"
    without = replace(second, encoder=_Plain(second.encoder))  # type: ignore[arg-type]
    assert _ask(second, question) == _ask(second, question)
    assert _ask(second, question) != _ask(without, question)
    assert_equals_clean_rebuild(late, source, index)


@pytest.mark.long
def test_it_is_switched_on_for_an_index_as_a_model_is_changed(
    sitegraph: Sitegraph, late: Sitegraph, source: Path, index: Path
) -> None:
    before = sitegraph.export(index)
    assert _tokens(_read(index)) == {}
    run = ("run", str(source), "--index", str(index), "--format", "json")

    refused = late.call(*run)
    planned = json.loads(late.call("plan", *run[1:]).stdout)["model"]

    assert refused.returncode == 4
    assert "late interaction on) would encode all of its" in refused.stderr
    assert planned["texts"] > planned["passages"] == len(before["chunks"])
    assert report_of(late.call(*run, "--accept"))["generation"] == 2
    readers = _read(index)
    assert len(_tokens(readers)) == len(before["chunks"])
    assert _ask(readers, "Who keeps the ledger?")
    assert sitegraph.export(index) == before
    assert sitegraph.damage(index) == ()
    assert sitegraph.run(source, index)["generation"] is None, "without a setting it stays what it is"


class _Plain:
    """An encoder without token vectors: the same one, as readers had it before."""

    def __init__(self, encoder: object) -> None:
        self.encode_query = encoder.encode_query  # type: ignore[attr-defined]
        self.encode_documents = encoder.encode_documents  # type: ignore[attr-defined]
        self.count_tokens = encoder.count_tokens  # type: ignore[attr-defined]
        self.dim, self.model_sha256 = encoder.dim, encoder.model_sha256  # type: ignore[attr-defined]
