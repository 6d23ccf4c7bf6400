"""Ctrl-C and SIGTERM, as errors that others made of them."""

import pytest

from schemas.errors import signal_in_error


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
    assert repr(signal_in_error(OSError(text))) == stop


@pytest.mark.parametrize("stop", [SystemExit(143), KeyboardInterrupt()], ids=repr)
def test_python_itself_wraps_what_is_raised_while_it_makes_a_class(stop: BaseException) -> None:
    class Interrupted:
        def __set_name__(self, owner: type, name: str) -> None:
            raise stop

    with pytest.raises((RuntimeError, type(stop))) as raised:
        type("Made", (), {"attribute": Interrupted()})
    assert signal_in_error(raised.value) is stop
