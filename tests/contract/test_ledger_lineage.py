"""What led to a generation, read backwards, over SQLite files and a real PostgreSQL."""

from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.leases import open_turns
from indexes.stores.ledger.ledger import Ledger, open_ledger
from indexes.stores.ledger.tables import metadata
from schemas.changes import FeedChange, FeedEntry, FeedKind
from tests.fakes.ledger_rows import SITE, begin

DOC, URI = "page:a", f"{SITE}/o'neill"


def entry(change: FeedChange, old: str | None, new: str | None, *, uri: str = URI) -> FeedEntry:
    kind = FeedKind.DOCUMENT if (old or new or "").startswith("page:") else FeedKind.CHUNK
    return FeedEntry(
        kind=kind, change=change, old_id=old, new_id=new, source="site", uri=uri, reason="new text"
    )


def write(ledger: Ledger, base: int, *entries: FeedEntry) -> int:
    number = begin(ledger, base=base)
    ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=(), details={}, feed=entries)
    ledger.generations.mark(number, GenerationState.PUBLISHED)
    return number


def three(ledger: Ledger) -> tuple[int, int, int]:
    """Generation 2 was rolled back: 3 is built on 1."""
    first = write(ledger, 0, entry(FeedChange.ADDED, None, DOC), entry(FeedChange.ADDED, None, "chunk:a"))
    second = write(ledger, first, entry(FeedChange.REPLACED, "chunk:a", "chunk:lost"))
    ledger.generations.roll_back(above=first)
    third = write(
        ledger,
        first,
        entry(FeedChange.REPLACED, DOC, DOC),
        entry(FeedChange.REPLACED, "chunk:a", "chunk:b"),
        entry(FeedChange.ADDED, None, "chunk:z", uri=f"{SITE}/other"),
    )
    return first, second, third


def test_a_generation_leads_back_over_what_it_was_built_on_and_nothing_else(ledger: Ledger) -> None:
    first, _, third = three(ledger)

    assert [one.generation for one in ledger.lineage.of(third)] == [third, first]
    assert [one.changes_kept for one in ledger.lineage.of(third)] == [True, True]
    assert ledger.lineage.of(0) == ledger.lineage.of(99) == ()


def test_an_id_is_followed_through_the_generations_that_are_named(ledger: Ledger) -> None:
    first, second, third = three(ledger)

    found = ledger.lineage.of_id("chunk:a", [third, first])
    assert [(one.generation, one.old_id, one.new_id) for one in found] == [
        (first, None, "chunk:a"),
        (third, "chunk:a", "chunk:b"),
    ]
    assert ledger.lineage.of_id("chunk:lost", [first, third]) == ()
    assert [one.generation for one in ledger.lineage.of_id("chunk:lost", [second])] == [second]
    assert ledger.lineage.of_id("chunk:a", []) == ()


def test_a_document_comes_with_its_chunks_and_no_other(ledger: Ledger) -> None:
    first, _, third = three(ledger)

    found = ledger.lineage.of_document(DOC, URI, [first, third])
    assert [(one.generation, one.new_id) for one in found] == [
        (first, DOC),
        (first, "chunk:a"),
        (third, DOC),
        (third, "chunk:b"),
    ]


def test_changes_are_counted_by_generation_and_kind(ledger: Ledger) -> None:
    first, second, third = three(ledger)

    counted = ledger.lineage.counts([first, third])
    assert counted[first] == {
        (FeedKind.DOCUMENT, FeedChange.ADDED): 1,
        (FeedKind.CHUNK, FeedChange.ADDED): 1,
    }
    assert counted[third][FeedKind.CHUNK, FeedChange.REPLACED] == 1
    assert second not in counted


def test_a_ledger_from_before_its_changes_had_indexes_gets_them_when_a_run_opens_it(
    ledger: Ledger, ledger_url: str
) -> None:
    first, _, third = three(ledger)
    before = names_of_indexes(ledger)
    with ledger.engine.begin() as connection:
        for name in before:
            connection.exec_driver_sql(f'DROP INDEX "{name}"')
    with closing(open_ledger(ledger_url, read_only=True)) as reading:
        assert [one.generation for one in reading.lineage.of_id("chunk:a", [third, first])] == [first, third]

    open_ledger(ledger_url).close()
    with closing(open_ledger(ledger_url)) as again:
        assert names_of_indexes(again) == before == {"change_old_id", "change_new_id", "change_uri"}


def test_opening_again_makes_nothing_and_asks_a_server_few_questions(ledger: Ledger, ledger_url: str) -> None:
    asked: list[str] = []

    def listen(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", listen)
    try:
        open_ledger(ledger_url).close()
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", listen)

    assert asked
    assert not any("CREATE" in statement for statement in asked)
    if ledger.engine.dialect.name == "postgresql":
        assert len(asked) < 10


def test_a_database_in_which_only_turns_at_hosts_were_kept_gets_all_tables_and_indexes(
    ledger_url: str, tmp_path: Path
) -> None:
    open_turns(ledger_url, seconds=5.0).close()
    open_ledger(ledger_url).close()
    with (
        closing(open_ledger(ledger_url)) as opened,
        closing(open_ledger(f"sqlite:///{tmp_path / 'other.sqlite'}")) as other,
    ):
        assert indexes_by_table(opened) == indexes_by_table(other)
        assert len(indexes_by_table(other)) == len(metadata.tables)


def test_no_question_about_an_id_or_a_document_reads_all_changes(tmp_path: Path) -> None:
    plans: list[str] = []
    with closing(open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")) as ledger:

        @sa.event.listens_for(ledger.engine, "before_cursor_execute")
        def explain(_connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
            if "FROM change" in statement:
                cursor.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(row[-1] for row in cursor.fetchall())

        ledger.lineage.of_id("chunk:a", range(1, 50))
        ledger.lineage.of_document(DOC, URI, range(1, 50))

    assert len(plans) >= 5
    assert not [plan for plan in plans if not plan.startswith("SEARCH change USING INDEX change_")]


def indexes_by_table(ledger: Ledger) -> dict[str, set[str | None]]:
    inspector = sa.inspect(ledger.engine)
    return {
        name: {one["name"] for one in inspector.get_indexes(name)} for name in inspector.get_table_names()
    }


def names_of_indexes(ledger: Ledger) -> set[str | None]:
    return {index["name"] for index in sa.inspect(ledger.engine).get_indexes("change")}
