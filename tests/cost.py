"""What each test costs: the CPU time of its process and of the programs that it ended.

What ends with the last test of a module, a server that all shared, is charged to none.

The dearest are printed after the last test. A test that takes more than `DEAR` seconds has to say why, by
`@pytest.mark.dear("reason")`: nobody else sees that a suite becomes slow.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

DEAR = 20.0
SHOWN = 50


def cpu_seconds() -> float:
    """The CPU seconds of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Meter:
    """Notes what each test of this process costs, on the report of its end."""

    def __init__(self) -> None:
        self._before = self._called = 0.0
        self._is_last = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Begin to count."""
        self._before = self._called = cpu_seconds()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Note whether more ends now than what this test began."""
        self._called, self._is_last = cpu_seconds(), nextitem is None or nextitem.path != item.path

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Note the cost where the test ends."""
        if call.when == "teardown":
            reason = item.get_closest_marker("dear")
            ended = self._called if self._is_last else cpu_seconds()
            item.user_properties.append(("cpu", round(ended - self._before, 3)))
            item.user_properties.append(("dear", reason.args[0] if reason else ""))


def costs_of(reports: Iterable[Any]) -> list[tuple[float, str, str]]:
    """The CPU seconds, the name and the reason of each test, dearest first."""
    found = []
    for report in reports:
        noted = dict(getattr(report, "user_properties", ()))
        if getattr(report, "when", "") == "teardown" and "cpu" in noted:
            found.append((noted["cpu"], report.nodeid, noted["dear"]))
    return sorted(found, reverse=True)


def unexplained(costs: Iterable[tuple[float, str, str]]) -> list[str]:
    """The names of tests that are dear and do not say why."""
    return [name for seconds, name, reason in costs if seconds > DEAR and not reason]


def print_costs(reporter: Any, kept_in: str | None) -> None:
    """Print the dearest tests; keep the costs of all in a file where one is named."""
    costs = costs_of(report for reports in reporter.stats.values() for report in reports)
    if kept_in:
        Path(kept_in).write_text(json.dumps(costs, indent=0))
    if len(costs) <= SHOWN:
        return
    reporter.section(f"the dearest of {len(costs)} tests, {sum(c[0] for c in costs):.0f} CPU seconds")
    for seconds, name, reason in costs[:SHOWN]:
        reporter.write_line(f"{seconds:7.1f}  {name}  {reason}")
    for name in unexplained(costs):
        reporter.write_line(f"more than {DEAR:.0f} CPU seconds without @pytest.mark.dear(reason): {name}")
