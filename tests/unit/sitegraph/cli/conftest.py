"""One index folder for all tests of the commands that read."""

from pathlib import Path

import pytest

from tests.fakes.disk_index import write_index
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.governance import governance_documents


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real index folder, as a run leaves it."""
    encoder = place_exported_encoder(tmp_path_factory.mktemp("encoder") / "default")
    return write_index(tmp_path_factory.mktemp("cli") / "index", *governance_documents(), encoder=encoder)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("INDEX", "NEO4J_URI", "LEDGER_URL", "MODEL", "GRAPH"):
        monkeypatch.delenv(f"SITEGRAPH_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
