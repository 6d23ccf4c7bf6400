"""Which chunks a generation wrote, as its plan says: what a graph for people has to be told."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from flows.commit.publish import written_chunks
from flows.run.index import Index
from indexes.frozen_plan import dump_payload, plan_sha256
from indexes.stores.raw import FileRawStore
from schemas.changes import RowChanges
from tests.fakes.graph_samples import make_chunk, make_page


@pytest.fixture
def outbox(tmp_path: Path) -> FileRawStore:
    return FileRawStore(tmp_path)


def index_with(outbox: FileRawStore, *payloads: str, kept: bool = True) -> Index:
    """An index whose second generation was built on the first by these payloads."""
    sha = plan_sha256(payloads, base=1, source="site")
    row = SimpleNamespace(base=1, source="site", plan_sha=sha)
    generations: Any = SimpleNamespace(
        get={2: row}.get, payloads=lambda number: payloads if kept and number == 2 else ()
    )
    return cast("Index", SimpleNamespace(ledger=SimpleNamespace(generations=generations), outbox=outbox))


def payload(outbox: FileRawStore, *texts: str) -> str:
    chunks = tuple(make_chunk(text) for text in texts)
    return dump_payload(outbox, RowChanges(nodes=(make_page("https://site.test/"),), chunks=chunks))


def test_the_plan_says_which_chunks_were_written(outbox: FileRawStore) -> None:
    index = index_with(outbox, payload(outbox, "one", "two"), payload(outbox), payload(outbox, "three"))
    wanted = {make_chunk(text).id for text in ("one", "two", "three")}
    assert written_chunks(index, 2, 1) == wanted


def test_a_plan_without_rows_wrote_none(outbox: FileRawStore) -> None:
    assert written_chunks(index_with(outbox), 2, 1) == frozenset()


def test_nothing_is_known_of_another_base_nor_of_a_generation_that_the_ledger_lost(
    outbox: FileRawStore,
) -> None:
    index = index_with(outbox, payload(outbox, "one"))
    assert (written_chunks(index, 2, 0), written_chunks(index, 3, 1)) == (None, None)


def test_nothing_is_known_of_a_plan_that_is_no_longer_kept_or_was_lost(outbox: FileRawStore) -> None:
    sha = payload(outbox, "one")
    assert written_chunks(index_with(outbox, sha, kept=False), 2, 1) is None
    outbox.drop(sha)
    assert written_chunks(index_with(outbox, sha), 2, 1) is None
