"""What is decided about deployments, that of maintenance too: what is desired, and what was found."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flows.deploy.deployments import (
    REMOVED,
    DeployAction,
    FoundDeployment,
    RunPlace,
    ScheduleEntry,
    Settings,
    anchor,
    decide_deployments,
    decide_maintenance,
    describe_deployment,
    describe_maintenance,
    notes,
    resting,
    unknown_variables,
)
from schemas.errors import ConfigError
from schemas.source import DeploymentOptions, Schedule, Source

HOME = Path("/srv/sitegraph")
PLACE = RunPlace(folder=HOME, pool="sitegraph", version="1")
ORIGIN = datetime(2020, 1, 1, tzinfo=UTC)
NIGHTLY = Schedule(cron="15 2 * * *", timezone="Europe/Berlin")


def settings(name: str = "handbook", *schedules: Schedule, place: RunPlace = PLACE) -> Settings:
    source = Source(name=name, kind="web", schedule=schedules or (NIGHTLY,))
    return describe_deployment(source, HOME / "sources" / f"{name}.yaml", place)


def found(name: str = "handbook", *, paused: bool = False, **changed: object) -> FoundDeployment:
    return FoundDeployment(id="1", name=name, settings={**settings(name), **changed}, paused=paused)


def actions(there: Iterable[FoundDeployment], *names: str, **where: object) -> dict[str, DeployAction]:
    decided = decide_deployments({name: settings(name) for name in names}, there, **where)  # type: ignore[arg-type]
    return {one.name: one.action for one in decided}


def test_what_is_not_there_is_made_and_what_is_there_as_desired_is_left() -> None:
    assert actions([found("manual")], "handbook", "manual") == {
        "handbook": DeployAction.CREATE,
        "manual": DeployAction.UNCHANGED,
    }


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"pool": "other"}, "pool"),
        ({"tags": ("mine", "sitegraph")}, "tags"),
        ({"overlap": None}, "overlap"),
        ({"version": "0"}, "version"),
        ({"schedules": ()}, "schedules"),
        ({"schedules": settings("x", replace(NIGHTLY, active=False))["schedules"]}, "schedules"),
        ({"schedules": settings("x", replace(NIGHTLY, due=True))["schedules"]}, "schedules"),
    ],
)
def test_whatever_differs_is_updated_and_told(changed: dict[str, object], key: str) -> None:
    (action,) = decide_deployments({"handbook": settings()}, [found(**changed)])

    assert (action.action, set(action.changes)) == (DeployAction.UPDATE, {key})


def test_a_rule_that_prefect_words_anew_is_the_same_rule() -> None:
    rule = Schedule(rrule="FREQ=HOURLY;INTERVAL=5")
    (entry,) = settings("a", rule)["schedules"]
    reworded = replace(entry, schedule=replace(rule, rrule=f"DTSTART:20260101T000000\n{rule.rrule}"))

    (action,) = decide_deployments({"a": settings("a", rule)}, [found("a", schedules=(reworded,))])

    assert action.action is DeployAction.UNCHANGED


def test_a_source_whose_file_is_gone_from_a_folder_that_is_named_is_paused() -> None:
    there = [found("handbook"), found("manual")]

    assert actions(there, "handbook") == {"handbook": DeployAction.UNCHANGED}
    assert actions(there, "handbook", folders=[HOME / "sources"])["manual"] is DeployAction.PAUSE
    assert actions(there, "handbook", folders=[HOME / "others"]) == {"handbook": DeployAction.UNCHANGED}
    assert actions(there, "handbook", prune_in=HOME)["manual"] is DeployAction.PAUSE
    assert actions(there, "handbook", prune_in=Path("/elsewhere")) == {"handbook": DeployAction.UNCHANGED}


def test_a_source_that_got_another_name_leaves_its_former_deployment_paused() -> None:
    there = [found("former", source="sources/handbook.yaml")]

    decided = actions(there, "handbook", files=[HOME / "sources" / "handbook.yaml"])

    assert decided == {"former": DeployAction.PAUSE, "handbook": DeployAction.CREATE}


ANOTHER = [
    ({"index": "/data/other"}, "for index /data/other"),
    ({"source": "others/handbook.yaml"}, "from /srv/sitegraph/others/handbook.yaml"),
    ({"folder": "/srv/team"}, "from /srv/team/sources/handbook.yaml"),
    ({"folder": "/srv/team", "index": "/data/other"}, "for index /data/other"),
    ({"tags": (), "index": "/data/other"}, "for index /data/other"),
]


@pytest.mark.parametrize(("changed", "said"), ANOTHER)
def test_another_source_of_the_same_name_is_not_taken_over_unless_asked(
    changed: dict[str, object], said: str
) -> None:
    there, file = [found(**changed)], HOME / "sources" / "handbook.yaml"

    with pytest.raises(ConfigError, match="--replace") as refused:
        decide_deployments({"handbook": settings()}, there, files=[file], folders=[file.parent])
    (replaced,) = decide_deployments({"handbook": settings()}, there, files=[file], replace=True)

    assert str(refused.value) == (
        f"index-source/handbook: is already deployed {said}; give the source another name, or replace it "
        "with --replace"
    )
    assert replaced.action is DeployAction.UPDATE


def test_an_index_that_a_call_forgets_to_name_is_not_changed_to_that_of_the_worker() -> None:
    named = settings("handbook", place=replace(PLACE, index="/data/index"))

    with pytest.raises(ConfigError, match="for index /data/index"):
        decide_deployments({"handbook": settings()}, [found(index="/data/index")])
    with pytest.raises(ConfigError, match="for the index of the worker's SITEGRAPH_INDEX"):
        decide_deployments({"handbook": named}, [found()])


def test_a_file_that_got_another_path_in_the_folders_given_goes_on_under_its_name() -> None:
    there = [found(source="sources/former.yaml")]

    assert actions(there, "handbook", folders=[HOME / "sources"]) == {"handbook": DeployAction.UPDATE}
    assert actions(there, "handbook", prune_in=HOME) == {"handbook": DeployAction.UPDATE}
    moved = [found(folder="/srv", source="sitegraph/sources/handbook.yaml")]
    assert actions(moved, "handbook") == {"handbook": DeployAction.UPDATE}


def test_a_name_that_is_free_since_its_file_went_may_be_taken() -> None:
    gone = found(paused=True, tags=("sitegraph", REMOVED), folder="/srv/team", index="/data/other")

    assert actions([gone], "handbook") == {"handbook": DeployAction.UPDATE}


def test_what_was_paused_once_is_not_paused_again_and_runs_again_when_its_file_is_back() -> None:
    gone = found("manual", paused=True, tags=("sitegraph", REMOVED))
    (back,) = decide_deployments({"manual": settings("manual")}, [gone])

    assert actions([gone], "handbook", folders=[HOME / "sources"]) == {"handbook": DeployAction.CREATE}
    assert (back.action, back.resume) == (DeployAction.UPDATE, True)
    assert back.changes == {"tags": (("sitegraph", REMOVED), ("sitegraph",)), "paused": (True, False)}


def test_a_file_that_is_back_with_another_index_is_refused_unless_asked() -> None:
    gone = found(paused=True, tags=("sitegraph", REMOVED), index="/data/other")

    with pytest.raises(ConfigError, match="for index /data/other"):
        decide_deployments({"handbook": settings()}, [gone])
    (moved,) = decide_deployments({"handbook": settings()}, [gone], replace=True)

    assert (moved.resume, moved.changes["index"]) == (True, ("/data/other", None))


def test_no_run_is_expected_of_what_any_call_has_paused() -> None:
    there = [found("manual", paused=True, tags=("sitegraph", REMOVED)), found("wiki", paused=True), found()]
    gone = decide_deployments({}, there, folders=[HOME / "sources"])

    assert resting((), there) == {"manual", "wiki"}
    assert resting(gone, there) == {"manual", "wiki", "handbook"}


def test_what_a_person_paused_stays_paused_and_is_told() -> None:
    there = [found(paused=True)]
    decided = decide_deployments({"handbook": settings()}, there)

    assert [(one.action, one.resume) for one in decided] == [(DeployAction.UNCHANGED, False)]
    assert [note.partition(",")[0] for note in notes(decided, there)] == [
        "index-source/handbook was paused by hand"
    ]


def test_what_others_made_is_never_touched_and_told_once() -> None:
    there = [found("nightly", tags=())]
    decided = decide_deployments({"handbook": settings()}, there, folders=[HOME / "sources"], prune_in=HOME)

    assert [one.name for one in decided] == ["handbook"]
    (note,) = notes(decided, there)
    assert note.startswith("index-source/nightly was not made by sitegraph deploy")


def test_a_file_outside_of_the_working_folder_keeps_its_whole_path() -> None:
    source = Source(name="a", kind="web")

    assert describe_deployment(source, Path("/etc/a.yaml"), PLACE)["source"] == "/etc/a.yaml"
    assert settings("a")["source"] == "sources/a.yaml"


def test_the_source_file_says_where_it_runs_and_the_command_where_the_others_do() -> None:
    own = Source(name="a", kind="web", deployment=DeploymentOptions(pool="big", queue="slow", tags=("x",)))
    described = describe_deployment(own, HOME / "a.yaml", replace(PLACE, index="/data/index"))

    assert (described["pool"], described["queue"], described["tags"]) == ("big", "slow", ("sitegraph", "x"))
    assert described["index"] == "/data/index"
    assert (settings()["pool"], settings()["queue"]) == ("sitegraph", "default")


def test_intervals_of_several_sources_begin_at_several_times_and_always_at_the_same() -> None:
    starts = {anchor(3600, f"source-{number}") for number in range(20)}

    assert len(starts) > 15
    assert max(starts) - min(starts) < timedelta(hours=1)
    assert anchor(3600, "handbook") == anchor(3600, "handbook")


def test_with_jitter_intervals_begin_within_it() -> None:
    names = [f"source-{number}" for number in range(200)]

    begins = {anchor(86_400, name, jitter=60) for name in names}
    assert len(begins) > 40
    assert max(begins) <= ORIGIN + timedelta(minutes=1)
    assert {anchor(86_400, name, jitter=0) for name in names} == {ORIGIN}


def entry_of(name: str, schedule: Schedule) -> ScheduleEntry:
    (entry,) = settings(name, schedule)["schedules"]
    assert isinstance(entry, ScheduleEntry)
    return entry


def test_jitter_moves_a_cron_expression_by_the_name_of_the_source() -> None:
    jittered = replace(NIGHTLY, jitter=1_800)

    assert entry_of("handbook", jittered).schedule.cron == "23 2 * * *"
    assert entry_of("manual", jittered).schedule.cron == "34 2 * * *"
    assert entry_of("handbook", jittered).text == (
        "cron 23 2 * * * Europe/Berlin (jitter 30m), moved from 15 2 * * *"
    )
    assert entry_of("handbook", Schedule(every=3600, jitter=60)).text == "every 3600s UTC (jitter 1m)"


def test_a_changed_jitter_is_an_update_and_the_same_one_is_none() -> None:
    def as_read(entry: ScheduleEntry) -> ScheduleEntry:
        return replace(entry, schedule=replace(entry.schedule, jitter=None), written=None)

    weekly = Schedule(rrule="FREQ=WEEKLY;BYDAY=MO;BYHOUR=3", jitter=900)
    for schedule in (replace(NIGHTLY, jitter=900), weekly, Schedule(every=3600, jitter=60)):
        there = found(schedules=(as_read(entry_of("handbook", schedule)),))
        for jitter, action in ((schedule.jitter, "unchanged"), (120, "update"), (None, "update")):
            wanted = settings("handbook", replace(schedule, jitter=jitter))
            (decided,) = decide_deployments({"handbook": wanted}, [there])
            assert decided.action == action, (schedule, jitter)


def test_a_run_waits_for_the_one_before_it_whatever_the_schedule() -> None:
    assert settings("a", NIGHTLY)["overlap"] == "ENQUEUE"
    assert settings("a", NIGHTLY, Schedule(every=3600, due=True))["overlap"] == "ENQUEUE"


def variables_of(own: str, **given: object) -> object:
    source = Source(name="handbook", kind="web", deployment=DeploymentOptions(job_variables=own))
    place = replace(PLACE, job_variables=given)
    return describe_deployment(source, HOME / "handbook.yaml", place)["job_variables"]


def test_a_source_file_says_more_of_its_runs_than_the_command_and_env_is_joined() -> None:
    assert variables_of("", memory_limit="4Gi") == {"memory_limit": "4Gi"}
    assert variables_of('{"memory_limit": "8Gi"}', memory_limit="4Gi", image="a") == {
        "memory_limit": "8Gi",
        "image": "a",
    }
    own = '{"env": {"A": "own", "B": "2"}}'
    assert variables_of(own, env={"A": "given", "C": "3"}) == {"env": {"A": "own", "B": "2", "C": "3"}}


def test_changed_job_variables_are_an_update() -> None:
    (action,) = decide_deployments({"handbook": settings()}, [found(job_variables={"memory_limit": "4Gi"})])

    assert (action.action, action.changes["job_variables"]) == (
        DeployAction.UPDATE,
        ({"memory_limit": "4Gi"}, {}),
    )


def test_a_job_variable_that_the_pool_does_not_know_is_told_with_those_it_knows() -> None:
    desired = {"a": {**settings("a"), "job_variables": {"memory": "4Gi", "env.A": "1", "image": "x"}}}

    assert list(unknown_variables(desired, {"sitegraph": ("image", "env")})) == [
        ("sitegraph", "has no job variable memory, which a sets; it has: env, image")
    ]


NAMED = replace(PLACE, index="/data/handbook")
SUNDAYS = "0 4 * * 0"


def maintained(place: RunPlace = NAMED, **changed: object) -> FoundDeployment:
    settings = {**describe_maintenance(SUNDAYS, place), **changed}
    return FoundDeployment(id="1", name="handbook", settings=settings)


def test_it_is_made_once_and_named_by_the_folder_of_its_index() -> None:
    (made,) = decide_maintenance(SUNDAYS, NAMED, ())
    assert (made.action, made.name) == (DeployAction.CREATE, "handbook")
    (again,) = decide_maintenance(SUNDAYS, NAMED, [maintained()])
    assert (again.action, again.changes) == (DeployAction.UNCHANGED, {})
    (moved,) = decide_maintenance("0 5 * * 0", NAMED, [maintained()])
    assert (moved.action, set(moved.changes)) == (DeployAction.UPDATE, {"schedules"})


def test_it_is_left_alone_unless_it_is_named_and_paused_by_none() -> None:
    assert decide_maintenance(None, NAMED, [maintained()]) == ()
    assert decide_maintenance("none", NAMED, ()) == ()
    (paused,) = decide_maintenance("none", NAMED, [maintained()])
    assert (paused.action, paused.settings["tags"]) == (DeployAction.PAUSE, ("sitegraph", REMOVED))
    assert decide_maintenance("none", NAMED, [maintained(tags=("sitegraph", REMOVED))]) == ()


def test_that_of_another_index_is_replaced_only_when_asked() -> None:
    other = maintained(replace(NAMED, index="/elsewhere/handbook"))
    with pytest.raises(ConfigError, match="/elsewhere/handbook"):
        decide_maintenance(SUNDAYS, NAMED, [other])
    (taken,) = decide_maintenance(SUNDAYS, NAMED, [other], replace=True)
    assert set(taken.changes) == {"index"}


def test_what_is_no_cron_expression_is_refused() -> None:
    with pytest.raises(ConfigError, match="cron"):
        decide_maintenance("sundays", NAMED, ())
