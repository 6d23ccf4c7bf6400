"""One index folder for all tests of the light door."""

from pathlib import Path

import pytest

from tests.fakes.disk_index import export_once, write_index
from tests.fakes.small_index import governance_documents


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A real index folder, as a run leaves it."""
    assert request.config.cache is not None
    encoder = export_once(request.config.cache.mkdir("encoder") / "default")
    return write_index(tmp_path_factory.mktemp("light") / "index", *governance_documents(), encoder=encoder)
