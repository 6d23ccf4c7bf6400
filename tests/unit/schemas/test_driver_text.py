"""What is left of a driver's text."""

from schemas.errors import plain_reason


def test_kinds_of_error_and_places_in_source_code_go() -> None:
    text = "lance error: Not found: nodes.lance, /root/lance-13.0.0/src/dataset.rs:12:5"
    assert plain_reason(text) == "Not found: nodes.lance"


def test_a_driver_that_says_nothing_is_quoted_with_nothing() -> None:
    assert plain_reason(RuntimeError()) == "it gave no reason"
