"""What is said where nothing answers."""

from pathlib import Path
from typing import Any, cast

import pytest

from indexes.wiring import Readers
from retrieval.evidence import absence_in, build_retriever, render_absence, tell_absence
from retrieval.question.query import build_query
from schemas.evidence import Filter
from schemas.health import Absence, Coverage, Measured, NearMiss, SearchedSource
from schemas.records import from_record, to_record
from tests.fakes.small_index import AS_OF, GENERATION, build_index, page

ABSENCE = Absence(
    generation=4,
    as_of="2026-01-01T00:00:00+00:00",
    searched={"guide": SearchedSource(documents=9, chunks=40)},
    filters=(Filter(field="doc_type", values=("novel", "poem")),),
    unknown=("helicopter",),
    spelled={"helicopter": ("helicopters", "heliport")},
    near=(
        NearMiss(chunk_id="chunk:a", citation="a.md#x", heading="A > X", measured=Measured.LOGIT, value=-2.5),
        NearMiss(
            chunk_id="chunk:b",
            citation="b.md#y",
            heading="B > Y",
            measured=Measured.LOGIT,
            value=5.0,
            outside=True,
        ),
    ),
    needed=3.5,
    hidden=Coverage(due={"guide": 2}, set_aside={}, examples=(), left_out={"guide": {"out of scope": 3}}),
)


def test_an_absence_names_what_was_searched_what_filters_hid_and_what_could_hide_the_answer() -> None:
    assert render_absence(ABSENCE).splitlines() == [
        "Searched: guide (9 documents, 40 passages); generation 4, as of 2026-01-01T00:00:00+00:00.",
        "Filters: doc_type=novel|poem.",
        "These words stand nowhere in it: helicopter.",
        "Spelled like helicopter: helicopters, heliport.",
        "Without the filters: B > Y b.md#y",
        "The index may lack documents of guide: 2 overdue, 3 out of scope.",
    ]


def test_without_a_ledger_it_says_so() -> None:
    told = render_absence(Absence(generation=4, as_of="2026-01-01T00:00:00+00:00"))
    assert told.endswith("its ledger cannot be read.")


def test_a_ledger_that_lacks_nothing_says_so() -> None:
    whole = Absence(
        generation=4, as_of="2026-01-01T00:00:00+00:00", hidden=Coverage(due={}, set_aside={}, examples=())
    )
    assert "No document is overdue" in render_absence(whole)


def test_it_survives_a_bundle() -> None:
    assert from_record(Absence, to_record(ABSENCE)) == ABSENCE


@pytest.fixture(scope="module")
def readers() -> Readers:
    index = build_index(
        [
            page("keys", {"Great key": "The porter keeps the configuration of `max_wal_size`. See 端口."}),
            page("doors", {"Doors": "All doors are open by day."}, doc_id="GOV-0017"),
        ],
        [],
    )
    return Readers(
        index=Path("memory"),
        manifest=cast(Any, None),
        generation=GENERATION,
        as_of=AS_OF,
        chunks=index.chunks,
        graph=index.graph,
        authority=cast(Any, None),
        encoder=index.encoder,
        reranker=None,
    )


@pytest.mark.parametrize(
    ("question", "spelled"),
    [
        ("xyzzyqwfp", None),
        ("What is a xyzzyqwfp?", None),
        ("portter", {"portter": ("porter",)}),
        ("Konfigurazion", {"konfigurazion": ("configuration",)}),
    ],
)
def test_a_word_that_stands_nowhere_is_not_found_with_the_nearest_spelling(
    readers: Readers, question: str, spelled: dict[str, tuple[str, ...]] | None
) -> None:
    walk = build_retriever(readers).walk(build_query(question))
    assert walk.bundle.evidence
    bundle = tell_absence(readers, walk).bundle
    absence = absence_in(bundle)
    assert (bundle.evidence, bundle.citations) == ((), ())
    assert absence is not None
    assert absence.spelled == (spelled or {})
    assert len(absence.unknown) == 1


@pytest.mark.parametrize(
    "question",
    [
        "porter",
        "PORTER",
        "config",
        "max_wal_size",
        "GOV-0017",
        "端口",
        "配置",
        "xyzzy porter",
        "xyzzy qwfp",
        "3",
        "the",
    ],
)
def test_a_word_that_stands_within_another_or_of_no_spaced_script_is_searched_for(
    readers: Readers, question: str
) -> None:
    walk = build_retriever(readers).walk(build_query(question))
    assert tell_absence(readers, walk) is walk
