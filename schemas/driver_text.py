"""What a driver says, without what only its makers can use."""

import re

_PLACE = re.compile(r"[,:]?\s*(?:at\s+)?[^\s,]*\.rs:\d+(?::\d+)?")
"""A line of Rust code, as LanceDB adds it to what it says."""

_KIND = re.compile(
    r"\b(?:lance error|LanceError\(\w+\)|(?:External|Execution|Generic \w+|Encountered internal) error): "
)
_REPORT = re.compile(r"\s*Please file a bug report.*", re.DOTALL)
_UNSAID = "it gave no reason"


def plain_reason(error: BaseException | str) -> str:
    """Return the reason in the driver's text on one line, without the kinds of error it passed through and
    places in its source code."""
    text = _REPORT.sub("", " ".join(str(error).split()))
    return _PLACE.sub("", _KIND.sub("", text)).strip(" ,;:") or _UNSAID
