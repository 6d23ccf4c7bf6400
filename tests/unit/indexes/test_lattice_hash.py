"""The hash of a set of rows that follows a change."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.lattice_hash import LANES, LatticeHash

ROWS = st.dictionaries(st.text(max_size=8), st.text("0123456789abcdef", min_size=4, max_size=4), max_size=40)


def test_the_hash_of_one_row_is_what_shake_makes_of_it() -> None:
    expanded = hashlib.shake_128(b"page:a:00ff").digest(2 * LANES)
    assert LatticeHash().plus([("page:a", "00ff")]).lanes == expanded


def test_lanes_are_added_each_by_itself() -> None:
    rows = [(f"page:{number}", f"{number:064x}") for number in range(300)]
    total = np.zeros(LANES, np.uint64)
    for id_, sha256 in rows:
        total += np.frombuffer(hashlib.shake_128(f"{id_}:{sha256}".encode()).digest(2 * LANES), "<u2")
    assert LatticeHash().plus(rows).lanes == (total % 2**16).astype("<u2").tobytes()


@given(before=ROWS, after=ROWS)
def test_what_goes_and_comes_gives_the_hash_of_what_is_left(
    before: dict[str, str], after: dict[str, str]
) -> None:
    gone, came = before.items() - after.items(), after.items() - before.items()
    followed = LatticeHash().plus(before.items()).minus(gone).plus(came)
    assert followed == LatticeHash().plus(sorted(after.items(), reverse=True))
    assert (followed == LatticeHash().plus(before.items())) == (before == after)


def test_the_empty_set_is_zero_and_what_is_taken_back_leaves_nothing() -> None:
    assert (
        LatticeHash().plus([("a", "1")]).minus([("a", "1")]) == LatticeHash() == LatticeHash(bytes(2 * LANES))
    )


def test_a_manifest_keeps_it_as_text() -> None:
    found = LatticeHash().plus([("a", "1"), ("b", "2")])
    assert LatticeHash.from_text(found.to_text()) == found


@pytest.mark.parametrize("text", ["", "AAAA", "not base64!", "é"])
def test_text_of_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        LatticeHash.from_text(text)
