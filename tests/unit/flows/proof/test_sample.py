"""Which documents are derived again, and why others are not."""

from dataclasses import replace

import pytest

from flows.repair.rederive import (
    NO_BYTES,
    NO_SOURCE,
    OTHER_BYTES,
    OTHER_VERSION,
    WITHHELD,
    sample_documents,
    why_not_derived,
)
from schemas.documents import KnownDocument, LiveDocument

DOCS = [f"page:{number}" for number in range(50)]
LIVE = LiveDocument(doc="page:1", source="s", uri="https://a.example/", fragment_sha="f", content_hash="c")
KNOWN = KnownDocument(
    source="s",
    uri="https://a.example/",
    raw_sha="r",
    parsed_sha="r",
    fragment_sha="f",
    pipeline_version="v1",
)


def test_the_same_seed_chooses_the_same_documents_in_id_order() -> None:
    chosen = sample_documents(DOCS, count=7, generation=3, seed=1)
    assert chosen == sample_documents(reversed(DOCS), count=7, generation=3, seed=1)
    assert list(chosen) == sorted(chosen)
    assert len(chosen) == 7


def test_another_seed_and_another_generation_choose_others() -> None:
    chosen = {sample_documents(DOCS, count=7, generation=g, seed=s) for g, s in ((3, 1), (3, 2), (4, 1))}
    assert len(chosen) == 3


def test_a_sample_larger_than_the_index_is_all_of_it() -> None:
    assert sample_documents(DOCS, count=200, generation=1, seed=0) == tuple(sorted(DOCS))


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (KNOWN, None),
        (None, NO_BYTES),
        (replace(KNOWN, raw_sha=None), NO_BYTES),
        (replace(KNOWN, withheld=True), WITHHELD),
        (replace(KNOWN, fragment_sha="other"), OTHER_BYTES),
        (replace(KNOWN, raw_sha="newer"), OTHER_BYTES),
        (replace(KNOWN, pipeline_version="v0"), OTHER_VERSION),
    ],
)
def test_a_document_is_derived_where_the_bytes_of_what_readers_see_are_kept(
    known: KnownDocument | None, why: str | None
) -> None:
    assert why_not_derived(LIVE, known, versions=("v1", "v1 html-2")) == why


def test_a_document_of_an_unknown_source_is_not_derived() -> None:
    assert why_not_derived(LIVE, KNOWN, versions=None) == NO_SOURCE
