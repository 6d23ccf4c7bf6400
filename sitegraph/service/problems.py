"""Errors as an answer: problem details in JSON (RFC 9457)."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from schemas.errors import (
    ChangesUnavailable,
    ConfigError,
    FilterError,
    QueryRefused,
    SitegraphError,
    TransientError,
)
from schemas.redaction import one_line

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2


class HttpProblem(Exception):
    """An answer that says what is wrong; *error* is the class of ours, or one word."""

    def __init__(
        self, status: int, detail: str, error: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail.removeprefix("--")  # a parameter, not the command line's option of that name
        self.error = error
        self.headers = dict(headers or {})


_STATUS: tuple[tuple[type[SitegraphError], int], ...] = (
    (FilterError, 422),
    (QueryRefused, 403),
    (ChangesUnavailable, 410),
    (ConfigError, 503),  # no index there, yet or for now; what is wrong with a question is told apart before
    (TransientError, 503),
)
_LATER = "the index cannot be read now; the server's log says why"
_FAILED = "the server failed; its log says why"


def problem_of(error: SitegraphError) -> HttpProblem:
    """Return the answer to an error by its class: 4xx for what the asker can put right, 503 to come again.

    Only the first say what the error says: the others name files and servers that are nobody's business.
    """
    status = next((status for cls, status in _STATUS if isinstance(error, cls)), 500)
    if status < 500:
        return HttpProblem(status, str(error), type(error).__name__)
    if status == 503:
        return HttpProblem(503, _LATER, type(error).__name__, {"Retry-After": str(RETRY_SECONDS)})
    return HttpProblem(500, _FAILED, type(error).__name__)


def unprocessable(error: SitegraphError) -> HttpProblem:
    """Return the answer to a question that is wrong."""
    return HttpProblem(422, str(error), type(error).__name__)


_FORMS = (
    ("[0-9]{4}-[0-9]{2}", "must be the number of a generation, a month, a day or a time, such as 2026-03-31"),
    ("\\S", "must be more than white space"),
    ("^[^\\n", "must be one line"),
)
"""A part of each pattern that is not of ids, and what the pattern means in words."""

_TAG = re.compile(r"constrained-\w+|(?:function-before|list|union)\[.*\]")
"""What pydantic adds to a place: which form of a value did not fit."""


def first_fault(faults: Sequence[Any]) -> str:
    """Return the first fault that pydantic found; never what was sent, which may be long or secret."""
    place = [str(part) for part in faults[0]["loc"]]
    names = [part for part in place[place[:1] == ["path"] :] if not _TAG.fullmatch(part)]
    said = _said(faults[0])
    return f"{'.'.join(names)}: {said}" if names else said


def _said(fault: Mapping[str, Any]) -> str:
    if tuple(fault["loc"]) == ("body",):
        return "must be a JSON object, sent with the header Content-Type: application/json"
    if fault["type"] == "string_pattern_mismatch":
        return _form(fault["ctx"]["pattern"])
    return str(fault["msg"]).removeprefix("Value error, ")


def _form(pattern: str) -> str:
    if "[a-z2-7]{26}" in pattern:
        kinds = re.findall(r"[a-z]+", pattern.partition(":")[0])
        return f"must be the id of a {' or '.join(kinds)}, as results have it"
    return next((words for part, words in _FORMS if part in pattern), "has a form that is not allowed")


def status_title(status: int) -> str:
    """Return what a status is called."""
    return HTTPStatus(status).phrase


def respond(problem: HttpProblem) -> Response:
    """Return response; the type is `about:blank`, so the title is that of the status (RFC 9457, 4.2.1)."""
    body = {
        "type": "about:blank",
        "title": status_title(problem.status),
        "status": problem.status,
        "detail": one_line(problem.detail),
        "error": problem.error,
    }
    # Escaped to ASCII: what somebody sent may contain half a surrogate pair, which UTF-8 has no bytes for.
    return Response(json.dumps(body), problem.status, headers=problem.headers, media_type=MEDIA_TYPE)
