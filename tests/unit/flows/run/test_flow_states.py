"""What Prefect is told of a flow run, and which of those that wait it makes needless."""

from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from prefect import Flow

from flows import recrawl
from flows.maintain import flow as maintenance
from flows.run import flow_runs
from flows.run.flow_runs import advised, covers
from schemas.errors import GuardRefused, StoreUnavailable

ALL = {"source": "a.yaml", "index": "i"}
DUE = {**ALL, "due": True}


@pytest.mark.parametrize(
    ("ran", "waiting", "covered"),
    [
        (ALL, ALL, True),
        (ALL, DUE, True),
        (DUE, DUE, True),
        (DUE, ALL, False),
        ({**ALL, "accept": True}, ALL, True),
        (ALL, {**ALL, "accept": True}, False),
        ({"index": "i", "dry_run": True}, {"index": "i"}, False),
        ({"index": "i"}, {"index": "i"}, True),
        (ALL, {**ALL, "repair": True}, False),
        (ALL, {**ALL, "source": "b.yaml"}, False),
        (ALL, {**ALL, "index": "other"}, False),
        (ALL, {**ALL, "model": "other"}, False),
        ({**ALL, "due": False, "graph": None}, ALL, True),
    ],
)
def test_a_run_does_the_work_of_one_that_would_look_at_no_more(
    ran: dict[str, Any], waiting: dict[str, Any], covered: bool
) -> None:
    assert covers(ran, waiting) is covered


def test_a_server_that_does_not_answer_leaves_a_run_the_reason_why_it_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(**_: Any) -> Any:
        raise ConnectionError("no server")

    context = SimpleNamespace(flow=None, flow_run=SimpleNamespace(parameters=ALL, deployment_id=uuid4()))
    monkeypatch.setattr("flows.run.flow_runs.FlowRunContext.get", lambda: context)
    monkeypatch.setattr(flow_runs, "get_client", unreachable)

    assert str(advised(StoreUnavailable("is full", subject="disk"))) == "disk: is full"


@pytest.mark.parametrize(
    ("module", "flow"), [(recrawl, recrawl.index_source), (maintenance, maintenance.maintain)]
)
def test_a_run_that_ends_badly_lets_none_of_those_that_wait_end_so_too(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, flow: Flow[..., Any]
) -> None:
    ended: list[str] = []

    def refuse(*_: Any, **__: Any) -> Any:
        raise GuardRefused("too much would go", subject="handbook")

    monkeypatch.setattr(module, "run_with_tasks" if module is recrawl else "maintain_index", refuse)
    monkeypatch.setattr(module, "end_covered", lambda: ended.append(flow.name))
    monkeypatch.setattr(recrawl, "show_refusal", lambda *_: None)
    monkeypatch.setattr(recrawl, "tell_error", lambda *_: None)

    assert flow.fn("handbook.yaml").name == "Refused"
    assert ended == [flow.name]
