"""A moved schedule fires when the one it was made of does, so many minutes later: as others read both."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from prefect.server.schemas.schedules import CronSchedule, RRuleSchedule

from runtime.schedules import cron_refusal, move_cron, move_rule, rrule_refusal, rule_times

START = datetime(2024, 1, 1, tzinfo=UTC)
RUNS = 100


def dates_of(schedule: CronSchedule | RRuleSchedule) -> list[datetime]:
    """When Prefect has a schedule fire."""
    found = asyncio.run(schedule.get_dates(n=20, start=START))
    return [datetime.fromtimestamp(one.timestamp(), UTC) for one in found]


CRONS = [
    ("15 2 * * *", 20, "35 2 * * *"),
    ("50 23 * * *", 20, "10 0 * * *"),
    ("50 23 * * 5-7", 20, "10 0 * * 0,1,6"),
    ("0 22 * * MON", 150, "30 0 * * 2"),
    ("0 3 * * MON-FRI", 61, "1 4 * * MON-FRI"),
    ("0,30 2 * * *", 20, "20,50 2 * * *"),
    ("0,30 2 * * *", 60, "0,30 3 * * *"),
    ("*/15 * * * *", 20, "5,20,35,50 * * * *"),
    ("0 * * * *", 90, "30 * * * *"),
    ("0 2 1 * *", 60, "0 3 1 * *"),
    ("0 2 * JUL 1#2", 5, "5 2 * JUL 1#2"),
    ("0 2 1,15 * 1", 5, "5 2 1,15 * 1"),
    ("0 20-23 * * *", 120, "0 0,1,22,23 * * *"),
]

UNMOVED = [
    ("0,30 2 * * *", 40, "half of it would be in the next hour"),
    ("*/15 * * * 1", 20, "the last of Monday would be on Tuesday"),
    ("50 23 1 * *", 20, "the day after has no number"),
    ("50 23 * 6 *", 20, "the last of June would be in July"),
    ("50 23 * * 1#2", 20, "the day after the second Monday has no name"),
    ("0 20-23 * * 1", 120, "half of it would be on Tuesday"),
]


@pytest.mark.parametrize(("expression", "by", "written"), CRONS)
def test_a_cron_expression_is_moved_by_writing_its_minutes_and_hours_anew(
    expression: str, by: int, written: str
) -> None:
    assert move_cron(expression, by) == written
    assert cron_refusal(written) is None


@pytest.mark.parametrize(("expression", "by", "written"), CRONS)
def test_prefect_fires_a_moved_expression_so_many_minutes_later(
    expression: str, by: int, written: str
) -> None:
    before, after = (dates_of(CronSchedule(cron=cron, timezone="UTC")) for cron in (expression, written))

    later = [time + timedelta(minutes=by) for time in before]
    assert [time for time in after if time >= later[0]][:15] == later[:15]


@pytest.mark.parametrize(("expression", "by", "why"), UNMOVED)
def test_an_expression_whose_later_times_are_no_single_one_is_not_moved(
    expression: str, by: int, why: str
) -> None:
    assert move_cron(expression, by) is None, why


def numbers(low: int, high: int) -> st.SearchStrategy[str]:
    """A field of a cron expression: `*`, a step, or a list."""
    lists = st.lists(st.integers(low, high), min_size=1, max_size=4)
    return st.one_of(
        st.just("*"), st.integers(1, 9).map("*/{}".format), lists.map(lambda some: ",".join(map(str, some)))
    )


EXPRESSIONS = st.tuples(numbers(0, 59), numbers(0, 23), numbers(1, 28), numbers(1, 12), numbers(0, 7)).map(
    " ".join
)


@settings(deadline=None)
@given(expression=EXPRESSIONS, by=st.integers(0, 24 * 60))
def test_whatever_is_moved_fires_exactly_so_many_minutes_later(expression: str, by: int) -> None:
    written = move_cron(expression, by)
    assume(written is not None and cron_refusal(expression) is None)

    before = list(islice(CronSim(expression, START), RUNS))
    first = before[0] + timedelta(minutes=by)
    after = list(islice(CronSim(str(written), first - timedelta(minutes=1)), RUNS))
    assert after == [time + timedelta(minutes=by) for time in before]


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/New_York"])
def test_in_a_zone_of_two_clocks_it_is_the_clock_that_is_later(name: str) -> None:
    start = START.astimezone(ZoneInfo(name))
    moved = list(islice(CronSim("35 3 * * *", start), 366))

    assert move_cron("15 3 * * *", 20) == "35 3 * * *"
    assert {(time.hour, time.minute) for time in moved} == {(3, 35)}


RULES = [
    ("FREQ=WEEKLY;BYDAY=MO;BYHOUR=3;BYMINUTE=0;BYSECOND=0", 20),
    ("FREQ=WEEKLY;BYDAY=MO;BYHOUR=3", 59),
    ("FREQ=DAILY", 90),
    ("FREQ=DAILY;BYHOUR=2,14;BYMINUTE=15,45", 60),
    ("FREQ=HOURLY;INTERVAL=5", 30),
    ("FREQ=HOURLY;BYHOUR=8,9;BYMINUTE=10", 30),
    ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=3,4", 45),
    ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=23", 59),
    ("DTSTART:20240205T120000\nRRULE:FREQ=DAILY;INTERVAL=2;BYHOUR=11;BYMINUTE=50;COUNT=9", 20),
    ("DTSTART:20240105T030000 RRULE:FREQ=DAILY;UNTIL=20240301T030000", 25),
    ("DTSTART:20240105T030000 RRULE:FREQ=DAILY;UNTIL=20240301", 25),
    ("DTSTART:20240101T030000\nRRULE:FREQ=DAILY\nEXDATE:20240102T030000,20240104T030000", 40),
    ("dtstart:20240101T030000\nrrule:freq=daily\nrdate:20240102T120000", 40),
    ("DTSTART:20240101T030000\nRRULE:FREQ=WEEKLY;BYDAY=MO\nRRULE:FREQ=MONTHLY;BYMONTHDAY=3", 40),
]


@pytest.mark.parametrize(("rule", "by"), RULES)
def test_a_moved_rule_fires_exactly_so_many_minutes_later(rule: str, by: int) -> None:
    written = move_rule(rule, by)
    assert written is not None
    assert rrule_refusal(written) is None

    before, after = (list(islice(rule_times(one), RUNS)) for one in (rule, written))
    assert after == [time + timedelta(minutes=by) for time in before]


@pytest.mark.parametrize(("rule", "by"), RULES)
def test_prefect_fires_a_moved_rule_so_many_minutes_later(rule: str, by: int) -> None:
    before, after = (
        dates_of(RRuleSchedule(rrule=one.upper(), timezone="UTC")) for one in (rule, str(move_rule(rule, by)))
    )

    assert before
    assert after == [time + timedelta(minutes=by) for time in before]


@pytest.mark.parametrize(
    ("rule", "by"),
    [
        ("FREQ=DAILY;BYHOUR=23", 60),
        ("FREQ=DAILY;BYMINUTE=0,30", 40),
        ("FREQ=HOURLY;INTERVAL=5", 60),
        ("DTSTART:20240105T233000\nRRULE:FREQ=DAILY;BYHOUR=3", 40),
    ],
)
def test_a_rule_that_would_leave_its_days_or_come_apart_is_not_moved(rule: str, by: int) -> None:
    assert move_rule(rule, by) is None
