"""What only object storage can get wrong."""

import sys
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest

from indexes.stores.objects import ObjectRawStore, check_object_url, open_object_store
from indexes.stores.packing import place_of
from indexes.stores.raw import FileRawStore
from schemas.errors import ConfigError, DamageFound, StoreUnavailable
from tests.fakes.object_storage import SECRET, s3_environment
from tests.fakes.prefect_server import free_port

PAGE = b"<html><body>Hello</body></html>" * 100
ROOT = "objects/of/an/index"


@pytest.fixture
def files() -> fsspec.AbstractFileSystem:
    """A file system in memory with nothing in it."""
    files = fsspec.filesystem("memory", skip_instance_cache=True)
    files.store.clear()
    return files


def test_it_lays_out_a_prefix_as_files_are_laid_out(files: fsspec.AbstractFileSystem, tmp_path: Path) -> None:
    """So the folder of an index may be copied there as it is."""
    kept = FileRawStore(tmp_path).put(PAGE)
    files.put(str(tmp_path), f"/{ROOT}", recursive=True)

    store = ObjectRawStore(files, ROOT)

    assert store.get(kept) == PAGE
    assert store.put(PAGE) == kept
    assert not store.has_grown


@pytest.mark.parametrize("place", [0, 10, -1])
def test_a_flipped_bit_is_found_on_reading_and_put_right_by_keeping(
    files: fsspec.AbstractFileSystem, place: int
) -> None:
    store = ObjectRawStore(files, ROOT)
    sha256 = store.put(PAGE)
    path = f"/{ROOT}/{place_of(sha256)}"
    damaged = bytearray(files.cat_file(path))
    damaged[place] ^= 0x40
    files.pipe_file(path, bytes(damaged))

    with pytest.raises(DamageFound, match=f"memory://.*{sha256}"):
        store.get(sha256)
    assert not store.has(sha256)

    store.put(PAGE)
    assert store.get(sha256) == PAGE


def test_what_lies_beside_the_prefix_stays(files: fsspec.AbstractFileSystem) -> None:
    files.pipe_file(f"/{ROOT}-of-another/{place_of('ab' * 32)}", b"theirs")
    store = ObjectRawStore(files, ROOT)
    store.put(PAGE)

    assert store.drop_all_but([]) == 1
    assert [path for path in files.find("/objects") if "another" in path] != []


@pytest.mark.parametrize("url", ["s3://bucket", "s3://bucket/", "s3://my.bucket-1/some/prefix"])
def test_a_bucket_and_a_prefix_are_a_place(url: str) -> None:
    check_object_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "s3://",
        "s3:///prefix",
        "/srv/bytes",
        "file:///srv/bytes",
        "memory://bytes",
        "gs://bucket",
        "s3://key:word@bucket",
        "s3://bucket:9000/prefix",
        "s3://bucket/prefix?secret=word",
        "s3://bucket/prefix#word",
    ],
)
def test_anything_else_is_refused_with_what_to_do_and_no_secret(url: str) -> None:
    with pytest.raises(ConfigError, match=r"SITEGRAPH_RAW_URL: .*s3://BUCKET.*AWS_ACCESS_KEY_ID") as refused:
        check_object_url(url)
    assert "word" not in str(refused.value)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    monkeypatch.setitem(sys.modules, "s3fs", None)

    with pytest.raises(ConfigError, match=r"sitegraph\[s3\]"):
        open_object_store("s3://bucket")


def test_a_server_that_does_not_answer_is_no_proof_that_bytes_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    for name, value in s3_environment(f"http://127.0.0.1:{free_port()}").items():
        monkeypatch.setenv(name, value)

    with pytest.raises(StoreUnavailable, match=r"s3://bucket.*check SITEGRAPH_RAW_URL") as failed:
        open_object_store("s3://bucket").has("ab" * 32)
    assert SECRET not in str(failed.value)


@pytest.mark.parametrize("ask", [ObjectRawStore.get, ObjectRawStore.has])
def test_a_bucket_that_is_not_there_is_no_proof_either(
    bucket_url: str, ask: Callable[[ObjectRawStore, str], object]
) -> None:
    store = open_object_store(f"{bucket_url}-gone")

    with pytest.raises(StoreUnavailable, match=r"s3://.*-gone.*bucket does not exist"):
        ask(store, "ab" * 32)
    with pytest.raises(StoreUnavailable, match="bucket does not exist"):
        list(store.hashes())


def test_without_credentials_the_message_says_where_they_go(
    bucket_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)

    with pytest.raises(StoreUnavailable, match="AWS_ACCESS_KEY_ID"):
        open_object_store(bucket_url).put(PAGE)
