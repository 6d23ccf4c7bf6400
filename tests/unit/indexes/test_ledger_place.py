"""Which ledger an index keeps, by name and without secrets."""

from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.ledger_place import FOLDER, find_ledger_place, keep_ledger_place, name_place
from schemas.errors import ConfigError

SERVER = "postgresql://someone:secret@db.example:5432/ledger?sslmode=require"


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    return IndexLayout(tmp_path)


def folder_url(layout: IndexLayout) -> str:
    return f"sqlite:///{layout.ledger}"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (SERVER, "PostgreSQL at db.example/ledger"),
        ("postgresql+psycopg://h:6543/l", "PostgreSQL at h:6543/l"),
        ("postgresql:///l?host=a&port=6000", "PostgreSQL at a:6000/l"),
        ("postgresql:///l?host=b", "PostgreSQL at b/l"),
        ("postgresql://someone@h", "PostgreSQL at h/someone"),
        ("postgresql://h/l?options=-csearch_path%3Dx", "PostgreSQL at h (-csearch_path=x)/l"),
        ("sqlite:////var/lib/l.sqlite", "the file /var/lib/l.sqlite"),
    ],
)
def test_a_ledger_is_named_without_user_and_password(layout: IndexLayout, url: str, name: str) -> None:
    assert name_place(layout, url) == name


def test_each_spelling_of_the_file_in_the_folder_names_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = IndexLayout(tmp_path / "index")
    layout.root.mkdir()
    (tmp_path / "link").symlink_to(layout.root)
    monkeypatch.chdir(tmp_path)
    for path in ("index/ledger.sqlite", f"{tmp_path}//index/ledger.sqlite", f"{tmp_path}/link/ledger.sqlite"):
        assert name_place(layout, f"sqlite:///{path}?timeout=30") == FOLDER, path


def test_what_is_no_url_of_a_ledger_is_refused(layout: IndexLayout) -> None:
    with pytest.raises(ConfigError):
        name_place(layout, "mysql://h/l")


def test_a_ledger_in_the_folder_stays_its_own_where_the_folder_moves(tmp_path: Path) -> None:
    before, after = IndexLayout(tmp_path / "a"), IndexLayout(tmp_path / "b")
    keep_ledger_place(before, folder_url(before))
    before.root.rename(after.root)
    assert not find_ledger_place(after, folder_url(after)).is_another


def test_another_place_is_noticed_and_then_kept(layout: IndexLayout) -> None:
    keep_ledger_place(layout, SERVER)
    found = find_ledger_place(layout, folder_url(layout))
    assert found.is_another
    assert not found.may_be_same
    assert "in PostgreSQL at db.example/ledger, not in the index folder" in str(found.refusal())
    assert not find_ledger_place(layout, SERVER).is_another
    assert find_ledger_place(layout, "postgresql://alias/ledger").may_be_same


def test_an_index_of_an_earlier_version_keeps_its_ledger_where_the_file_is(layout: IndexLayout) -> None:
    assert not find_ledger_place(layout, SERVER).is_another
    layout.ledger.touch()
    assert find_ledger_place(layout, SERVER).kept == FOLDER


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b"\xff"])
def test_a_damaged_name_is_as_none(layout: IndexLayout, damaged: bytes) -> None:
    layout.ledger_place.write_bytes(damaged)
    assert not find_ledger_place(layout, SERVER).is_another
    keep_ledger_place(layout, SERVER)
    assert find_ledger_place(layout, SERVER).kept == "PostgreSQL at db.example/ledger"
