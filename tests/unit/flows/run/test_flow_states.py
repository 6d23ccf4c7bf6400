"""What Prefect is told of a flow run, and which of those that wait it makes needless."""

from typing import Any

import pytest

from flows.run.flow_states import covers

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
