"""Which ledger an index keeps, by name and without secrets."""

from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.own_ledger import FOLDER, find_ledger_place, keep_ledger_place, name_place
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
        ("postgresql:///l?hostaddr=10.0.0.1", "PostgreSQL at 10.0.0.1/l"),
        ("postgresql://h/l?hostaddr=10.0.0.1", "PostgreSQL at h (10.0.0.1)/l"),
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
    layout.ledger.touch()
    keep_ledger_place(layout, SERVER)
    found = find_ledger_place(layout, folder_url(layout))
    assert found.is_another
    assert not found.may_be_same
    assert "in PostgreSQL at db.example/ledger, not in the index folder" in str(found.refusal())
    assert not find_ledger_place(layout, SERVER).is_another
    assert find_ledger_place(layout, "postgresql://alias/ledger").may_be_same


def test_an_index_of_an_earlier_version_names_no_place(layout: IndexLayout) -> None:
    layout.ledger.touch()
    assert find_ledger_place(layout, folder_url(layout)).is_settled
    found = find_ledger_place(layout, SERVER)
    assert (found.kept, found.is_settled, found.is_another) == (None, False, False)


@pytest.mark.parametrize("kept", ["ledger.sqlite", "elsewhere.sqlite"])
def test_a_file_that_is_gone_from_its_place_may_be_anywhere(layout: IndexLayout, kept: str) -> None:
    file = layout.root / kept
    file.touch()
    keep_ledger_place(layout, f"sqlite:///{file}")
    for url in (SERVER, f"sqlite:///{layout.root / 'moved.sqlite'}"):
        assert not find_ledger_place(layout, url).may_be_same
    file.unlink()
    for url in (SERVER, f"sqlite:///{layout.root / 'moved.sqlite'}"):
        found = find_ledger_place(layout, url)
        assert found.may_be_same
        assert "set SITEGRAPH_LEDGER_URL to where it is" in str(found.refusal())


def test_only_a_run_is_told_how_to_make_the_ledger_again(layout: IndexLayout) -> None:
    """A copy of a server may be behind, and a reader of it must not be led to make a new ledger."""
    keep_ledger_place(layout, SERVER)
    found = find_ledger_place(layout, "postgresql://replica.example/ledger")
    assert "or that is a copy which is behind" in str(found.refusal())
    assert "delete" not in str(found.refusal())
    assert "delete ledger.json" in str(found.refusal(may_rebuild=True))


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b"\xff"])
def test_a_damaged_name_is_as_none(layout: IndexLayout, damaged: bytes) -> None:
    layout.ledger_place.write_bytes(damaged)
    assert not find_ledger_place(layout, SERVER).is_another
    keep_ledger_place(layout, SERVER)
    assert find_ledger_place(layout, SERVER).kept == "PostgreSQL at db.example/ledger"
