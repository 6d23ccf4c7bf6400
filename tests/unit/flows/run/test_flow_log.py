"""What goes to Prefect's log: errors raised on purpose as one line, and no secrets."""

import logging

import pytest

from flows.run.flow_runs import _ON_PURPOSE, _handler, forwarded_logs
from schemas.errors import GuardRefused


def record(name: str, error: BaseException) -> logging.LogRecord:
    """What Prefect logs of an error."""
    told = (type(error), error, error.__traceback__)
    return logging.LogRecord(name, logging.ERROR, "", 0, "Task run failed with %r", (error,), told)


def test_an_error_raised_on_purpose_is_one_line_of_the_task_and_none_of_the_engine() -> None:
    refusal = GuardRefused("3 of 10 documents would be removed", subject="handbook")
    of_task, of_flow = record("prefect.task_runs", refusal), record("prefect.flow_runs", refusal)

    assert _ON_PURPOSE.filter(of_task)
    assert of_task.getMessage() == "handbook: 3 of 10 documents would be removed"
    assert of_task.exc_info is None
    assert not _ON_PURPOSE.filter(of_flow)


def test_a_failure_that_nobody_meant_keeps_its_traceback() -> None:
    told = record("prefect.flow_runs", RuntimeError("a bug"))

    assert _ON_PURPOSE.filter(told)
    assert told.exc_info is not None


def test_a_record_outside_of_tasks_is_the_flow_runs_and_tells_no_secret() -> None:
    handler = _handler("run-1")
    said = logging.LogRecord(
        "flows", logging.INFO, "", 0, "asked %s", ("https://user:pass@docs.example.org/?token=abc",), None
    )

    assert handler.filter(said)
    assert getattr(said, "flow_run_id", None) == "run-1"
    assert handler.format(said) == "asked https://***@docs.example.org/?token=***"


def test_outside_of_a_flow_run_nothing_is_forwarded(caplog: pytest.LogCaptureFixture) -> None:
    with forwarded_logs():
        assert logging.getLogger("flows").handlers == []
