"""What a merge reads."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from indexes.stores.lance.staging import MergeStream
from schemas.errors import ConfigError, SchemaMismatch

SCHEMA = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("row_sha256", pa.string())])


def batch(*rows: tuple[str, str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"id": key, "row_sha256": sha} for key, sha in rows], schema=SCHEMA)


def ids(reader: pa.RecordBatchReader) -> list[str]:
    return [str(key) for key in reader.read_all().column("id").to_pylist()]


def test_no_batches_and_empty_batches_are_empty() -> None:
    assert MergeStream([], SCHEMA).is_empty
    assert MergeStream([batch(), batch()], SCHEMA).is_empty


def test_repeated_rows_are_left_out_within_and_across_batches() -> None:
    batches = [batch(("a", "1"), ("a", "1"), ("b", "2")), batch(("b", "2")), batch(("c", "3"), ("a", "1"))]
    assert ids(MergeStream(batches, SCHEMA).reader()) == ["a", "b", "c"]


def test_two_different_rows_of_one_id_are_refused() -> None:
    with pytest.raises(SchemaMismatch, match="a: two different rows"):
        MergeStream([batch(("a", "1"), ("a", "2"))], SCHEMA)


def test_rows_come_in_parts_of_about_the_size_asked_for() -> None:
    stream = MergeStream((batch((str(n), "s"), (f"{n}b", "s")) for n in range(5)), SCHEMA)
    parts = []
    while not stream.is_empty:
        parts.append(len(ids(stream.reader(max_rows=4))))
    assert parts == [4, 4, 2]


def test_an_error_on_the_way_is_kept_as_it_was() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield batch(("a", "1"))
        raise ConfigError("stop here", subject="test")

    stream = MergeStream(broken(), SCHEMA)
    with pytest.raises(Exception, match="stop here"):
        stream.reader().read_all()
    assert isinstance(stream.error, ConfigError)


def three() -> Iterator[pa.RecordBatch]:
    yield batch(("a", "1"), ("b", "2"))
    yield batch(("c", "3"))
    yield batch(("d", "4"), ("e", "5"))


def test_few_rows_are_given_at_once_and_of_more_none_is_taken() -> None:
    few, more = MergeStream(three(), SCHEMA), MergeStream(three(), SCHEMA)
    taken = few.few(5)
    assert taken is not None
    assert [key for one in taken for key in one.column("id").to_pylist()] == ["a", "b", "c", "d", "e"]
    assert few.is_empty
    for most in (4, 3, 2, 1, 0, -1):
        assert more.few(most) is None
    assert ids(more.reader()) == ["a", "b", "c", "d", "e"]
    assert more.seen == few.seen


def test_an_error_among_few_rows_is_kept_as_it_was() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield batch(("a", "1"))
        raise ValueError("a conflict of encodings")

    stream = MergeStream(broken(), SCHEMA)
    with pytest.raises(ValueError, match="conflict"):
        stream.few(9)
    assert isinstance(stream.error, ValueError)
