"""A new index is made once, whole, whoever else makes it and whatever ends the making."""

import json
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from flows.run.index import Index, open_index
from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import ConfigError
from schemas.settings import Settings
from tests.fakes.racing_creators import is_whole, race

KILL = """
import json, sys
from flows.run.index import open_index
from schemas.settings import Settings
open_index(Settings(**json.loads(sys.argv[1])), index_id="killed")
"""
POINTS = ("create.stores_made", "create.before_manifest", "create.before_claim")


def write_model(folder: Path, *, dim: int = 8) -> str:
    """What is read of a model when an index is made; nothing of it can encode."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"hidden_size": dim, "max_position_embeddings": 16}))
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).write_text(f"{name} of {dim}")
    return str(folder)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(index=str(tmp_path / "index"), model=write_model(tmp_path / "model"))


def opened(settings: Settings, index_id: str) -> Index:
    index = open_index(settings, index_id=index_id)
    index.ledger.owner.claim(index.manifest.index_id)
    return index


@pytest.mark.parametrize("exists", [False, True])
def test_of_processes_that_make_one_index_at_once_all_open_the_same(
    settings: Settings, tmp_path: Path, exists: bool
) -> None:
    folders = [tmp_path / "shelf" / str(number) for number in range(10)]
    for folder in folders if exists else ():
        folder.mkdir(parents=True)

    found = race([replace(settings, index=str(folder)) for folder in folders], processes=3)

    assert [len(set(names)) for names in found] == [1] * len(folders), found
    for folder, (name, *_) in zip(folders, found, strict=True):
        assert json.loads((folder / "index.json").read_text())["index_id"] == name
        assert is_whole(folder)


@pytest.mark.postgres
def test_of_processes_that_make_one_index_at_once_all_claim_one_ledger(
    settings: Settings, postgres_url: str
) -> None:
    (found,) = race([replace(settings, ledger_url=postgres_url)], processes=3)

    assert len(set(found)) == 1, found
    with closing(open_ledger(postgres_url)) as ledger:
        assert ledger.owner.index_id() == found[0]


@pytest.mark.parametrize("point", POINTS)
def test_a_making_that_is_killed_does_not_block_the_next(
    settings: Settings, tmp_path: Path, point: str
) -> None:
    """Nor does another model, whose vectors have another width; the ledger is outside of the folder."""
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    doomed = {"index": settings.index, "model": settings.model, "ledger_url": url, "fault": f"{point}:kill"}
    done = subprocess.run([sys.executable, "-c", KILL, json.dumps(doomed)], check=False)
    assert done.returncode == -9, "the point was not reached"
    other = write_model(tmp_path / "other", dim=16)

    with closing(opened(replace(settings, ledger_url=url, model=other), "next")) as index:
        made = "killed" if point == "create.before_claim" else "next"
        assert (index.manifest.index_id, index.ledger.owner.index_id()) == (made, made)
        assert index.manifest.model.dim == (8 if made == "killed" else 16)
        assert list(index.chunks.at(0).scan()) == []
    assert made == "killed" or is_whole(index.layout.root)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("exists", [False, True])
def test_a_making_that_fails_leaves_nothing(settings: Settings, point: str, exists: bool) -> None:
    folder = Path(settings.index)
    if exists:
        folder.mkdir()

    with pytest.raises(RuntimeError, match="on purpose"):
        open_index(replace(settings, fault=f"{point}:raise"), index_id="a")

    assert folder.exists() is exists
    assert not exists or list(folder.iterdir()) == []
    with closing(opened(settings, "b")) as index:
        assert index.manifest.index_id == "b"


def test_what_a_killed_making_was_writing_goes_with_the_next(settings: Settings) -> None:
    folder = Path(settings.index)
    folder.mkdir()
    for name in (".CURRENT.7.9.new", ".index.json.7.9.new"):
        (folder / name).touch()

    with closing(opened(settings, "b")):
        assert not list(folder.glob(".*.new"))


def test_a_folder_that_cannot_be_made_is_said(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    with pytest.raises(ConfigError, match="is a file; choose another --index"):
        open_index(replace(settings, index=str(tmp_path / "file" / "index")), index_id="a")


def test_a_ledger_that_another_index_takes_meanwhile_leaves_no_index(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"

    def overtaken(*_: object) -> None:
        with closing(open_ledger(url)) as ledger:
            ledger.owner.claim("faster")

    monkeypatch.setattr("flows.run.create_index.create_stores", overtaken)

    with pytest.raises(ConfigError, match="ledger of another index"):
        open_index(replace(settings, ledger_url=url), index_id="slower")

    assert not Path(settings.index).exists()
