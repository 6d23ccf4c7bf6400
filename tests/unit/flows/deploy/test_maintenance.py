"""What is decided about the deployment of maintenance."""

from dataclasses import replace
from pathlib import Path

import pytest

from flows.deploy.deployments import REMOVED, DeployAction, FoundDeployment, RunPlace
from flows.deploy.maintenance import decide_maintenance, describe_maintenance
from schemas.errors import ConfigError

PLACE = RunPlace(folder=Path("/srv/sitegraph"), pool="sitegraph", version="1", index="/data/handbook")
SUNDAYS = "0 4 * * 0"


def found(place: RunPlace = PLACE, **changed: object) -> FoundDeployment:
    settings = {**describe_maintenance(SUNDAYS, place), **changed}
    return FoundDeployment(id="1", name="handbook", settings=settings)


def test_it_is_made_once_and_named_by_the_folder_of_its_index() -> None:
    (made,) = decide_maintenance(SUNDAYS, PLACE, ())
    assert (made.action, made.name) == (DeployAction.CREATE, "handbook")
    (again,) = decide_maintenance(SUNDAYS, PLACE, [found()])
    assert (again.action, again.changes) == (DeployAction.UNCHANGED, {})
    (moved,) = decide_maintenance("0 5 * * 0", PLACE, [found()])
    assert (moved.action, set(moved.changes)) == (DeployAction.UPDATE, {"schedules"})


def test_it_is_left_alone_unless_it_is_named_and_paused_by_none() -> None:
    assert decide_maintenance(None, PLACE, [found()]) == ()
    assert decide_maintenance("none", PLACE, ()) == ()
    (paused,) = decide_maintenance("none", PLACE, [found()])
    assert (paused.action, paused.settings["tags"]) == (DeployAction.PAUSE, ("sitegraph", REMOVED))
    assert decide_maintenance("none", PLACE, [found(tags=("sitegraph", REMOVED))]) == ()


def test_that_of_another_index_is_replaced_only_when_asked() -> None:
    other = found(replace(PLACE, index="/elsewhere/handbook"))
    with pytest.raises(ConfigError, match="/elsewhere/handbook"):
        decide_maintenance(SUNDAYS, PLACE, [other])
    (taken,) = decide_maintenance(SUNDAYS, PLACE, [other], replace=True)
    assert set(taken.changes) == {"index"}


def test_what_is_no_cron_expression_is_refused() -> None:
    with pytest.raises(ConfigError, match="cron"):
        decide_maintenance("sundays", PLACE, ())
