"""Which generations a policy keeps."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.publish.files import KeepPolicy, parse_keep, plan_kept
from schemas.documents import Ancestor
from schemas.errors import ConfigError


def made(number: int, at: datetime) -> Ancestor:
    """A generation of that time."""
    return Ancestor(generation=number, base=0, as_of=at.isoformat(), source="", run_id="", changes_kept=False)


def every(hours: int, count: int, *, end: datetime = datetime(2026, 3, 15, 12, tzinfo=UTC)) -> list[Ancestor]:
    """So many generations, one each so many hours, newest first."""
    times = [end - timedelta(hours=hours * n) for n in range(count)]
    return [made(count - n, at) for n, at in enumerate(times)]


@pytest.mark.parametrize(
    ("rules", "line", "kept"),
    [
        (None, every(1, 5), (3, 4, 5)),
        (None, every(1, 2), (1, 2)),
        ("within=24h", every(12, 10), (8, 9, 10)),
        ("within=2d", every(12, 10), (6, 7, 8, 9, 10)),
        ("daily=3", every(12, 10), (6, 8, 9, 10)),
        ("weekly=3", every(24, 30), (16, 23, 28, 29, 30)),
        ("monthly=2", every(24, 30), (15, 28, 29, 30)),
        ("yearly=1", every(24, 30), (28, 29, 30)),
        ("within=1w,monthly=12", every(24 * 7, 9), (2, 6, 7, 8, 9)),
    ],
)
def test_rules_add_up(rules: str | None, line: list[Ancestor], kept: tuple[int, ...]) -> None:
    assert plan_kept(line, parse_keep(rules, last=3)) == kept


def test_nothing_published_keeps_nothing() -> None:
    assert plan_kept([], parse_keep("daily=9", last=3)) == ()


@given(
    hours=st.integers(1, 300),
    count=st.integers(1, 60),
    policy=st.builds(
        KeepPolicy,
        last=st.integers(1, 5),
        within=st.timedeltas(timedelta(), timedelta(days=90)),
        periods=st.lists(
            st.tuples(st.sampled_from(["daily", "weekly", "monthly", "yearly"]), st.integers(1, 40)),
            unique_by=lambda rule: rule[0],
        ).map(tuple),
    ),
)
def test_pruning_again_and_again_never_gives_up_what_the_policy_names_of_all_that_was(
    hours: int, count: int, policy: KeepPolicy
) -> None:
    line = every(hours, count)
    left: list[Ancestor] = []
    for made in reversed(line):
        kept = set(plan_kept([made, *left], policy))
        assert made.generation in kept
        left = [one for one in (made, *left) if one.generation in kept]
    assert [one.generation for one in reversed(left)] == list(plan_kept(line, policy))


@pytest.mark.parametrize(
    "rules",
    [
        *("7d", "within=7", "daily=3d", "hourly=2", "daily=0", "daily=-1", "daily=2,daily=3"),
        *("within=1d,within=2d", "daily", "daily=3;weekly=2", ",", "daily=3,"),
    ],
)
def test_what_is_no_rule_is_refused_with_those_there_are(rules: str) -> None:
    with pytest.raises(ConfigError, match=r"SITEGRAPH_KEEP: .* is not a rule; .*weekly=52"):
        parse_keep(rules, last=3)
