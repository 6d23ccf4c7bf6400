"""One Prefect server, one program on it, and one handbook that each test finds as the first run saw it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.copies import copy_index
from tests.fakes.handbook import Handbook, serve_handbook, write_source
from tests.fakes.prefect_server import prefect_server, process_worker
from tests.fakes.sitegraph_runs import Sitegraph, on_prefect, sitegraph, tiny

__all__ = ["on_prefect", "prefect_server", "process_worker", "sitegraph", "tiny"]

# Prefect reads these when it is imported: what matters of a failing test is not in its logs.
os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
os.environ.setdefault("PREFECT_LOGGING_TO_API_ENABLED", "false")


@pytest.fixture(scope="session")
def served() -> Iterator[Handbook]:
    """One site of ten pages for all tests, so that one first run does for all of them."""
    with serve_handbook() as handbook:
        yield handbook


@pytest.fixture
def handbook(served: Handbook) -> Iterator[Handbook]:
    """The site as it was at the first run, and again afterwards."""
    articles, pages, footer = dict(served.articles), dict(served.site.pages), served.footer
    served.site.log.clear()
    yield served
    served.articles, served.site.pages, served.footer = articles, pages, footer


@pytest.fixture
def source(handbook: Handbook, tmp_path: Path) -> Path:
    """The source file of the handbook."""
    return write_source(tmp_path, handbook)


@pytest.fixture(scope="session")
def first_index(sitegraph: Sitegraph, served: Handbook, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handbook's index at generation 1; it is copied, never written to."""
    folder = tmp_path_factory.mktemp("first")
    assert sitegraph.run(write_source(folder, served), folder / "index")["generation"] == 1
    return folder / "index"


@pytest.fixture
def index(first_index: Path, tmp_path: Path) -> Path:
    """A copy of the index after the first run."""
    return copy_index(first_index, tmp_path / "index")
