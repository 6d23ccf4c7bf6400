"""How complete a source is, in words."""

from schemas.completeness import AddressPlace, AddressReason, Completeness, UnknownPages, completeness_lines
from schemas.documents import READABLE, DocumentState, Outcome

UNKNOWN = UnknownPages(likely=1082, low=14, high=6120, method="log-linear")


def lines(**fields: object) -> list[str]:
    return [f"{what}: {line}" for what, line in completeness_lines(Completeness(**fields))]  # type: ignore[arg-type]


def test_what_is_left_out_is_told_with_the_commonest_first_and_what_is_no_page_is_not() -> None:
    reasons = {"dead_link": 9, "failed": 1, "noindex": 65, "redirected": 4}

    assert lines(indexed=1234, left_out=66, share=1234 / 1300, reasons=reasons, unknown=UNKNOWN) == [
        "indexed: 1,234 of 1,300 pages that are named (94.9%); left out: 65 noindex, 1 failed",
        "unknown: likely 1,082 more pages, which nothing names; between 14 and 6,120 (log-linear)",
    ]


def test_a_fall_is_told_in_points_and_why_there_is_no_estimate() -> None:
    assert lines(indexed=3, left_out=1, share=0.75, fell=0.125, unknown=UnknownPages(why="one way")) == [
        "indexed: 3 of 4 pages that are named (75.0%, 12.5 points less than after the run before)",
        "unknown: how many more pages there are cannot be told: one way",
    ]


def test_of_a_source_that_lists_all_nothing_is_unknown_and_of_an_empty_one_nothing_is_told() -> None:
    listed = UnknownPages(likely=0, low=0, high=0, method="listed")
    assert lines(indexed=2, share=1.0, unknown=listed) == ["indexed: 2 of 2 pages that are named (100.0%)"]
    assert lines() == []


def test_every_state_that_is_not_read_is_a_reason_and_each_reason_has_a_place() -> None:
    assert {state.value for state in DocumentState if state not in READABLE} | {Outcome.DEAD_LINK} <= {
        *AddressReason
    }
    assert {reason.place for reason in AddressReason} == {*AddressPlace} - {AddressPlace.INDEXED}
