"""Errors as an answer: problem details in JSON (RFC 9457)."""

import json
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
        self.detail = detail
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


def first_fault(faults: Sequence[Any]) -> str:
    """Return the first fault that pydantic found; never what was sent, which may be long or secret."""
    path = ".".join(str(part) for part in faults[0]["loc"])
    said = faults[0]["msg"].removeprefix("Value error, ")
    return f"{path}: {said}" if path else said


def title_of(status: int) -> str:
    """Return what a status is called."""
    return HTTPStatus(status).phrase


def respond(problem: HttpProblem) -> Response:
    """Return response; the type is `about:blank`, so the title is that of the status (RFC 9457, 4.2.1)."""
    body = {
        "type": "about:blank",
        "title": title_of(problem.status),
        "status": problem.status,
        "detail": one_line(problem.detail),
        "error": problem.error,
    }
    # Escaped to ASCII: what somebody sent may contain half a surrogate pair, which UTF-8 has no bytes for.
    return Response(json.dumps(body), problem.status, headers=problem.headers, media_type=MEDIA_TYPE)
