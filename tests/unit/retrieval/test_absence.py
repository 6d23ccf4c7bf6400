"""What is said where nothing answers."""

from retrieval.absence import render_absence
from schemas.absence import Absence, Measured, NearMiss, SearchedSource
from schemas.coverage import Coverage
from schemas.evidence import Filter
from schemas.records import from_record, to_record

ABSENCE = Absence(
    generation=4,
    as_of="2026-01-01T00:00:00+00:00",
    searched={"guide": SearchedSource(documents=9, chunks=40)},
    filters=(Filter(field="doc_type", values=("novel", "poem")),),
    unknown=("helicopter",),
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
