"""What only the cache on disk can get wrong."""

import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event

from indexes.embed.cache import SqliteVectorCache
from schemas.errors import DamageFound, NoRoom, StoreUnavailable
from tests.fakes.encoder import HashEncoder
from tests.fakes.read_only import only_readable

ENCODER = HashEncoder()
REPO = Path(__file__).resolve().parents[4]


def _put(cache: SqliteVectorCache, *texts: str) -> None:
    cache.put(texts, ENCODER.encode_documents(texts))


def test_vectors_outlive_the_process_that_kept_them(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    script = """
import os, signal, sys
from pathlib import Path
from tests.unit.indexes.embed import test_cache as t
cache = t.SqliteVectorCache(Path(sys.argv[1]), model_key="m")
t._put(cache, "kept")
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", script, str(path)], cwd=REPO, check=False)

    assert killed.returncode == -signal.SIGKILL
    assert SqliteVectorCache(path, model_key="m").missing(["kept", "other"]) == ("other",)


def test_a_cache_that_may_only_be_read_tells_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "index" / "vectors.sqlite"
    cache = SqliteVectorCache(path, model_key="m")
    _put(cache, "kept")
    cache.close()

    with only_readable(path.parent):
        reading = SqliteVectorCache(path, model_key="m")
        assert reading.missing(["kept", "other"]) == ("other",)
        with pytest.raises(StoreUnavailable, match="readonly"):
            _put(reading, "other")


def test_a_commit_is_flushed_to_the_disk(tmp_path: Path) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite", model_key="m")

    with cache._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_models_do_not_see_each_others_vectors(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    _put(SqliteVectorCache(path, model_key="model-a"), "text")

    assert SqliteVectorCache(path, model_key="model-a").missing(["text"]) == ()
    assert SqliteVectorCache(path, model_key="model-b").missing(["text"]) == ("text",)


def test_a_key_and_a_text_cannot_run_into_each_other(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    _put(SqliteVectorCache(path, model_key="model"), "-a text")

    assert SqliteVectorCache(path, model_key="model-a").missing([" text"]) == (" text",)


def test_vectors_are_kept_as_little_endian_float32(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    SqliteVectorCache(path, model_key="m").put(["text"], np.array([[1.0, 0.5]], np.float32))

    with sqlite3.connect(path) as connection:
        ((blob,),) = connection.execute("SELECT vector FROM vector")
    assert blob == bytes.fromhex("0000803f0000003f")


def test_two_writers_at_once_keep_everything(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    caches = [SqliteVectorCache(path, model_key="m") for _ in range(2)]

    def keep(cache: SqliteVectorCache, name: str) -> None:
        for number in range(30):
            _put(cache, f"{name} {number}", f"both {number}")

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(keep, caches, "ab"))

    texts = [f"{name} {number}" for name in ("a", "b", "both") for number in range(30)]
    assert caches[0].missing(texts) == ()


def test_a_file_that_is_no_database_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"not a database at all" * 100)

    with pytest.raises(DamageFound, match=r"vectors\.sqlite.*delete the file"):
        SqliteVectorCache(path, model_key="m")


def test_a_folder_in_its_place_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "vectors.sqlite").mkdir()

    with pytest.raises(StoreUnavailable, match=r"vectors\.sqlite"):
        SqliteVectorCache(tmp_path / "vectors.sqlite", model_key="m")


def test_a_full_disk_is_said_as_such_and_keeps_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    cache = SqliteVectorCache(path, model_key="m")
    _put(cache, "early")
    with cache._engine.connect() as connection:  # the limit holds for this pooled connection
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    with pytest.raises(NoRoom, match="the disk is full"):
        _put(cache, *(f"late {number}" for number in range(500)))

    assert cache.missing(["early", "late 1"]) == ("late 1",)


def test_many_texts_are_looked_up_by_few_statements(tmp_path: Path) -> None:
    cache = SqliteVectorCache(tmp_path / "vectors.sqlite", model_key="m")
    statements: list[str] = []
    event.listen(cache._engine, "before_cursor_execute", lambda *call: statements.append(call[2]))

    assert len(cache.missing(f"text {number}" for number in range(5_000))) == 5_000
    assert len(statements) == 10


def _get(cache: SqliteVectorCache, *texts: str) -> dict[str, list[float]]:
    return {text: vector.tolist() for text, vector in cache.get(texts).items()}


def test_vectors_that_changed_places_are_missing_and_are_encoded_again(tmp_path: Path) -> None:
    """Each is a sound vector, of another text: nothing but a checksum over both can tell."""
    path = tmp_path / "vectors.sqlite"
    cache = SqliteVectorCache(path, model_key="m")
    _put(cache, "one", "two", "three")
    before = _get(cache, "one", "two", "three")
    with sqlite3.connect(path) as connection:
        rows = dict(connection.execute("SELECT rowid, vector FROM vector"))
        for rowid, other in ((1, 2), (2, 1)):
            connection.execute("UPDATE vector SET vector = ? WHERE rowid = ?", (rows[other], rowid))
    connection.close()

    missing = cache.missing(["one", "two", "three"])
    assert cache.damaged() == 2
    _put(cache, *missing)

    assert len(missing) == 2
    assert _get(cache, "one", "two", "three") == before
    assert cache.damaged() == 0


def test_one_bit_that_flips_in_a_vector_makes_it_missing(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    cache = SqliteVectorCache(path, model_key="m")
    _put(cache, "text")
    with sqlite3.connect(path) as connection:
        ((blob,),) = connection.execute("SELECT vector FROM vector")
        connection.execute("UPDATE vector SET vector = ?", (bytes([blob[0] ^ 1]) + blob[1:],))
    connection.close()

    assert cache.missing(["text"]) == ("text",)
    with pytest.raises(KeyError):
        cache.get(["text"])
    cache.drop_damaged()
    assert (cache.damaged(), cache.missing(["text"])) == (0, ("text",))


def _write_as_earlier_versions_did(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE vector (key BLOB NOT NULL PRIMARY KEY, vector BLOB NOT NULL)")
        key = SqliteVectorCache(path.with_name("other.sqlite"), model_key="m")._key("old")
        connection.execute("INSERT INTO vector VALUES (?, ?)", (key, b"\0\0\0\0"))
    connection.close()


def test_vectors_of_an_earlier_version_have_no_checksum_and_are_encoded_again(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    _write_as_earlier_versions_did(path)

    cache = SqliteVectorCache(path, model_key="m")
    assert cache.missing(["old"]) == ("old",)
    assert cache.damaged() == 0
    _put(cache, "old")

    assert SqliteVectorCache(path, model_key="m").missing(["old"]) == ()


def test_a_cache_of_an_earlier_version_that_may_only_be_read_is_empty(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    _write_as_earlier_versions_did(folder / "vectors.sqlite")

    with only_readable(folder):
        assert SqliteVectorCache(folder / "vectors.sqlite", model_key="m").missing(["old"]) == ("old",)


def test_a_page_of_zeros_is_a_fault_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    cache = SqliteVectorCache(path, model_key="m")
    _put(cache, *(f"text {number}" for number in range(300)))
    cache.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole, unseen = path.read_bytes(), []
    for page in range(1, len(whole) // 4096):
        path.write_bytes(whole[: page * 4096] + bytes(4096) + whole[(page + 1) * 4096 :])
        try:
            if not SqliteVectorCache(path, model_key="m").damaged():
                unseen.append(page)
        except DamageFound:
            continue

    assert unseen == []


def test_token_vectors_that_rotted_are_missing_and_are_dropped_alone(tmp_path: Path) -> None:
    path, vectors = tmp_path / "vectors.sqlite", np.eye(2, dtype=np.float32)
    cache = SqliteVectorCache(path, model_key="m", token_dim=2)
    cache.put(["one", "two"], vectors, [vectors.astype(np.float16), vectors.astype(np.float16)])
    with sqlite3.connect(path) as connection:
        ((rowid, blob), _) = connection.execute("SELECT rowid, vector FROM token_vectors ORDER BY rowid")
        flipped = bytes([blob[0] ^ 1]) + blob[1:]
        connection.execute("UPDATE token_vectors SET vector = ? WHERE rowid = ?", (flipped, rowid))
    connection.close()

    assert len(cache.missing(["one", "two"])) == 1
    assert cache.damaged() == 1
    cache.drop_damaged()
    assert cache.damaged() == 0
    assert SqliteVectorCache(path, model_key="m").missing(["one", "two"]) == ()


def test_a_file_of_an_earlier_version_gets_a_place_for_token_vectors(tmp_path: Path) -> None:
    path, vectors = tmp_path / "vectors.sqlite", np.eye(2, dtype=np.float32)
    SqliteVectorCache(path, model_key="m").put(["one"], vectors[:1])
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE token_vectors")
    connection.close()

    cache = SqliteVectorCache(path, model_key="m", token_dim=2)

    assert cache.missing(["one"]) == ("one",)
    cache.put(["one"], vectors[:1], [vectors.astype(np.float16)])
    assert np.array_equal(cache.tokens(["one"])["one"], vectors)
