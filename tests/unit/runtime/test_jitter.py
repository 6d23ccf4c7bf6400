"""How much later each source begins: told by its name, and never in the way of the schedule's days."""

from collections import Counter

import pytest

from runtime.schedules import longest_wait, moved, schedule_refusal, share, slots
from schemas.source import Schedule

NIGHTLY = Schedule(cron="15 2 * * *", timezone="Europe/Berlin", jitter=1_800)
NAMES = [f"source-{number}" for number in range(310)]


def test_sources_of_one_cron_begin_all_over_the_window() -> None:
    begins = Counter(moved(NIGHTLY, name).cron for name in NAMES)

    assert len(begins) == 31, "2:15 to 2:45"
    assert max(begins.values()) < 30, "of 10 at each minute on average"


def test_a_source_begins_at_the_same_time_whenever_it_is_asked() -> None:
    assert moved(NIGHTLY, "handbook") == moved(NIGHTLY, "handbook")
    assert (share("handbook", 31), moved(NIGHTLY, "handbook").cron) == (8, "23 2 * * *")


def test_no_run_is_further_from_the_one_before_than_without_jitter() -> None:
    for schedule in (NIGHTLY, Schedule(cron="0 3 * * 1-5", jitter=3_600), Schedule(rrule=RULE, jitter=3_600)):
        for name in NAMES[:20]:
            assert longest_wait([moved(schedule, name)], runs=2) == longest_wait([schedule], runs=2)


RULE = "FREQ=WEEKLY;BYDAY=MO;BYHOUR=3;BYMINUTE=0;BYSECOND=0"


@pytest.mark.parametrize(
    ("schedule", "places"),
    [
        (Schedule(cron="15 2 * * *", jitter=900), 16),
        (Schedule(cron="0,30 2 * * *", jitter=3_600), 31),
        (Schedule(cron="0 23 1 * *", jitter=7_200), 60),
        (Schedule(cron="50 23 * * *", jitter=86_400), 24 * 60 + 1),
        (Schedule(rrule=RULE, jitter=600), 11),
    ],
)
def test_of_the_window_the_minutes_count_at_which_all_of_it_can_begin(
    schedule: Schedule, places: int
) -> None:
    assert len(slots(schedule)) == places
    assert slots(schedule)[0] == 0


@pytest.mark.parametrize("schedule", [Schedule(cron="15 2 * * *"), Schedule(cron="15 2 * * *", jitter=0)])
def test_without_jitter_nothing_is_moved(schedule: Schedule) -> None:
    assert moved(schedule, "handbook") is schedule
    assert schedule_refusal(schedule) is None


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (Schedule(cron="15 2 * * *", jitter=59), "jitter of cron and rrule is from 1m to 24h"),
        (Schedule(cron="15 2 * * *", jitter=86_460), "jitter of cron and rrule is from 1m to 24h"),
        (Schedule(every=600, jitter=900), "jitter is longer than every"),
        (Schedule(cron="59 23 1 * *", jitter=900), "jitter has no room"),
        (Schedule(cron="0,59 2 * * *", jitter=900), "jitter has no room"),
        (Schedule(rrule="FREQ=DAILY;BYHOUR=23;BYMINUTE=59", jitter=900), "jitter has no room"),
    ],
)
def test_jitter_that_a_schedule_cannot_have_is_refused(schedule: Schedule, said: str) -> None:
    assert (schedule_refusal(schedule) or "").startswith(said)


def test_an_interval_may_have_any_jitter_within_itself() -> None:
    assert schedule_refusal(Schedule(every=10, jitter=10)) is None
