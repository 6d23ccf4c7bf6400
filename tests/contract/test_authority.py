"""Authority by generation: each has its own, and one that has none answers nothing and fails nothing."""

from pathlib import Path

import pytest

from indexes.ports import AuthorityStore
from indexes.stores.authority import FileAuthorityStore
from tests.fakes.memory_stores import MemoryAuthorityStore


@pytest.fixture(params=["memory", "files"])
def authority(request: pytest.FixtureRequest, tmp_path: Path) -> AuthorityStore:
    """An empty store."""
    if request.param == "memory":
        return MemoryAuthorityStore()
    return FileAuthorityStore(tmp_path / "authority")


def test_what_was_kept_of_a_document_is_told(authority: AuthorityStore) -> None:
    authority.put(1, {"page:a": 1.0, "page:o'näll": 0.123456789012345, "pdfdoc:c": 0.5})
    reader = authority.at(1)
    assert reader.of(["page:o'näll", "page:a", "page:a", "page:unknown"]) == {
        "page:a": 1.0,
        "page:o'näll": 0.123456789012345,
    }
    assert reader.of([]) == {}


def test_each_generation_has_its_own(authority: AuthorityStore) -> None:
    authority.put(1, {"page:a": 1.0})
    authority.put(2, {"page:a": 0.5, "page:b": 1.0})
    assert [dict(authority.at(n).of(["page:a", "page:b"])) for n in (1, 2)] == [
        {"page:a": 1.0},
        {"page:a": 0.5, "page:b": 1.0},
    ]


def test_a_generation_that_was_never_weighed_knows_nothing(authority: AuthorityStore) -> None:
    assert authority.at(0).of(["page:a"]) == authority.at(7).of(["page:a"]) == {}
    authority.put(1, {})
    assert authority.at(1).of(["page:a"]) == {}


def test_keeping_again_replaces(authority: AuthorityStore) -> None:
    authority.put(1, {"page:a": 1.0, "page:b": 0.5})
    authority.put(1, {"page:b": 1.0})
    assert authority.at(1).of(["page:a", "page:b"]) == {"page:b": 1.0}


def test_pruning_leaves_what_is_kept_and_nothing_else(authority: AuthorityStore) -> None:
    for number in (1, 2, 3):
        authority.put(number, {"page:a": number / 3})
    for _ in range(2):
        authority.prune(keep=[2, 3])
    assert [len(authority.at(number).of(["page:a"])) for number in (1, 2, 3)] == [0, 1, 1]
