"""When schedules fire: refusals, and the longest wait between their runs."""

import pytest

from runtime.schedule_times import cron_refusal, fires, longest_wait, rrule_refusal
from schemas.source import Schedule

HOUR, DAY = 3_600.0, 86_400.0
MONDAYS = "FREQ=WEEKLY;BYDAY=MO;BYHOUR=3;BYMINUTE=0;BYSECOND=0"


@pytest.mark.parametrize(
    ("schedules", "runs", "wait"),
    [
        ([Schedule(every=30)], 2, 60),
        ([Schedule(every=6 * HOUR), Schedule(every=HOUR)], 2, 2 * HOUR),
        ([Schedule(every=DAY, timezone="Europe/Berlin")], 1, DAY + HOUR),
        ([Schedule(cron="15 2 * * *")], 1, DAY),
        ([Schedule(cron="15 2 * * *", timezone="Europe/Berlin")], 2, 2 * DAY + HOUR),
        ([Schedule(cron="15 2 * * 1-5")], 1, 3 * DAY),
        ([Schedule(cron="0 * * * *", active=False), Schedule(cron="0 2 * * *")], 1, DAY),
        ([Schedule(cron="0 2 * * *"), Schedule(every=HOUR, due=True)], 1, HOUR),
        ([Schedule(rrule=MONDAYS)], 2, 14 * DAY),
        ([Schedule(cron="0 0 1 * *")], 1, 31 * DAY),
        ([], 2, None),
        ([Schedule(every=30, active=False)], 2, None),
    ],
)
def test_the_longest_wait_is_that_of_the_schedules_as_they_fire(
    schedules: list[Schedule], runs: int, wait: float | None
) -> None:
    assert longest_wait(schedules, runs=runs) == wait


@pytest.mark.parametrize(
    "expression", ["15 2 * * *", "*/5 8-18 * * MON-FRI", "0 0 1,15 JUL *", "0 2 * * 1#2"]
)
def test_a_cron_expression_that_we_take_prefect_takes_too(expression: str) -> None:
    from prefect.client.schemas.schedules import CronSchedule

    assert cron_refusal(expression) is None
    assert CronSchedule(cron=expression).cron == expression


@pytest.mark.parametrize(
    "expression",
    ["61 2 * * *", "15 2 * *", "@daily", "0 15 2 * * *", "0 0 30 2 *", "0 0 LW * *", "0 0 * * 5L", ""],
)
def test_a_cron_expression_that_is_wrong_or_read_in_two_ways_is_refused(expression: str) -> None:
    assert cron_refusal(expression)


def test_a_rule_is_one_of_rfc_5545_and_has_its_time_zone_outside() -> None:
    assert rrule_refusal(MONDAYS) is None
    assert rrule_refusal(f"DTSTART:20260105T030000\nRRULE:{MONDAYS}") is None
    assert rrule_refusal("FREQ=SOMETIMES") == "invalid 'FREQ': SOMETIMES"
    assert rrule_refusal("DTSTART;TZID=Europe/Berlin:20260105T030000\nRRULE:FREQ=DAILY")


def test_a_schedule_that_is_over_never_fires() -> None:
    over = "FREQ=DAILY;UNTIL=20200101T000000"
    assert not fires(cron=None, every=None, rrule=over, timezone="UTC")
    assert fires(cron=None, every=None, rrule=MONDAYS, timezone="UTC")
