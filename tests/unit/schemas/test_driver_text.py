"""What is left of a driver's text, and the signal that it may hide."""

import pytest

from schemas.driver_text import plain_reason, raised_by_signal


def test_kinds_of_error_and_places_in_source_code_go() -> None:
    text = "lance error: Not found: nodes.lance, /root/lance-13.0.0/src/dataset.rs:12:5"
    assert plain_reason(text) == "Not found: nodes.lance"


def test_a_driver_that_says_nothing_is_quoted_with_nothing() -> None:
    assert plain_reason(RuntimeError()) == "it gave no reason"


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("External error: SystemExit: 143", "SystemExit(143)"),
        ("External error: KeyboardInterrupt: ", "KeyboardInterrupt()"),
        (
            "Python exception: Traceback:\n  raise exc\nSystemExit: 143\n, /src/task/poll.rs:1:4",
            "SystemExit(143)",
        ),
        (
            "Python exception: Traceback:\n  raise exc\nKeyboardInterrupt\n, /src/poll.rs:1:4",
            "KeyboardInterrupt()",
        ),
        ("KeyboardInterrupt is a class of Python", "None"),
        ("no column: KeyboardInterrupt of nodes", "None"),
        ("Not found: nodes.lance", "None"),
        ("", "None"),
    ],
)
def test_what_a_handler_of_signals_raised_is_found_in_the_text(text: str, stop: str) -> None:
    assert repr(raised_by_signal(OSError(text))) == stop
