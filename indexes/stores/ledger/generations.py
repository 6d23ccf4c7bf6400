"""Generations and the documents each of them contains."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.history import KEEP_STEPS, take_back_changes, write_changes
from indexes.stores.ledger.names import may_fold_to
from indexes.stores.ledger.retention import ask_for_sweep
from indexes.stores.ledger.revisions import (
    forget_before,
    rebase,
    revise_redirects,
    revise_rows,
    take_back,
    valid_at,
)
from indexes.stores.ledger.tables import (
    LedgerPart,
    doc_rev,
    generation,
    outbox,
    redirect_rev,
    upsert,
)
from schemas.changes import DocumentChange, FeedEntry
from schemas.documents import LiveDocument
from schemas.errors import StaleLease
from schemas.records import from_record, to_record


class GenerationState(StrEnum):
    """How far a generation came; only PUBLISHED ones were ever readable."""

    STAGING = "staging"
    APPLYING = "applying"
    VERIFIED = "verified"
    PUBLISHED = "published"
    ABORTED = "aborted"
    ROLLED_BACK = "rolled_back"


_UNFINISHED = tuple(
    state.value for state in (GenerationState.STAGING, GenerationState.APPLYING, GenerationState.VERIFIED)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One row of the generation table; `details` is what its manifest will say."""

    generation: int
    base: int
    state: GenerationState
    source: str
    run_id: str
    token: int
    as_of: str
    plan_sha: str | None
    details: Mapping[str, Any]


class Generations(LedgerPart):
    """The `generation` and `outbox` tables, and what each generation contains in `doc_rev`."""

    def begin(self, *, base: int, source: str, run_id: str, token: int, as_of: str) -> int:
        """Open the next generation, numbered above every one before, and give its number.

        Raises: StaleLease: another one is unfinished. Whoever holds the lease closes those first, so
        it was begun by a run that came after this one.
        """
        with self._engine.begin() as connection:
            # One statement, one snapshot: of two that begin at once, the later sees the other or its number.
            numbers = generation.c.generation
            unfinished = sa.func.min(numbers).filter(generation.c.state.in_(_UNFINISHED))
            highest, other = connection.execute(sa.select(sa.func.max(numbers), unfinished)).one()
            if other is not None:
                raise _stale(other)
            number = max(int(highest or 0), base) + 1
            connection.execute(
                sa.insert(generation).values(
                    generation=number,
                    base=base,
                    state=GenerationState.STAGING.value,
                    source=source,
                    run_id=run_id,
                    token=token,
                    as_of=as_of,
                )
            )
        return number

    def freeze(
        self,
        number: int,
        *,
        payloads: Iterable[str],
        plan_sha: str,
        changes: Collection[DocumentChange],
        details: Mapping[str, Any],
        redirects: Mapping[str, str] = MappingProxyType({}),
        feed: Iterable[FeedEntry] = (),
        former: Iterable[tuple[str, str]] = (),
        keep_changes: int = KEEP_STEPS,
    ) -> None:
        """Fix the plan: outbox, revisions of documents and redirects, feed and hash, in one transaction.

        Freezing again replaces what was frozen before. *redirects* are all that the generation follows:
        location by address. *former* are ids and texts of passages that go, kept as long as the feed: for
        *keep_changes* generations.

        Raises: StaleLease: another run has closed the generation.
        """
        with self._engine.begin() as connection:
            base = _unfinished_row(connection, number).base
            _take_back(connection, number)
            rebase(connection, number, base=base)
            _revise_documents(connection, number, changes)
            revise_redirects(connection, number, redirects)
            rows = [
                {"generation": number, "seq": seq, "payload_sha": sha} for seq, sha in enumerate(payloads)
            ]
            upsert(connection, outbox, rows)
            write_changes(connection, number, feed, former=former, keep=keep_changes)
            values = {"plan_sha": plan_sha, "details": json.dumps(details, sort_keys=True)}
            _set_state(connection, number, GenerationState.APPLYING, **values)

    def payloads(self, number: int) -> tuple[str, ...]:
        """Hashes of the generation's outbox payloads, in order."""
        query = sa.select(outbox.c.payload_sha).where(outbox.c.generation == number).order_by(outbox.c.seq)
        return tuple(self._values(query))

    def mark(self, number: int, state: GenerationState) -> None:
        """Record how far the generation came.

        Raises: StaleLease: another run has closed the generation.
        """
        with self._engine.begin() as connection:
            if _row(connection, number).state is not state:
                _unfinished_row(connection, number)
                _set_state(connection, number, state)

    def restore(self, rows: Collection[Generation], live: Collection[LiveDocument]) -> None:
        """Replace all that is known by what an index says of its generations; the oldest contains *live*."""
        current = min(row.generation for row in rows)
        with self._engine.begin() as connection:
            ask_for_sweep(connection)
            for table in (generation, outbox, doc_rev, redirect_rev):
                connection.execute(sa.delete(table))
            records = [{**to_record(row), "details": json.dumps(row.details)} for row in rows]
            upsert(connection, generation, records)
            documents = [to_record(document) for document in live]
            revise_rows(connection, doc_rev, current, changed=(), rows=documents)

    def remember(self, number: int, live: Collection[LiveDocument]) -> None:
        """Let a generation contain documents that were forgotten; the generations after it as well."""
        rows = [to_record(document) for document in live]
        with self._engine.begin() as connection:
            revise_rows(connection, doc_rev, number, changed={document.doc for document in live}, rows=rows)

    def abort(self, number: int) -> None:
        """Take back what freezing wrote and close the generation for good."""
        with self._engine.begin() as connection:
            _take_back(connection, number)
            _set_state(connection, number, GenerationState.ABORTED)

    def roll_back(self, *, above: int) -> None:
        """Mark every generation above *above* as rolled back, also those a crash left on their way.

        One that readers saw but that was not recorded as published would else be finished by the next run.
        """
        taken = (generation.c.generation > above, generation.c.state != GenerationState.ABORTED.value)
        self._run(sa.update(generation).where(*taken).values(state=GenerationState.ROLLED_BACK.value))

    def forget_before(self, oldest_kept: int, *, plans_from: int | None = None) -> frozenset[str]:
        """Drop what only generations before *oldest_kept* need; give the payloads that are still named.

        Plans go from before *plans_from* (default: *oldest_kept*): only what is unfinished is written again.
        The generations' own rows stay: a number is never used again.
        """
        with self._engine.begin() as connection:
            forget_before(connection, oldest_kept)
            connection.execute(sa.delete(outbox).where(outbox.c.generation < (plans_from or oldest_kept)))
            return frozenset(connection.execute(sa.select(outbox.c.payload_sha)).scalars())

    def unfinished(self) -> tuple[Generation, ...]:
        """Generations that a crash left between begin and publish, oldest first."""
        return self._select(generation.c.state.in_(_UNFINISHED))

    def get(self, number: int) -> Generation | None:
        """One generation's row."""
        return next(iter(self._select(generation.c.generation == number)), None)

    def newest_published(self) -> int | None:
        """Number of the generation that readers were given last; None where none is known."""
        published = generation.c.state == GenerationState.PUBLISHED.value
        return self._value(sa.select(sa.func.max(generation.c.generation)).where(published))

    def still_says(self, detail: str, source: str) -> bool:
        """Whether a generation names the source in a detail, and none of the source was published since."""
        published = generation.c.state == GenerationState.PUBLISHED.value
        said = generation.c.details.contains(json.dumps({detail: source})[1:-1], autoescape=True)
        query = sa.select(said).where(published, sa.or_(said, generation.c.source == source))
        return bool(self._value(query.order_by(generation.c.generation.desc()).limit(1)))

    def of_run(self, run_id: str) -> tuple[Generation, ...]:
        """Generations that a run made, oldest first."""
        return self._select(generation.c.run_id == run_id)

    def live(
        self, number: int, *, source: str | None = None, docs: Collection[str] | None = None
    ) -> Mapping[str, LiveDocument]:
        """Documents of a generation, by node id; all, one source's, or the ones named."""
        conditions = [*valid_at(doc_rev, number)]
        if source is not None:
            conditions.append(doc_rev.c.source == source)
        query = sa.select(doc_rev).where(*conditions).order_by(doc_rev.c.doc)
        rows = self._rows(query) if docs is None else self._among(query, doc_rev.c.doc, docs)
        return {row.doc: _live_document(row) for row in rows}

    def count(self, number: int) -> int:
        """How many documents a generation contains."""
        return self._count(*valid_at(doc_rev, number))

    def owners(self, number: int, *, docs: Iterable[str]) -> Mapping[str, str]:
        """Source of each of the documents that a generation contains, by node id."""
        query = sa.select(doc_rev.c.doc, doc_rev.c.source).where(*valid_at(doc_rev, number))
        return {row.doc: row.source for row in self._among(query, doc_rev.c.doc, docs)}

    def tools(self, number: int, *, source: str) -> Mapping[str, LiveDocument]:
        """The files of tools (`tools://`) that a generation contains of one source, by node id."""
        condition = doc_rev.c.uri.startswith("tools://", autoescape=True)
        query = sa.select(doc_rev).where(*valid_at(doc_rev, number), doc_rev.c.source == source, condition)
        return {row.doc: _live_document(row) for row in self._rows(query.order_by(doc_rev.c.doc))}

    def by_doc_id(
        self, number: int, ids: Collection[str] | None = None, *, without_docs: Collection[str] = ()
    ) -> Mapping[str, str]:
        """Node id by document id, case folded, of those of *ids* or of all; of equal ids the lowest wins."""
        if ids is not None and not ids:
            return {}
        leaving = frozenset(without_docs)
        wanted = doc_rev.c.doc_id.is_not(None) if ids is None else may_fold_to(doc_rev.c.doc_id, ids)
        query = sa.select(doc_rev.c.doc_id, doc_rev.c.doc).where(*valid_at(doc_rev, number), wanted)
        rows = list(self._rows(query.order_by(doc_rev.c.doc.desc())))
        found = {doc_id.casefold(): doc for doc_id, doc in rows if doc not in leaving}
        return found if ids is None else {one: found[one] for one in ids if one in found}

    def _select(self, condition: sa.ColumnElement[bool]) -> tuple[Generation, ...]:
        query = sa.select(generation).where(condition).order_by(generation.c.generation)
        return tuple(_generation(row) for row in self._rows(query))


def _take_back(connection: sa.Connection, number: int) -> None:
    connection.execute(sa.delete(outbox).where(outbox.c.generation == number))
    take_back(connection, number)
    take_back_changes(connection, number)


def _revise_documents(connection: sa.Connection, number: int, changes: Collection[DocumentChange]) -> None:
    rows = [to_record(change.new) for change in changes if change.new is not None]
    revise_rows(connection, doc_rev, number, changed={change.doc for change in changes}, rows=rows)


def _row(connection: sa.Connection, number: int) -> Generation:
    query = sa.select(generation).where(generation.c.generation == number).with_for_update()
    return _generation(connection.execute(query).one())


def _unfinished_row(connection: sa.Connection, number: int) -> Generation:
    row = _row(connection, number)
    if row.state.value not in _UNFINISHED:
        raise _stale(number)
    return row


def _stale(number: int) -> StaleLease:
    return StaleLease("another run is at work on the index; run again", subject=f"generation {number}")


def _set_state(connection: sa.Connection, number: int, state: GenerationState, **values: str) -> None:
    connection.execute(
        sa.update(generation).where(generation.c.generation == number).values(state=state.value, **values)
    )


def _generation(row: sa.Row[Any]) -> Generation:
    return Generation(
        **{
            **row._mapping,
            "state": GenerationState(row.state),
            "details": json.loads(row.details) if row.details else {},
        }
    )


def _live_document(row: sa.Row[Any]) -> LiveDocument:
    fields = {key: value for key, value in row._mapping.items() if key not in ("valid_from", "valid_to")}
    return from_record(LiveDocument, fields)


class Recovery(StrEnum):
    """How a half-done generation is closed."""

    ABORT = "abort"
    REPLAY = "replay"
    ADOPT = "adopt"


def plan_recovery(
    unfinished: Sequence[Generation], *, current: int
) -> tuple[tuple[Generation, Recovery], ...]:
    """Decide for each unfinished generation, newest first.

    `CURRENT` wins: a generation it names was published. A frozen plan is replayed if it still builds on
    what readers see; everything else is aborted (docs/generations.md).
    """
    return tuple(
        (generation, _decide(generation, current))
        for generation in sorted(unfinished, key=lambda g: -g.generation)
    )


def _decide(generation: Generation, current: int) -> Recovery:
    if generation.generation == current:
        return Recovery.ADOPT
    frozen = generation.state in (GenerationState.APPLYING, GenerationState.VERIFIED)
    return Recovery.REPLAY if frozen and generation.base == current else Recovery.ABORT
