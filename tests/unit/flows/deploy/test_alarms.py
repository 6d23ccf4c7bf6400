"""Which alarms there should be, when they are raised, and what is decided about those that there are."""

from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient
from prefect.server.events.schemas.automations import EventTrigger
from prefect.server.events.schemas.events import Resource

from flows.deploy.alarms import (
    CRASHED,
    LATE,
    PUBLISH_HELD,
    ZOMBIE,
    AlarmOptions,
    Automation,
    Notify,
    alarms,
    decide_alarms,
    no_publish,
    options_found,
    paused_unwatched,
    too_short,
    unwatched,
    window,
)
from flows.deploy.client import DeployServer, plain_automation
from flows.deploy.deployments import DeployAction
from flows.run.events import IndexName, events_of_report
from runtime.schedules import CENTURY
from schemas.report import ChunkCounts, HttpTotals, PeakRss, RunReport
from schemas.source import Freshness, Schedule, Source

NIGHTLY = Schedule(cron="15 2 * * *")
HOUR, DAY = 3_600.0, 86_400.0


def source(*schedules: Schedule, slo: float | None = None, missed: int = 2) -> Source:
    freshness = Freshness(slo=slo, missed_runs=missed)
    return Source(name="handbook", kind="web", schedule=schedules, freshness=freshness)


@pytest.mark.parametrize(
    ("one", "seconds"),
    [
        (source(NIGHTLY), 2 * DAY),
        (source(NIGHTLY, missed=3), 3 * DAY),
        (source(NIGHTLY, slo=36 * HOUR), 36 * HOUR),
        (source(slo=36 * HOUR), 36 * HOUR),
        (source(Schedule(cron="0 2 * * 1-5")), 4 * DAY),
        (source(Schedule(every=2)), 10.0),
        (source(Schedule(cron="0 0 29 2 *")), 2922 * DAY),
        (source(NIGHTLY, missed=3_000), 3_000 * DAY),
        (source(NIGHTLY, missed=10**9), CENTURY),
        (source(Schedule(cron="15 2 * * *", active=False)), None),
        (source(), None),
    ],
)
def test_the_dead_mans_alarm_waits_for_the_slo_or_so_many_runs(one: Source, seconds: float | None) -> None:
    assert window(one) == seconds


def test_there_is_a_dead_mans_alarm_of_each_source_that_should_run() -> None:
    names = [one["name"] for one in alarms([source(NIGHTLY)], AlarmOptions())]

    assert names[-1] == "sitegraph: no publish of handbook"
    assert len(set(names)) == len(names) == 10
    assert no_publish(source(), AlarmOptions()) is None


def test_the_dead_mans_alarm_hears_only_of_the_index_that_the_source_runs_for() -> None:
    alarm = no_publish(source(NIGHTLY), AlarmOptions(), index="/data/index")

    assert alarm is not None
    trigger = EventTrigger.model_validate(alarm["trigger"])
    (mine, other) = (
        fresh(IndexName(id=number, folder=Path(folder)))
        for number, folder in (("1", "/data/index"), ("2", "/data/other"))
    )
    assert trigger.match.matches(mine)
    assert not trigger.match.matches(other)
    every = no_publish(source(NIGHTLY), AlarmOptions())
    assert every is not None
    assert EventTrigger.model_validate(every["trigger"]).match.matches(other)


def fresh(index: IndexName) -> Resource:
    """The resource of the event that a run of the source ended well."""
    report = RunReport(
        source="handbook",
        run_id="1",
        generation=None,
        published=False,
        documents={},
        chunks=ChunkCounts(),
        nodes={},
        edges={},
        http=HttpTotals(),
        stages={},
        peak_rss_mb=PeakRss(flow=0, largest_child=0, sum=0),
    )
    (event,) = events_of_report(report, index)
    return Resource(dict(event.resource))


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (source(), "it has no schedule"),
        (source(Schedule(cron="15 2 * * *", active=False)), "its schedule is switched off"),
        (
            source(Schedule(rrule="DTSTART:20270101T030000\nRRULE:FREQ=DAILY;COUNT=1")),
            "no schedule of it fires a second time",
        ),
    ],
)
def test_a_source_without_a_dead_mans_alarm_is_told_with_the_reason(one: Source, why: str) -> None:
    assert unwatched(one) == f"handbook: no dead-man's alarm: {why}, and it has no freshness.slo"
    assert no_publish(one, AlarmOptions()) is None
    assert unwatched(source(NIGHTLY)) is None


def test_of_what_a_person_paused_it_is_told_that_resuming_makes_no_alarm() -> None:
    told = paused_unwatched({"a", "b", "c"}, {"sitegraph: no publish of b"}, {"a", "d"})

    assert [line.partition(":")[0] for line in told] == ["a", "b"]


def test_an_slo_that_no_schedule_can_keep_is_told() -> None:
    assert too_short(source(NIGHTLY, slo=DAY)) == (
        "handbook: freshness.slo is 1d, and its runs begin up to 1d apart, so it will be missed; "
        "let it run more often, or make slo longer"
    )
    assert too_short(source(NIGHTLY, slo=36 * HOUR)) is None
    assert too_short(source(NIGHTLY)) is None


@pytest.mark.parametrize(
    ("notify", "kind"),
    [
        (None, "do-nothing"),
        (Notify(block_id="0198d1f2-0000-7000-8000-000000000001"), "send-notification"),
        (Notify(block_id="0198d1f2-0000-7000-8000-000000000001", webhook=True), "call-webhook"),
    ],
)
def test_prefect_takes_every_alarm_and_gives_back_whom_it_tells_and_when(
    notify: Notify | None, kind: str
) -> None:
    options = AlarmOptions(late_after=60.0, lost_after=90.0, held_after=120.0, notify=notify)
    there = {one["name"]: ("1", plain_automation(one)) for one in alarms([source(NIGHTLY)], options)}

    assert options_found(there) == options
    assert {one["actions"][0]["type"] for name, (_, one) in there.items() if name != ZOMBIE} == {kind}


def test_nothing_found_gives_the_defaults() -> None:
    assert options_found({}) == AlarmOptions()


def test_a_run_is_late_once_nothing_takes_it_up_in_time() -> None:
    (late,) = [one for one in alarms([], AlarmOptions()) if one["name"] == LATE]

    assert late["trigger"]["after"] == ["prefect.flow-run.Late"]
    assert {"prefect.flow-run.Pending", "prefect.flow-run.Running"} <= set(late["trigger"]["expect"])
    assert (late["trigger"]["posture"], late["trigger"]["within"]) == ("Proactive", 900.0)


def test_a_held_publish_ends_with_the_next_good_run_of_that_source() -> None:
    (held,) = [one for one in alarms([], AlarmOptions()) if one["name"] == PUBLISH_HELD]

    assert held["trigger"]["for_each"] == ["sitegraph.source", "sitegraph.folder"]
    assert set(held["trigger"]["after"]) == {"sitegraph.generation.held", "sitegraph.generation.refused"}
    assert "sitegraph.source.fresh" in held["trigger"]["expect"]


def test_alarms_are_made_changed_left_and_of_sources_that_went_deleted() -> None:
    first: dict[str, Automation] = {CRASHED: {"a": 1}, LATE: {"a": 1}, PUBLISH_HELD: {"a": 1}}
    there: dict[str, tuple[str, Any]] = {
        CRASHED: ("1", {"a": 1}),
        LATE: ("2", {"a": 0}),
        "sitegraph: no publish of old": ("3", {}),
        "sitegraph: no publish of other": ("4", {}),
    }

    decided = decide_alarms(first, there, gone=["old"])

    assert {one.name: (one.action, one.id) for one in decided} == {
        CRASHED: (DeployAction.UNCHANGED, "1"),
        LATE: (DeployAction.UPDATE, "2"),
        PUBLISH_HELD: (DeployAction.CREATE, None),
        "sitegraph: no publish of old": (DeployAction.DELETE, "3"),
    }


def test_a_second_url_leaves_the_alarms_of_the_first_where_they_go(monkeypatch: pytest.MonkeyPatch) -> None:
    saved: dict[str, UUID] = {}

    def save(_: Webhook, name: str, **__: Any) -> UUID:
        return saved.setdefault(name, uuid4())

    monkeypatch.setattr(Webhook, "save", save)
    server = DeployServer(cast("SyncPrefectClient", None), "")
    urls = ("https://a.example/hook", "https://b.example/hook", "https://a.example/hook")

    first, other, again = (server.notify_url(url, dry_run=False).block_id for url in urls)

    assert first == again != other
