"""The program on one Prefect server, and a table of what was measured, shown at the end."""

import os
from collections.abc import Iterator

import pytest

from tests.fakes.prefect_server import prefect_server
from tests.fakes.sitegraph_runs import sitegraph

__all__ = ["prefect_server", "sitegraph"]

# Prefect reads these when it is imported.
os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
os.environ.setdefault("PREFECT_LOGGING_TO_API_ENABLED", "false")

_LINES = pytest.StashKey[list[str]]()


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Lines that the end of the test run shows, however the test ends."""
    lines: list[str] = []
    yield lines
    request.config.stash.setdefault(_LINES, []).extend(lines)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show what was measured."""
    if lines := config.stash.get(_LINES, []):
        terminalreporter.section("measured")
        terminalreporter.write_line("\n".join(lines))
