"""Events of OpenLineage, as a receiver gets them."""

import os
import time
from collections.abc import Iterator
from unittest import mock

import pytest

from runtime.telemetry.delivery import (
    LineageEnd,
    LineageSender,
    finish_within,
    lineage_run,
    lineage_wanted,
    open_lineage,
)
from tests.fakes.receiver import Receiver, receiving

AT, LATER = "2026-01-05T12:00:00+00:00", "2026-01-05T12:01:00+00:00"


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """The environment as it was: the client writes what it reads there into variables of its own."""
    with mock.patch.dict(os.environ):
        yield


def tell(receiver: Receiver, end: LineageEnd, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tell of one run; what was said about failures of that."""
    said: list[str] = []
    environ = {"OPENLINEAGE_URL": receiver.url, "OPENLINEAGE_NAMESPACE": "docs"}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    lineage = open_lineage(environ, say=said.append)
    run = lineage_run(environ, source="handbook", uri="https://docs.test/handbook/", index="/srv/index")
    lineage.start(run, at=AT)
    lineage.end(run, end, at=LATER)
    lineage.close()
    return said


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, False),
        ({"OPENLINEAGE_NAMESPACE": "docs"}, False),
        ({"OPENLINEAGE_URL": "http://127.0.0.1:5000"}, True),
        ({"OPENLINEAGE_CONFIG": "openlineage.yml"}, True),
        ({"OPENLINEAGE__TRANSPORT__TYPE": "file"}, True),
        ({"OPENLINEAGE_URL": "http://127.0.0.1:5000", "OPENLINEAGE_DISABLED": "true"}, False),
    ],
)
def test_nothing_is_told_unless_the_client_s_own_variables_ask(environ: dict[str, str], wanted: bool) -> None:
    assert lineage_wanted(environ) is wanted
    if not wanted:
        assert type(open_lineage(environ, say=pytest.fail)) is LineageSender


def test_a_run_that_ends_well_is_start_and_complete_with_the_generation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiving() as receiver:
        said = tell(receiver, LineageEnd(generation=7, rows=40), monkeypatch)

    assert said == []
    start, complete = receiver.events()
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert (start["eventTime"], complete["eventTime"]) == (AT, LATER)
    assert start["job"]["namespace"] == "docs"
    assert start["job"]["name"] == "index-source.handbook"
    (source,) = start["inputs"]
    assert (source["namespace"], source["name"]) == ("docs", "handbook")
    assert source["facets"]["dataSource"]["uri"] == "https://docs.test/handbook/"
    (index,) = complete["outputs"]
    assert (index["namespace"], index["name"]) == ("file", "/srv/index")
    assert index["facets"]["version"]["datasetVersion"] == "7"
    assert index["outputFacets"]["outputStatistics"]["rowCount"] == 40


def test_a_run_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        tell(receiver, LineageEnd(error="publishing is held"), monkeypatch)

    fail = receiver.events()[1]
    assert fail["eventType"] == "FAIL"
    assert fail["run"]["facets"]["errorMessage"]["message"] == "publishing is held"
    assert "version" not in fail["outputs"][0].get("facets", {})


def test_a_receiver_that_refuses_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with receiving(status=400) as receiver:
        said = tell(receiver, LineageEnd(generation=7), monkeypatch)

    assert said == ["OpenLineage: events cannot be sent (HTTPError)"]
    assert capfd.readouterr().err == ""


def test_a_receiver_that_says_nothing_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(hangs=True) as receiver:
        monkeypatch.setenv("OPENLINEAGE_URL", receiver.url)
        environ = {"OPENLINEAGE_URL": receiver.url}
        lineage = open_lineage(environ, say=lambda _: None)
        run = lineage_run(environ, source="handbook", uri=None, index="/srv/index")
        lineage.start(run, at=AT)

        assert not finish_within(0.1, [lineage.close])


def test_works_that_end_in_time_do_so_side_by_side() -> None:
    done: list[int] = []

    assert finish_within(120, [lambda: done.append(1), lambda: done.append(2)])
    assert not finish_within(0.01, [lambda: done.append(3), lambda: time.sleep(1)])
    assert {1, 2} <= set(done)
