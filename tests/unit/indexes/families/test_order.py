"""Which version of a manual is preferred."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.families import newest_first, preference


@pytest.mark.parametrize(
    "ordered",
    [
        ("17", "16", "15", "9.6", "9"),
        ("3.10", "3.9", "3.1"),
        ("stable", "latest", "current", "17", "18rc1", "devel"),
        ("v2.10", "v2.9", "release-2.0"),
        ("2.x", "2.9", "1.x", "1.0"),
        ("15.20-0+deb12u1", "15.18-0+deb12u1"),
        ("2.0", "2.1b1", "2.1a3", "main", "jammy"),
        ("2024.10", "2024.2", "2023"),
        ("bookworm", "Bionic"),
    ],
)
def test_the_version_that_readers_are_meant_to_see_comes_first(ordered: tuple[str, ...]) -> None:
    assert newest_first(set(ordered)) == ordered


@given(st.lists(st.text(max_size=12), unique=True))
def test_any_versions_have_one_order(versions: list[str]) -> None:
    ordered = newest_first(set(versions))
    assert set(ordered) == set(versions)
    assert all(preference(first) >= preference(then) for first, then in pairwise(ordered))
