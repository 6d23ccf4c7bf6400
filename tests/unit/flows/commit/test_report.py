"""What the end of a run tells of documents that answered 404, and when it has them looked at again."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from flows.commit.report import _chunk_counts, build_run_report, reschedule
from flows.run.values import Crawled, Difference
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from schemas.changes import ChangeKind, DocumentChange
from schemas.cost import Costs
from schemas.documents import DocumentState, KnownDocument
from schemas.report import HttpTotals, MissingCounts, PageCounts
from tests.fakes.known import NOW, SITE, known, live, web_source
from tests.fakes.ledger_rows import publish
from tests.fakes.plain_run import PlainRun, open_plain_run

NOTHING = Difference(base=0, changes=(), documents={})


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[PlainRun]:
    with open_plain_run(tmp_path, web_source()) as plain:
        yield plain


def missing(name: str, *, missed_at: datetime = NOW, **fields: object) -> KnownDocument:
    """A page that an earlier run found missing."""
    plain = {"doc": f"page:{name}", "fragment_sha": "f1", "run_id": "run-0", "misses": 1}
    state = DocumentState.MISSING
    return known(SITE + name, **{**plain, "state": state, "missed_at": missed_at.isoformat(), **fields})


def publish_pages(run: PlainRun, *names: str) -> None:
    """Show readers pages of these names."""
    pages = [replace(live(f"page:{name}"), uri=SITE + name) for name in names]
    changes = [DocumentChange(kind=ChangeKind.ADDED, old=None, new=page) for page in pages]
    number = publish(run.index.ledger, *changes, base=0, source=run.source.name)
    manifest = GenerationManifest(
        generation=number, base=0, as_of="2026-03-01", source=run.source.name, run_id="run-0", plan_sha="p"
    )
    dump_generation(run.index.layout, manifest)
    write_current(run.index.layout.root, number)


def missing_counts(run: PlainRun) -> MissingCounts:
    """What the report of a run says that looked at nothing."""
    crawled = Crawled(http=HttpTotals(), pages=PageCounts())
    report = build_run_report(run.indexing, NOTHING, crawled, (), stages={}, costs=Costs(), encoded=0)
    return report.missing


def test_pages_that_readers_see_are_reported_as_missing_by_every_run_until_they_are_gone(
    plain: PlainRun,
) -> None:
    later = NOW + timedelta(hours=3)
    publish_pages(plain, "a", "b", "read")
    rows = [missing("a"), missing("b", missed_at=later), known(SITE + "read", state=DocumentState.FETCHED)]
    # Neither where a dead link leads, nor what was a copy of another page, is anything that readers see.
    rows += [missing("dead", fragment_sha=None), missing("copy", missed_at=NOW + timedelta(days=9))]
    plain.index.ledger.documents.save(rows)

    assert missing_counts(plain) == MissingCounts(
        documents=2, until=(later + timedelta(hours=24)).isoformat(timespec="seconds")
    )


def test_a_source_that_misses_nothing_says_so(plain: PlainRun) -> None:
    publish_pages(plain, "a")
    plain.index.ledger.documents.save([replace(missing("a"), source="other")])

    assert missing_counts(plain) == MissingCounts()


def due_after(run: PlainRun, looked: timedelta) -> str | None:
    """When a page is due that was first missing at `NOW` and is looked at once more so much later."""
    row = missing("a", run_id="run-1", checked_at=(NOW + looked).isoformat(), interval=30 * 86400.0)
    run.index.ledger.documents.save([row])
    reschedule(run.indexing, run.index.ledger.seen.of_run(run.source.name, "run-1"), NOTHING)
    (after,) = run.index.ledger.documents.of_source(run.source.name)
    assert after.interval == row.interval
    return after.next_due


@pytest.mark.parametrize("hours", [0, 5, 22])
def test_a_404_is_due_once_it_may_be_confirmed_however_often_it_was_looked_at(
    plain: PlainRun, hours: int
) -> None:
    assert due_after(plain, timedelta(hours=hours)) == (NOW + timedelta(hours=24)).isoformat(
        timespec="seconds"
    )


@pytest.mark.parametrize(("added", "unchanged"), [(0, 43), (3, 40), (52, 0)])
def test_a_run_that_writes_the_rows_of_all_sources_counts_those_of_its_own(
    added: int, unchanged: int
) -> None:
    counts = _chunk_counts({"chunks": {"added": added, "removed": 0}}, total=43, encoded=0)
    assert (counts.added, counts.unchanged) == (43 - unchanged, unchanged)
