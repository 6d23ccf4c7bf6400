"""What the ledger says when its database is missing, broken, gone or busy: one line, and no secret."""

import os
import shutil
import socket
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.errors import ConfigError, DamageFound, SchemaMismatch, StoreUnavailable
from tests.fakes.ledger_rows import SECRET, make_known, refuses
from tests.fakes.read_only import only_readable


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        "ledger.sqlite",
        "http://site.test/ledger",
        f"mysql://me:{SECRET}@127.0.0.1/ledger",
        f"postgresql://me:{SECRET}@127.0.0.1:port/ledger",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
def test_what_is_no_url_of_a_database_is_a_wrong_setting(url: str) -> None:
    assert "SITEGRAPH_LEDGER_URL" in refuses(url, ConfigError)


def test_a_ledger_that_may_not_be_written_says_who_must_be_able_to(tmp_path: Path) -> None:
    with (
        closing(open_ledger(f"sqlite:///{tmp_path}/ledger.sqlite")) as ledger,
        ledger.engine.connect() as connection,
    ):
        connection.exec_driver_sql("PRAGMA query_only=ON")
        with pytest.raises(StoreUnavailable, match="commands that change the index must be able to write"):
            connection.exec_driver_sql("DELETE FROM run")


def test_a_folder_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    assert "unable to open" in refuses(f"sqlite:///{tmp_path}/nowhere/ledger.sqlite", StoreUnavailable)


@pytest.mark.parametrize("size", [100, 10_000])
def test_a_file_that_is_no_database_is_damage(tmp_path: Path, size: int) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"%PDF-1.7 " * size)

    assert "not a database" in refuses(f"sqlite:///{path}", DamageFound)
    assert path.read_bytes() == b"%PDF-1.7 " * size


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    """A ledger, one whose writer was killed, and a database of somebody else; none may be written."""
    folder = tmp_path / "index"
    folder.mkdir()
    with sqlite3.connect(folder / "old.sqlite") as old:
        old.execute("CREATE TABLE made_by_somebody_else (x)")
    old.close()
    with closing(open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}")) as ledger:
        ledger.documents.save([make_known("a")])
    with closing(open_ledger(f"sqlite:///{tmp_path / 'live.sqlite'}")) as ledger:
        ledger.documents.save([make_known("late")])
        for end in ("", "-wal", "-shm"):
            shutil.copy(tmp_path / f"live.sqlite{end}", folder / f"killed.sqlite{end}")
    with only_readable(folder):
        yield folder


def test_no_ledger_is_made_in_a_folder_that_is_read_only(read_only_folder: Path) -> None:
    refuses(f"sqlite:///{read_only_folder / 'new.sqlite'}", StoreUnavailable)


def test_a_ledger_that_may_only_be_read_is_read_and_refuses_what_writes(read_only_folder: Path) -> None:
    with closing(open_ledger(f"sqlite:///{read_only_folder / 'ledger.sqlite'}")) as ledger:
        assert [known.uri for known in ledger.documents.of_source("site")] == [make_known("a").uri]
        assert ledger.leases.holder("index", now="2030-01-01T00:00:00+00:00") is None
        with pytest.raises(StoreUnavailable, match="commands that change the index must be able to write"):
            ledger.documents.save([make_known("b")])


def test_what_a_killed_writer_left_in_the_log_is_read_too(read_only_folder: Path) -> None:
    with closing(open_ledger(f"sqlite:///{read_only_folder / 'killed.sqlite'}")) as ledger:
        assert [known.uri for known in ledger.documents.of_source("site")] == [make_known("late").uri]


def test_who_may_not_write_sees_what_another_one_writes_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    url = f"sqlite:///{folder / 'ledger.sqlite'}"
    with closing(open_ledger(url)) as writing:
        writing.documents.save([make_known("0")])
    with only_readable(folder):
        reading = open_ledger(url, read_only=True)
        assert reading.documents.count("site") == 1
    with closing(open_ledger(url)) as writing:
        writing.documents.save([make_known(str(number)) for number in range(2000)])
    with only_readable(folder), closing(reading):
        assert len(reading.documents.of_source("site")) == 2000


def test_a_read_only_database_without_our_tables_is_named(read_only_folder: Path) -> None:
    with (
        closing(open_ledger(f"sqlite:///{read_only_folder / 'old.sqlite'}")) as ledger,
        pytest.raises(SchemaMismatch, match="another version"),
    ):
        ledger.documents.of_source("site")


def test_tables_of_another_version_are_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ledger.sqlite") as old:
        old.execute("CREATE TABLE document (source TEXT, uri TEXT, PRIMARY KEY (source, uri))")
    old.close()

    with pytest.raises(SchemaMismatch, match="another version"):
        open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")


def test_a_file_that_breaks_under_way_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = open_ledger(f"sqlite:///{path}")
    ledger.documents.save([make_known(str(number)) for number in range(500)])
    ledger.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))

    with pytest.raises((DamageFound, SchemaMismatch), match=r"ledger\.sqlite"):
        ledger.documents.of_source("site")


def test_a_folder_that_goes_away_is_unavailable(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    ledger = open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}")
    ledger.engine.dispose()
    shutil.rmtree(folder)

    with pytest.raises(StoreUnavailable, match=r"ledger\.sqlite"):
        ledger.documents.states()


def test_a_database_that_stays_locked_is_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = open_ledger(f"sqlite:///{path}")
    ledger.close()
    sa.event.listen(ledger.engine, "connect", lambda raw, _: raw.execute("PRAGMA busy_timeout=50"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable, match="locked"):
        ledger.documents.save([make_known("a")])
    other.rollback()
    ledger.documents.save([make_known("a")])
    other.close()


def test_a_port_where_nobody_listens_is_unavailable() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        said = refuses(f"postgresql://me:{SECRET}@127.0.0.1:{port}/ledger", StoreUnavailable)

    assert f"127.0.0.1:{port}" in said
    assert "refused" in said


def test_many_may_open_a_new_ledger_at_once(ledger_url: str) -> None:
    together = threading.Barrier(8)

    def open_and_save(number: int) -> None:
        together.wait(120)
        opened = open_ledger(ledger_url)
        opened.documents.save([make_known(str(number))])
        opened.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(open_and_save, range(8)))

    ledger = open_ledger(ledger_url)
    assert ledger.documents.count("site") == 8
    ledger.close()


def test_a_fault_of_the_program_is_not_dressed_up(ledger: Ledger) -> None:
    with pytest.raises(sa.exc.IntegrityError), ledger.engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO document (source) VALUES ('site')"))
