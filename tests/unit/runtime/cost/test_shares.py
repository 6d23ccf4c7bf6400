"""Whose work threads of libraries and children do."""

import pytest

from runtime.cost import cause_of_ended, cause_of_process, cause_of_thread
from schemas.cost import Cause


@pytest.mark.parametrize(
    ("name", "active", "cause"),
    [
        ("lance-cpu", {Cause.WRITE}, Cause.WRITE),
        ("tokio-runtime-w", {Cause.LINK, Cause.EMBED}, Cause.LINK),
        ("python", {Cause.LINK, Cause.EMBED}, Cause.EMBED),
        ("python", {Cause.SIMILAR}, Cause.SIMILAR),
        ("lance-cpu", {Cause.LINK, Cause.FETCH, Cause.PREFECT}, Cause.LINK),
        ("lance-cpu", {Cause.LINK, Cause.WRITE}, Cause.OTHER),
        ("lance-cpu", {Cause.EMBED}, Cause.OTHER),
        ("lance-cpu", set(), Cause.OTHER),
    ],
)
def test_a_thread_of_a_library_works_for_what_alone_can_use_it(
    name: str, active: set[Cause], cause: Cause
) -> None:
    assert cause_of_thread(name, active) is cause


@pytest.mark.parametrize(
    ("command", "name", "cause"),
    [
        ("python -P -m runtime.parser_child tok 3 2048", "", Cause.PARSE),
        ("python -m uvicorn --factory prefect.server.api.server:create_app", "", Cause.PREFECT),
        ("/lib/playwright/driver/node cli.js run-driver", "", Cause.FETCH),
        ("python -c from multiprocessing.spawn import spawn_main", "encode", Cause.EMBED),
        ("python -c from multiprocessing.spawn import spawn_main", "Dask Worker process (from Nanny)", None),
        ("/usr/bin/something", "", Cause.OTHER),
    ],
)
def test_a_child_is_known_by_its_program_and_workers_tell_of_themselves(
    command: str, name: str, cause: Cause | None
) -> None:
    assert cause_of_process(command, name) is cause


def test_a_child_that_nobody_saw_was_for_what_alone_was_done() -> None:
    assert cause_of_ended({Cause.START, Cause.PREFECT}) is Cause.START
    assert cause_of_ended({Cause.FETCH, Cause.PARSE}) is Cause.OTHER
