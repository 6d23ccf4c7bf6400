"""When schedules fire: refusals, and the longest wait between their runs."""

import pytest

from runtime.schedules import (
    cron_refusal,
    duration,
    longest_wait,
    rrule_refusal,
    schedule_refusal,
    seconds_of,
)
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
        ([Schedule(cron="0 0 29 2 *")], 2, 2922 * DAY),
        ([Schedule(cron="0 0 29 2 *")], 100, 102 * 1461 * DAY),
        ([Schedule(cron="15 2 * * *")], 5_000, 5_000 * DAY),
        ([Schedule(every=100 * 365 * DAY), Schedule(cron="15 2 * * *")], 1, DAY),
        ([Schedule(rrule="FREQ=DAILY;COUNT=1;BYHOUR=3", timezone="UTC")], 1, None),
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


def test_a_rule_at_the_end_of_the_calendar_never_fires() -> None:
    last = "DTSTART:99991231T235900\nRRULE:FREQ=DAILY"
    assert schedule_refusal(Schedule(rrule=last, timezone="America/New_York")) == "never fires"


def test_a_schedule_that_is_over_never_fires() -> None:
    over = "FREQ=DAILY;UNTIL=20200101T000000"
    assert schedule_refusal(Schedule(rrule=over, timezone="UTC")) == "never fires"
    assert schedule_refusal(Schedule(rrule=MONDAYS, timezone="UTC")) is None


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL is a whole number of at least 1"),
        ("FREQ=MONTHLY;INTERVAL=-1", "INTERVAL is a whole number of at least 1"),
        ("freq=weekly;interval=x", "INTERVAL is a whole number of at least 1"),
        ("FREQ=SECONDLY", "use every, such as 15m"),
        ("DTSTART:20260105T030000\nRRULE:INTERVAL=5;FREQ=MINUTELY", "use every, such as 15m"),
        ("FREQ=HOURLY;BYMINUTE=0,1,2,3,4,5,6,7,8", "too many times to count"),
        ("DTSTART:00010101T000000\nRRULE:FREQ=HOURLY", "too many times to count"),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "it never fires"),
        ("FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "it never fires"),
        ("FREQ=DAILY;INTERVAL=7;BYDAY=MO", "it never fires"),
        ("FREQ=HOURLY;BYSETPOS=2", "BYSETPOS is for WEEKLY, MONTHLY and YEARLY, not for HOURLY"),
        ("RRULE:FREQ=DAILY\nEXRULE:FREQ=DAILY", "name dates with EXDATE"),
        ("DTSTART:5 January 2026\nRRULE:FREQ=DAILY", "DTSTART is written as in"),
    ],
)
def test_a_rule_that_would_hang_its_reader_is_refused_with_what_to_do(rule: str, why: str) -> None:
    assert why in (rrule_refusal(rule) or "")


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=HOURLY;BYMINUTE=0,15,30,45",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=DAILY;INTERVAL=7;BYDAY=WE",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        "FREQ=YEARLY;BYEASTER=1",
        "DTSTART:20240229T030000\nRRULE:FREQ=YEARLY;UNTIL=20400301T000000",
        "DTSTART:20260105T030000\nRRULE:FREQ=DAILY;COUNT=3\nEXDATE:20260106T030000",
    ],
)
def test_a_rule_that_fires_is_taken_however_seldom(rule: str) -> None:
    assert rrule_refusal(rule) is None
    assert schedule_refusal(Schedule(rrule=rule, timezone="UTC")) is None


@pytest.mark.parametrize(
    ("seconds", "text"), [(90, "90s"), (900, "15m"), (5400, "90m"), (2 * 86_400, "2d"), (1.5, "1.5s")]
)
def test_times_are_written_as_source_files_have_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
    assert seconds_of(text) == seconds
