"""Which ledger an index takes for its own, and that none is made by those who only look."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from indexes.layout import IndexLayout, IndexManifest, ModelManifest, dump_manifest
from indexes.own_ledger import keep_ledger_place, open_own_ledger, refuse_another_ledger, tell_damaged_ledger
from indexes.publish.current import write_current
from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import ConfigError, DamageFound, SchemaMismatch, StoreUnavailable

MODEL = ModelManifest(name="tiny", sha256="0" * 64, dim=8, max_tokens=16)
AS_OF = "2026-03-01T12:00:00+00:00"


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    """An index whose readers see generation 2."""
    layout = IndexLayout(tmp_path / "index")
    layout.root.mkdir()
    layout.manifest.write_text(dump_manifest(IndexManifest(index_id="i", graph="lance", model=MODEL)))
    write_current(layout.root, 2)
    return layout


def write_ledger(file: Path, *, index_id: str | None = "i", generations: int = 2) -> str:
    """Make a ledger that knows so many generations, and give its URL."""
    url = f"sqlite:///{file}"
    with closing(open_ledger(url)) as ledger:
        if index_id is not None:
            ledger.owner.claim(index_id)
        for base in range(generations):
            number = ledger.generations.begin(base=base, source="s", run_id="r", token=1, as_of=AS_OF)
            ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=(), details={})
            ledger.generations.mark(number, GenerationState.PUBLISHED)
    return url


def is_refused(layout: IndexLayout, url: str) -> bool:
    try:
        refuse_another_ledger(layout, url, index_id="i")
    except ConfigError:
        return True
    return False


@pytest.mark.parametrize(
    ("owner", "generations", "counts"),
    [("i", 2, True), ("i", 1, False), ("i", 0, False), (None, 0, False), ("j", 2, False)],
)
def test_of_an_index_that_names_no_place_the_file_counts_that_knows_what_readers_see(
    layout: IndexLayout, tmp_path: Path, owner: str | None, generations: int, counts: bool
) -> None:
    write_ledger(layout.ledger, index_id=owner, generations=generations)
    assert is_refused(layout, write_ledger(tmp_path / "real.sqlite")) is counts


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_a_file_that_cannot_be_read_keeps_no_index_from_its_ledger(
    layout: IndexLayout, tmp_path: Path, content: bytes
) -> None:
    layout.ledger.write_bytes(content)
    assert not is_refused(layout, write_ledger(tmp_path / "real.sqlite"))
    assert layout.ledger.read_bytes() == content


@pytest.mark.parametrize("kept", ["index/ledger.sqlite", "data/ledger.sqlite"])
def test_a_file_that_was_moved_is_the_same_ledger(layout: IndexLayout, tmp_path: Path, kept: str) -> None:
    (tmp_path / "data").mkdir()
    write_ledger(tmp_path / kept)
    keep_ledger_place(layout, f"sqlite:///{tmp_path / kept}")
    moved = f"sqlite:///{(tmp_path / kept).rename(tmp_path / 'moved.sqlite')}"

    assert not is_refused(layout, moved)
    assert is_refused(layout, write_ledger(tmp_path / "of_another_index.sqlite", index_id="j"))
    assert is_refused(layout, write_ledger(tmp_path / "behind.sqlite", generations=1))
    assert is_refused(layout, f"sqlite:///{tmp_path / 'nowhere.sqlite'}")

    write_ledger(tmp_path / kept)
    assert is_refused(layout, moved), "while there is one at the old place, one of them is behind"


def test_a_lost_ledger_and_one_that_is_set_instead_have_one_remedy(
    layout: IndexLayout, tmp_path: Path
) -> None:
    keep_ledger_place(layout, f"sqlite:///{layout.ledger}")
    remedy = "set SITEGRAPH_LEDGER_URL to where it is"
    with pytest.raises(StoreUnavailable, match=remedy):
        open_own_ledger(layout, None)
    with pytest.raises(ConfigError, match=remedy):
        open_own_ledger(layout, write_ledger(tmp_path / "empty.sqlite", index_id=None, generations=0))
    open_own_ledger(layout, write_ledger(tmp_path / "found.sqlite")).close()


def test_a_ledger_of_another_version_is_not_taken_for_another_ledger(
    layout: IndexLayout, tmp_path: Path
) -> None:
    keep_ledger_place(layout, f"sqlite:///{layout.ledger}")
    url = write_ledger(tmp_path / "moved.sqlite")
    with closing(sqlite3.connect(tmp_path / "moved.sqlite")) as connection:
        connection.execute("ALTER TABLE generation RENAME COLUMN base TO older")
    with pytest.raises(SchemaMismatch, match="another version"):
        refuse_another_ledger(layout, url, index_id="i")


@pytest.mark.parametrize("exists", [False, True])
def test_no_ledger_is_made_for_what_readers_see(layout: IndexLayout, exists: bool) -> None:
    if exists:
        layout.ledger.touch()
    before = sorted(layout.root.iterdir())
    with pytest.raises(
        DamageFound, match="set SITEGRAPH_LEDGER_URL to where it is, or, if it is lost, repair"
    ):
        open_own_ledger(layout, None, lost=tell_damaged_ledger)
    assert sorted(layout.root.iterdir()) == before
    assert not exists or layout.ledger.stat().st_size == 0
