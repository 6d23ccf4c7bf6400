"""Vectors as 8-bit codes: what they leave out is not near, and what is lost of them is added again."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.embed.screen import CodeFile
from indexes.ports import Vector
from schemas.errors import NoRoom, StoreUnavailable

DIM = 24
TEXTS = np.arange(100, 110, dtype=np.uint64)


def directions(seed: int, count: int, *, spread: float = 1.0) -> Vector:
    """Unit vectors, the more alike the smaller their *spread* around the first axis."""
    vectors = spread * np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)
    vectors[:, 0] += 1
    unit: Vector = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    return unit


@pytest.fixture
def codes(tmp_path: Path) -> CodeFile:
    """Ten texts in a file."""
    file = CodeFile(tmp_path / "codes" / "model", dim=DIM)
    file.add(TEXTS, directions(1, 10))
    return file


def path_of(tmp_path: Path) -> Path:
    """Where they are."""
    return tmp_path / "codes" / "model"


def known(codes: CodeFile) -> list[int]:
    """The texts that have a code."""
    texts, _ = codes.near(directions(2, 1), 0.5)
    return [int(text) for text in texts]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.1, 0.3, 1.0]), st.sampled_from([0.3, 0.7, 0.95]))
def test_none_that_is_near_is_left_out_and_few_others_come(
    tmp_path_factory: pytest.TempPathFactory, seed: int, spread: float, cosine: float
) -> None:
    file = CodeFile(tmp_path_factory.mktemp("codes") / "model", dim=DIM)
    held, new = directions(seed, 50, spread=spread), directions(seed + 1, 3, spread=spread)
    file.add(np.arange(50, dtype=np.uint64), held)

    texts, near = file.near(new, cosine)

    greatest = (held @ new.T).max(axis=1)
    assert texts.tolist() == list(range(50))
    assert set(np.flatnonzero(greatest >= cosine).tolist()) <= set(near.tolist())
    # Half a step in each component, and what is cut of the greatest, which is one at most.
    rest = np.sqrt(DIM) / 508 + np.clip(np.abs(held) - 0.5, 0, None).sum(axis=1) + 1e-3
    assert set(near.tolist()) <= set(np.flatnonzero(greatest + 2 * rest + 0.015 >= cosine).tolist())


def test_a_text_that_comes_twice_at_once_is_kept_once(codes: CodeFile, tmp_path: Path) -> None:
    before = path_of(tmp_path).stat().st_size
    codes.add(np.array([7, 7, 7], np.uint64), directions(3, 3))
    assert path_of(tmp_path).stat().st_size == before * 11 // 10
    assert known(codes) == [7, *TEXTS.tolist()]


def test_a_file_that_is_not_there_knows_nothing(tmp_path: Path) -> None:
    assert known(CodeFile(tmp_path / "no" / "file", dim=DIM)) == []


def test_a_record_that_a_crash_tore_is_written_over(codes: CodeFile, tmp_path: Path) -> None:
    path = path_of(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    assert known(codes) == TEXTS[:-1].tolist()

    codes.add(TEXTS[-1:], directions(1, 10)[-1:])

    assert known(codes) == TEXTS.tolist()


@pytest.mark.parametrize("harm", ["rot", "zeros"])
def test_a_record_that_rotted_or_was_never_written_is_not_there(
    codes: CodeFile, tmp_path: Path, harm: str
) -> None:
    path = path_of(tmp_path)
    data, size = bytearray(path.read_bytes()), path.stat().st_size // 10
    data[3 * size : 4 * size] = bytes(size) if harm == "zeros" else data[3 * size : 4 * size - 9] + bytes(9)
    path.write_bytes(bytes(data))

    assert known(codes) == [text for text in TEXTS.tolist() if text != 103]


def test_what_no_passage_says_any_more_is_dropped_once_it_is_half_of_the_file(
    codes: CodeFile, tmp_path: Path
) -> None:
    codes.add(TEXTS[:2], directions(4, 2))
    size = path_of(tmp_path).stat().st_size // 12
    codes.keep(TEXTS[:6])
    assert path_of(tmp_path).stat().st_size == 12 * size
    codes.keep(TEXTS[:5])
    assert path_of(tmp_path).stat().st_size == 5 * size
    assert known(codes) == TEXTS[:5].tolist()
    assert codes.near(directions(4, 2)[:1], 0.999)[1].tolist() == [100], "the last of a text is kept"
    codes.keep(TEXTS[:0])
    assert list((tmp_path / "codes").iterdir()) == []


def test_codes_of_another_model_go(codes: CodeFile, tmp_path: Path) -> None:
    other = CodeFile(tmp_path / "codes" / "other", dim=8)
    other.add(np.array([1], np.uint64), np.eye(8, dtype=np.float32)[:1])
    (tmp_path / "codes" / "lost+found").mkdir()
    codes.keep(TEXTS)
    assert sorted(path.name for path in (tmp_path / "codes").iterdir()) == ["lost+found", "model"]
    codes.clear()
    assert known(codes) == []


def test_what_cannot_be_read_or_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "codes" / "model").mkdir(parents=True)
    codes = CodeFile(path_of(tmp_path), dim=DIM)
    with pytest.raises(StoreUnavailable, match="cannot be read or written"):
        known(codes)
    with pytest.raises(StoreUnavailable, match="cannot be read or written"):
        codes.add(TEXTS, directions(1, 10))


def test_a_full_disk_is_told_as_such() -> None:
    codes = CodeFile(Path("/dev/full"), dim=DIM)
    with pytest.raises(NoRoom, match="the disk is full"):
        codes.add(TEXTS, directions(1, 10))
