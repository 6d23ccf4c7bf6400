"""Files that are fetched: the rest of a part alone, and nothing with another hash or size."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from indexes.copies.fetching import PARTS, Fetching, WantedFile, is_whole
from indexes.copies.places import FolderPlace, Readable
from schemas.errors import DamageFound, NoRoom, StoreUnavailable
from schemas.ids import sha256_hex
from tests.fakes.copies import link_parts_to_a_full_disk

DATA = bytes(range(256)) * 40
FILE = WantedFile(path="lance/x", sha256=sha256_hex(DATA), size=len(DATA))


class _Failing(FolderPlace):
    """A place that fails after some bytes, *times* times; keeps where it was asked to start."""

    def __init__(self, root: Path, *, after: int, times: int) -> None:
        super().__init__(root)
        self.starts: list[int] = []
        self._after, self._times = after, times

    @contextmanager
    def opened(self, path: str, start: int) -> Iterator[tuple[int, Readable]]:
        self.starts.append(start)
        with super().opened(path, start) as (begun, file):
            if len(self.starts) > self._times:
                yield begun, file
                return
            yield begun, _Cut(file, self._after)


class _Cut:
    def __init__(self, file: Readable, left: int) -> None:
        self._file, self._left = file, left

    def read(self, size: int, /) -> bytes:
        if not self._left:
            raise StoreUnavailable("the connection is gone")
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """An index with one file."""
    (tmp_path / "there" / "lance").mkdir(parents=True)
    (tmp_path / "there" / "lance" / "x").write_bytes(DATA)
    return tmp_path / "there"


def test_a_cut_connection_is_gone_on_with_where_it_was(there: Path, tmp_path: Path) -> None:
    place = _Failing(there, after=1000, times=2)
    told: list[int] = []

    fetched = Fetching(place, tmp_path / "copy", most=10**6, advance=told.append).fetch_all([FILE])

    assert (place.starts, fetched, sum(told)) == ([0, 1000, 2000], len(DATA), len(DATA))
    assert is_whole(tmp_path / "copy", FILE, {})


def test_what_a_failed_pull_left_is_gone_on_with_by_the_next(there: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        Fetching(
            _Failing(there, after=10, times=9), tmp_path / "copy", most=10**6, advance=lambda _: None
        ).fetch_all([FILE])
    assert not (tmp_path / "copy" / FILE.path).exists()

    rest = Fetching(FolderPlace(there), tmp_path / "copy", most=10**6, advance=lambda _: None).fetch_all(
        [FILE]
    )

    assert rest == len(DATA) - 30


@pytest.mark.parametrize("data", [DATA + b"x", DATA[:-1], b"y" + DATA[1:], b""])
def test_other_bytes_get_no_name(there: Path, tmp_path: Path, data: bytes) -> None:
    (there / "lance" / "x").write_bytes(data)
    with pytest.raises(DamageFound, match="is not what its generation was published with"):
        Fetching(FolderPlace(there), tmp_path / "copy", most=10**6, advance=lambda _: None).fetch_all([FILE])
    assert [path for path in (tmp_path / "copy").rglob("*") if path.is_file()] == []


def test_a_part_with_other_bytes_is_fetched_again(there: Path, tmp_path: Path) -> None:
    fetching = Fetching(FolderPlace(there), tmp_path / "copy", most=10**6, advance=lambda _: None)
    with pytest.raises(StoreUnavailable):
        Fetching(
            _Failing(there, after=10, times=9), tmp_path / "copy", most=10**6, advance=lambda _: None
        ).fetch(FILE)
    (part,) = (tmp_path / "copy" / PARTS).iterdir()
    part.write_bytes(b"z" * 30)

    fetching.fetch_all([FILE])

    assert (tmp_path / "copy" / FILE.path).read_bytes() == DATA


def test_a_full_disk_is_told_as_such_and_the_place_is_not_asked_again(there: Path, tmp_path: Path) -> None:
    copy, place = tmp_path / "copy", _Failing(there, after=0, times=0)
    link_parts_to_a_full_disk(copy, [FILE])

    with pytest.raises(NoRoom, match="the disk is full"):
        Fetching(place, copy, most=10**6, advance=lambda _: None).fetch_all([FILE])

    assert place.starts == [0]
