"""An index and the ledger that its settings name."""

from contextlib import closing
from pathlib import Path

import pytest

from flows import wiring
from flows.wiring import open_index, pipeline_version
from indexes.embed.weights import ModelSpec
from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest, ModelManifest, dump_manifest
from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import ConfigError
from schemas.settings import Settings
from schemas.source import Source, SourceKind

MODEL = ModelManifest(name="tiny", sha256="0" * 64, dim=8, max_tokens=16)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The ledger of index `a`."""
    url = f"sqlite:///{tmp_path / 'ledger of a.sqlite'}"
    with closing(open_ledger(url)) as ledger:
        ledger.owner.claim("a")
    return url


def make_index(folder: Path, index_id: str) -> Path:
    folder.mkdir()
    manifest = IndexManifest(index_id=index_id, graph="lance", model=MODEL)
    IndexLayout(folder).manifest.write_text(dump_manifest(manifest))
    return folder


def test_no_index_is_made_for_the_ledger_of_another(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="SITEGRAPH_LEDGER_URL: names the ledger of another index"):
        open_index(Settings(index=str(tmp_path / "new"), ledger_url=url), index_id="b")

    assert not (tmp_path / "new").exists()


def test_an_index_that_is_there_is_not_opened_on_the_ledger_of_another(tmp_path: Path, url: str) -> None:
    opened = open_index(Settings(index=str(make_index(tmp_path / "b", "b")), ledger_url=url))

    with pytest.raises(ConfigError, match="give each index one of its own"):
        _ = opened.ledger


def test_an_index_is_opened_on_its_own(tmp_path: Path, url: str) -> None:
    with closing(open_index(Settings(index=str(make_index(tmp_path / "a", "a")), ledger_url=url))) as opened:
        assert opened.ledger.owner.index_id() == "a"


def test_documents_to_be_recognised_are_read_again_once_tesseract_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(ocr: tuple[str, ...], engine: str) -> str:
        monkeypatch.setattr(wiring, "engine", lambda: engine)
        return pipeline_version(model, Source(name="docs", kind=SourceKind.FILES, ocr=ocr))

    model = ModelSpec(name="tiny", path=Path("tiny"), sha256="0" * 64, dim=8, max_tokens=16)
    assert version((), "") == version((), "tesseract 5.3.0")
    assert len({version((), ""), version(("eng",), ""), version(("eng",), "tesseract 5.3.0")}) == 3
