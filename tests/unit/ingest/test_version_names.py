"""What names a version, and which comes first: of a crawl and of a source that is proposed alike."""

import pytest

from ingest.urls import version_rank

IN_ORDER = (
    "stable",
    "latest",
    "current",
    "4.x",
    "v4",
    "3.2",
    "release-2.0",
    "3.0rc1",
    "v1.2-beta",
)


def test_the_settled_come_first_then_what_is_released_then_what_is_not() -> None:
    ranks = [version_rank(name) for name in (*IN_ORDER, "preview")]

    assert None not in ranks
    assert ranks == sorted(rank for rank in ranks if rank is not None)


@pytest.mark.parametrize("name", ["edge", "trunk", "HEAD", "develop", "main", "next", "nightly", "preview"])
def test_versions_to_come_are_known_by_name(name: str) -> None:
    rank = version_rank(name)

    assert rank is not None
    assert rank[0] == 3


@pytest.mark.parametrize("name", ["1", "17", "2024", "guide", "1.", "version", "v", ""])
def test_what_may_be_anything_is_no_version(name: str) -> None:
    assert version_rank(name) is None


def test_a_bare_number_is_a_version_beside_others_but_a_year_is_not() -> None:
    assert version_rank("17", beside_version=True) == version_rank("v17")
    assert version_rank("2024", beside_version=True) is None
