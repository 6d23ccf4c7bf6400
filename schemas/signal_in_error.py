"""Telling Ctrl-C or SIGTERM from an error that somebody made of it."""

import re

from schemas.error_chain import error_chain

_END_OF_TEXT = re.compile(
    r"(?:^|: )(?:(?P<ctrl_c>KeyboardInterrupt)|SystemExit: (?P<code>\d{1,3})):?\s*(?:, \S+:\d+:\d+)?$",
    re.MULTILINE,
)
"""How errors of Arrow 26 and pylance 13 end: "External error: SystemExit: 143", or the traceback of one."""


def signal_in_error(error: BaseException) -> KeyboardInterrupt | SystemExit | None:
    """Return what a handler of signals raised and others made an error of; None: nothing of the kind.

    A handler raises wherever the program happens to be: in a call of a driver written in Rust, or while
    Python makes a class, which ends in a RuntimeError.
    """
    return next((found for found in map(_signal, error_chain(error)) if found is not None), None)


def _signal(error: BaseException) -> KeyboardInterrupt | SystemExit | None:
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return error
    found = _END_OF_TEXT.search(str(error))
    if found is None:
        return None
    return KeyboardInterrupt() if found["ctrl_c"] else SystemExit(int(found["code"]))
