"""One Prefect server, one program on it, and a fresh handbook for each test that asks."""

import os
from collections.abc import Iterator

import pytest

from tests.fakes.handbook import Handbook, serve_handbook
from tests.fakes.prefect_server import prefect_server, process_worker
from tests.fakes.sitegraph_runs import sitegraph

__all__ = ["prefect_server", "process_worker", "sitegraph"]

# Prefect reads these when it is imported: what matters of a failing test is not in its logs.
os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
os.environ.setdefault("PREFECT_LOGGING_TO_API_ENABLED", "false")


@pytest.fixture
def handbook() -> Iterator[Handbook]:
    """A site of ten pages."""
    with serve_handbook() as served:
        yield served
