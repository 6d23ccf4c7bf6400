"""Where an index is: what is asked of a folder and of a prefix of a bucket alike."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from indexes.layout import IndexLayout
from indexes.own_ledger import ledger_url_of
from indexes.places import Replacement, bucket_of, index_place, is_in_bucket, remove_tree, write_durably
from schemas.errors import ConfigError, StaleLease, StoreUnavailable
from tests.fakes.object_fault_proxy import Fault, FaultyStorage


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An empty folder, or an empty prefix of a bucket."""
    if request.param == "folder":
        return tmp_path / "index"
    return index_place(f"{request.getfixturevalue('bucket_url')}/indexes/one")


def test_what_is_written_is_read_listed_and_removed(place: Path) -> None:
    for name in ("generations/1.json", "generations/2.json", "CURRENT"):
        write_durably(place / name, name)

    assert (place / "generations" / "2.json").read_text() == "generations/2.json"
    assert (place / "CURRENT").stat().st_size == len("CURRENT")
    assert sorted(path.name for path in (place / "generations").glob("*.json")) == ["1.json", "2.json"]
    assert sorted(path.name for path in place.iterdir()) == ["CURRENT", "generations"]
    with (place / "CURRENT").open("rb") as file:
        assert file.read() == b"CURRENT"
    (place / "CURRENT").unlink()
    (place / "CURRENT").unlink(missing_ok=True)
    remove_tree(place / "generations")
    assert not (place / "CURRENT").exists()
    assert not (place / "generations").is_dir()


def test_of_many_that_write_one_file_at_once_all_do(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        for _ in range(50):
            (tmp_path / "ledger.json").unlink(missing_ok=True)
            list(pool.map(lambda text: write_durably(tmp_path / "ledger.json", text), "abcd"))
            assert (tmp_path / "ledger.json").read_text() in {*"abcd"}
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"]


def test_what_a_killed_writer_left_goes_and_what_another_writes_stays(tmp_path: Path) -> None:
    left, written = tmp_path / ".CURRENT.7.9.new", tmp_path / ".CURRENT.8.9.new"
    of_before, of_another = tmp_path / ".CURRENT.new", tmp_path / ".index.json.7.9.new"
    for path in (left, written, of_before, of_another):
        path.touch()
    for path in (left, of_before, of_another):
        os.utime(path, (0, 0))
    write_durably(tmp_path / "CURRENT", "1\n")
    assert {path.name for path in tmp_path.iterdir()} == {"CURRENT", written.name, of_another.name}


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.places.os.fsync", Mock(side_effect=OSError("no room")))
    with pytest.raises(OSError, match="no room"):
        write_durably(tmp_path / "CURRENT", "1\n")
    assert list(tmp_path.iterdir()) == []


def test_a_name_leads_back_to_the_same_place(place: Path) -> None:
    again = index_place(str(place))
    assert again == place
    assert str(IndexLayout(again).generation(3).relative_to(place)) == "generations/3.json"


def test_of_two_that_replace_an_object_the_second_is_refused(bucket_url: str) -> None:
    current = index_place(f"{bucket_url}/index") / "CURRENT"
    for text in ("1\n", "2\n"):  # of no object, and of one that is there
        first, second = Replacement(current), Replacement(current)
        first.write(text)
        with pytest.raises(StaleLease, match="another run has published"):
            second.write("7\n")
        assert current.read_text() == text


def test_a_put_that_was_repeated_after_its_answer_was_lost_is_no_conflict(bucket_url: str) -> None:
    current = index_place(f"{bucket_url}/index") / "CURRENT"
    mine = Replacement(current)
    write_durably(current, "5\n")  # the first try, whose answer did not come

    mine.write("5\n")

    assert current.read_text() == "5\n"


@pytest.mark.parametrize("always", [False, True])
def test_a_writer_whose_answers_are_lost_tells_its_own_write_from_that_of_another(
    bucket_url: str, storage: FaultyStorage, always: bool
) -> None:
    current = index_place(f"{bucket_url}/index", patience=4) / "CURRENT"
    for text in ("1\n", "2\n"):  # of no object, and of one that is there
        mine, others = Replacement(current), Replacement(current)
        storage.break_after(Fault.LOSE, always=always)
        mine.write(text)
        assert storage.failed >= 1
        with pytest.raises(StaleLease if not always else (StaleLease, StoreUnavailable)):
            others.write("7\n")
        assert current.read_text() == text


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.STALL])
def test_a_server_that_stops_answering_is_given_up_in_time(
    bucket_url: str, storage: FaultyStorage, fault: Fault
) -> None:
    path = index_place(f"{bucket_url}/index", patience=4) / "encoder.json"
    write_durably(path, "whatever " * 1000)
    storage.break_after(fault, after=-1)
    began = time.monotonic()

    with pytest.raises(StoreUnavailable, match="check the name of the bucket"):
        path.read_bytes()

    assert 1 <= time.monotonic() - began < 30
    assert storage.requests <= 10


@pytest.mark.parametrize(
    "url",
    [
        "s3://bucket",
        "s3:///prefix",
        "s3://key:secret@bucket/prefix",
        "s3://bucket/prefix?a=b",
        "ftp://host/x",
    ],
)
def test_a_url_that_is_not_bucket_and_prefix_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"s3://BUCKET/PREFIX") as caught:
        index_place(url)
    assert "secret" not in str(caught.value)


def test_a_bucket_that_is_not_there_is_no_empty_index(bucket_url: str) -> None:
    with pytest.raises(StoreUnavailable, match="does not exist; check the name of the bucket"):
        (index_place(f"{bucket_url}-and-none/index") / "CURRENT").read_bytes()


def test_a_server_that_is_down_is_not_taken_for_an_empty_bucket(
    bucket_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # discard, RFC 863: nobody listens
    path = index_place(f"{bucket_url}/index") / "encoder.json"
    for look in (path.exists, path.is_file, path.is_dir, path.read_bytes):
        with pytest.raises(StoreUnavailable):
            look()


@pytest.mark.parametrize("given", [None, "sqlite:///ledger.sqlite"])
def test_the_ledger_of_an_index_in_a_bucket_is_in_postgresql(bucket_url: str, given: str | None) -> None:
    layout = IndexLayout(index_place(f"{bucket_url}/index"))
    with pytest.raises(ConfigError, match="set SITEGRAPH_LEDGER_URL to postgresql://"):
        ledger_url_of(layout, given)


def test_an_index_in_a_folder_imports_nothing_of_object_storage(tmp_path: Path) -> None:
    code = (
        "import sys; from indexes.places import index_place, write_durably\n"
        f"write_durably(index_place({str(tmp_path)!r}) / 'CURRENT', '0')\n"
        "print(*sorted({'upath', 'fsspec', 's3fs', 'botocore'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_folder_is_no_bucket(tmp_path: Path) -> None:
    assert not is_in_bucket(index_place(str(tmp_path)))


def test_what_is_large_is_put_in_parts_that_a_slow_server_answers_in_time(
    bucket_url: str, storage: FaultyStorage, tmp_path: Path
) -> None:
    file, there = tmp_path / "encoder.onnx", index_place(f"{bucket_url}/index") / "encoder.onnx"
    file.write_bytes(bytes(range(256)) * (20 << 12))  # 20 MiB
    storage.break_after(None)

    bucket_of(there).upload(file)  # type: ignore[union-attr]

    assert storage.puts == 3
    assert there.read_bytes() == file.read_bytes()


def test_an_upload_in_parts_whose_completing_was_not_answered_is_put_again(
    bucket_url: str, storage: FaultyStorage, tmp_path: Path
) -> None:
    index = index_place(f"{bucket_url}/index", patience=600)  # moto fails if it is asked again too soon
    file, there = tmp_path / "encoder.onnx", index / "encoder.onnx"
    file.write_bytes(bytes(20 << 20))
    storage.break_after(Fault.LOSE, only="uploadId", methods=("POST",))

    bucket_of(there).upload(file)  # type: ignore[union-attr]

    assert storage.failed == 1
    assert there.read_bytes() == file.read_bytes()
