"""One index folder for all tests of `python -m retrieval`."""

from pathlib import Path

import pytest

from tests.fakes.disk_index import write_index
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.governance import governance_documents


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real index folder, as a run leaves it."""
    encoder = place_exported_encoder(tmp_path_factory.mktemp("encoder") / "default")
    return write_index(tmp_path_factory.mktemp("light") / "index", *governance_documents(), encoder=encoder)
