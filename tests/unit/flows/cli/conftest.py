"""One index folder for all tests of the commands that read."""

from pathlib import Path

import pytest

from tests.fakes.disk_index import export_once, write_index
from tests.fakes.small_index import governance_documents


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A real index folder, as a run leaves it."""
    assert request.config.cache is not None
    encoder = export_once(request.config.cache.mkdir("encoder") / "default")
    return write_index(tmp_path_factory.mktemp("cli") / "index", *governance_documents(), encoder=encoder)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("INDEX", "NEO4J_URI", "LEDGER_URL", "MODEL", "GRAPH"):
        monkeypatch.delenv(f"SITEGRAPH_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
