"""What a driver says, without what only its makers can use."""

import re

_PLACE = re.compile(r"[,:]?\s*(?:at\s+)?[^\s,]*\.rs:\d+(?::\d+)?")
"""A line of Rust code, as LanceDB adds it to what it says."""

_KIND = re.compile(
    r"\b(?:lance error|LanceError\(\w+\)|(?:External|Execution|Generic \w+|Encountered internal) error): "
)
_SIGNAL = re.compile(
    r"(?:^|: )(?:(?P<ctrl_c>KeyboardInterrupt)|SystemExit: (?P<code>\d{1,3})):?\s*$", re.MULTILINE
)
"""What a handler of signals raised, where Arrow 26 and pylance 13 end an error of their own with it:
"External error: SystemExit: 143", or the end of a traceback."""
_REPORT = re.compile(r"\s*Please file a bug report.*", re.DOTALL)
_UNSAID = "it gave no reason"


def plain_reason(error: BaseException | str) -> str:
    """Return the reason in the driver's text on one line, without the kinds of error it passed through and
    places in its source code."""
    text = _REPORT.sub("", " ".join(str(error).split()))
    return _PLACE.sub("", _KIND.sub("", text)).strip(" ,;:") or _UNSAID


def raised_by_signal(error: BaseException) -> KeyboardInterrupt | SystemExit | None:
    """Return what a handler of signals raised and a driver made an error of its own; None: it is its own."""
    found = _SIGNAL.search(_PLACE.sub("", str(error)))
    if found is None:
        return None
    return KeyboardInterrupt() if found["ctrl_c"] else SystemExit(int(found["code"]))
