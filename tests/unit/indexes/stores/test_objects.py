"""What only object storage can get wrong."""

import sys
from collections.abc import Callable

import fsspec
import pytest

from indexes.buckets import check_url
from indexes.places import object_place
from indexes.stores.raw import FileRawStore, place_by_hash
from indexes.wiring import open_object_store
from schemas.errors import ConfigError, StoreUnavailable
from schemas.settings import RAW_URL
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


@pytest.fixture
def store(files: fsspec.AbstractFileSystem) -> FileRawStore:
    """A store over them."""
    return FileRawStore(object_place(f"memory://{ROOT}", patience=60, subject="", is_checked=True))


def test_what_lies_beside_the_prefix_stays(files: fsspec.AbstractFileSystem, store: FileRawStore) -> None:
    files.pipe_file(f"/{ROOT}-of-another/{place_by_hash('ab' * 32)}", b"theirs")
    store.put(PAGE)

    assert store.drop_all_but([]) == 1
    assert [path for path in files.find("/objects") if "another" in path] != []


@pytest.mark.parametrize("url", ["s3://bucket", "s3://bucket/", "s3://my.bucket-1/some/prefix"])
def test_a_bucket_and_a_prefix_are_a_place(url: str) -> None:
    check_url(url, subject=RAW_URL)


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
        check_url(url, subject=RAW_URL)
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


@pytest.mark.parametrize("ask", [FileRawStore.get, FileRawStore.has])
def test_a_bucket_that_is_not_there_is_no_proof_either(
    bucket_url: str, ask: Callable[[FileRawStore, str], object]
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
