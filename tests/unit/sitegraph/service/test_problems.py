"""Each error has its answer, and only what the asker can put right is told in full."""

import json

import pytest

from schemas import errors
from sitegraph.service.problems import HttpProblem, problem_of, respond

STATUS = {
    errors.FilterError: 422,
    errors.QueryRefused: 403,
    errors.ChangesUnavailable: 410,
    errors.ConfigError: 503,
    errors.StoreUnavailable: 503,
    errors.ParserUnavailable: 503,
    errors.FetchTimeout: 503,
    errors.HostBusy: 503,
}


@pytest.mark.parametrize(
    "leaf",
    [*errors.TransientError.__subclasses__(), *errors.TerminalError.__subclasses__(), errors.Stopped],
    ids=lambda leaf: leaf.__name__,
)
def test_every_error_has_its_status(leaf: type[errors.SitegraphError]) -> None:
    problem = problem_of(leaf("cannot be read at /srv/index", subject="chunks"))
    assert problem.status == STATUS.get(leaf, 500)
    assert problem.error == leaf.__name__
    assert ("/srv" in problem.detail) is (problem.status < 500)
    assert ("Retry-After" in problem.headers) is (problem.status == 503)


def test_a_problem_is_json_whatever_it_says() -> None:
    response = respond(HttpProblem(422, "half a pair \ud800\nof lines", "X"))
    assert json.loads(bytes(response.body)) == {
        "type": "about:blank",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "half a pair \ud800 of lines",
        "error": "X",
    }
