"""How documents become batches: never two shards in one, the order within a shard kept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.crawl.plan import Batch, batch_size, cut_into_batches, shard_of
from schemas.batches import batched

uris = st.lists(
    st.sampled_from(
        [f"https://{host}/{n}" for host in ("a.test", "b.example", "c.b.example") for n in range(9)]
    ),
    unique=True,
)


@pytest.mark.parametrize(
    ("uri", "shard"),
    [
        ("https://docs.example.org/a", "example.org"),
        ("https://www.example.org/a", "example.org"),
        ("https://docs.example.co.uk/a", "example.co.uk"),
        ("http://127.0.0.1:8000/a", "127.0.0.1"),
        ("http://localhost:8000/a", "localhost"),
        ("files://notes/a.md", "files"),
        ("files://other/b.md", "files"),
    ],
)
def test_a_shard_is_what_one_owner_registered_or_all_local_files(uri: str, shard: str) -> None:
    assert shard_of(uri) == shard


def test_batches_are_cut_by_shard_and_size() -> None:
    listed = ["https://b.example/1", "https://a.test/1", "https://b.example/2", "https://b.example/3"]
    assert cut_into_batches(listed, size=2) == (
        Batch(shard="a.test", number=0, uris=("https://a.test/1",)),
        Batch(shard="b.example", number=0, uris=("https://b.example/1", "https://b.example/2")),
        Batch(shard="b.example", number=1, uris=("https://b.example/3",)),
    )
    assert cut_into_batches(listed, size=2)[2].name == "b.example-1"
    assert cut_into_batches([], size=2) == ()


@pytest.mark.parametrize(
    ("delay", "waits", "mostly_new", "size"),
    [
        (1.0, True, False, 20),
        (1.0, True, True, 20),
        (10.0, True, False, 5),
        (0.0, True, True, 100),
        (1.0, False, True, 20),
        (1.0, False, False, 50),
        (0.1, False, False, 100),
    ],
)
def test_known_documents_that_nobody_is_waited_for_come_in_larger_batches(
    delay: float, waits: bool, mostly_new: bool, size: int
) -> None:
    assert batch_size(delay, waits=waits, mostly_new=mostly_new) == size


@settings(deadline=None)
@given(uris, st.integers(1, 5))
def test_every_document_is_in_exactly_one_batch_in_the_order_given(listed: list[str], size: int) -> None:
    batches = cut_into_batches(listed, size=size)
    assert sorted(uri for batch in batches for uri in batch.uris) == sorted(listed)
    assert all(1 <= len(batch.uris) <= size for batch in batches)
    assert all({shard_of(uri) for uri in batch.uris} == {batch.shard} for batch in batches)
    for shard in {batch.shard for batch in batches}:
        planned = [uri for batch in batches if batch.shard == shard for uri in batch.uris]
        assert planned == [uri for uri in listed if shard_of(uri) == shard]
    assert len({batch.name for batch in batches}) == len(batches)


@settings(deadline=None)
@given(st.lists(st.text(max_size=2)), st.integers(1, 5))
def test_parts_put_together_give_the_whole(items: list[str], size: int) -> None:
    assert [item for part in batched(items, size) for item in part] == items
