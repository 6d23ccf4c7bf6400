"""Which files the ledger says are needed, over SQLite files and a real PostgreSQL."""

from typing import Any

import pytest
import sqlalchemy as sa

from indexes.stores.ledger.ledger import Ledger
from indexes.stores.ledger.retention import FileKind
from schemas.documents import ASLEEP, DocumentState
from schemas.ids import page_id
from tests.fakes.ledger_rows import SITE, drop, make_known, make_live, publish, put

KEPT = sorted(set(DocumentState) - {*ASLEEP})


def know(ledger: Ledger, path: str, state: DocumentState, version: str = "1") -> None:
    """A document that was fetched and parsed once."""
    sha = f"fragment of {path} {version}"
    doc = page_id(f"{SITE}/{path}")
    ledger.documents.save([make_known(path, state=state, doc=doc, raw_sha=f"raw {path}", fragment_sha=sha)])


def needed(ledger: Ledger) -> tuple[frozenset[str], ...]:
    """Hashes of bytes and of fragments."""
    return tuple(ledger.retention.needed(kind) for kind in (FileKind.RAW, FileKind.FRAGMENT))


@pytest.mark.parametrize("state", KEPT)
def test_what_is_looked_at_keeps_its_files(ledger: Ledger, state: DocumentState) -> None:
    know(ledger, "a", state)

    assert needed(ledger) == ({"raw a"}, {"fragment of a 1"})


@pytest.mark.parametrize("state", sorted(ASLEEP))
def test_what_sleeps_and_is_in_no_generation_needs_none(ledger: Ledger, state: DocumentState) -> None:
    know(ledger, "a", state)

    assert needed(ledger) == (frozenset(), frozenset())


def test_what_went_keeps_its_files_as_long_as_one_may_go_back_to_it(ledger: Ledger) -> None:
    live = make_live("a", "1")
    publish(ledger, put(live), base=0)
    publish(ledger, drop(live), base=1)
    know(ledger, "a", DocumentState.GONE)
    ledger.generations.forget_before(1)
    assert needed(ledger) == ({"raw a"}, {"fragment of a 1"})

    ledger.generations.forget_before(2)
    assert needed(ledger) == (frozenset(), frozenset())


def test_every_kept_generation_keeps_its_fragments(ledger: Ledger) -> None:
    for base, version in enumerate("123"):
        publish(ledger, put(make_live("a", version)), base=base)
    know(ledger, "a", DocumentState.FETCHED, version="4")
    ledger.generations.forget_before(2)

    assert ledger.retention.needed(FileKind.FRAGMENT) == {f"fragment of a {version}" for version in "234"}


def test_a_document_that_was_never_fetched_needs_nothing(ledger: Ledger) -> None:
    ledger.documents.save([make_known("a")])

    assert needed(ledger) == (frozenset(), frozenset())


@pytest.mark.parametrize(("parsed", "kept"), [(None, True), ("of others", True), ("raw a", False)])
def test_bytes_with_secrets_are_needed_until_they_have_been_read(
    ledger: Ledger, parsed: str | None, kept: bool
) -> None:
    fields = {"state": DocumentState.FETCHED, "raw_sha": "raw a", "parsed_sha": parsed}
    ledger.documents.save([make_known("a", withheld=True, **fields)])
    assert ledger.retention.needed(FileKind.RAW) == ({"raw a"} if kept else frozenset())
    assert (ledger.retention.needs_raw("raw a"), ledger.retention.needs_raw("raw b")) == (kept, False)

    ledger.documents.save([make_known("b", **fields)])
    assert ledger.retention.needs_raw("raw a")


def test_whether_a_few_files_are_needed_is_looked_up_and_no_table_is_read_for_it(ledger: Ledger) -> None:
    """It is asked for each few hundred replaced files, of a million documents."""
    asked: list[tuple[str, Any]] = []

    def note(*args: Any) -> None:
        asked.append((args[2], args[3]))

    engine = ledger.retention._engine
    sa.event.listen(engine, "before_cursor_execute", note)
    for kind in FileKind:
        ledger.retention.unneeded(kind, ["a", "b"])
    sa.event.remove(engine, "before_cursor_execute", note)

    assert len(asked) >= 5
    if engine.dialect.name != "sqlite":  # a server's planner reads small tables whole
        return
    with engine.connect() as connection:
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", args) for sql, args in asked]
        steps = [row.detail for plan in plans for row in plan]
    assert [step for step in steps if step.startswith("SCAN ")] == []
