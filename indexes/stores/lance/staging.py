"""One table being written: the same six steps for chunks, nodes and edges.

What is staged is the newest version of the table. Readers are at tagged versions and do not see it.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.table import Table

from indexes.ports import StoreState
from indexes.row_changes import follows_change
from indexes.stores.lance import scan
from indexes.stores.lance.changes import state_after_change
from indexes.stores.lance.engine import Address, has_engine
from indexes.stores.lance.filters import one_of
from indexes.stores.lance.replacing import most_replaced, replace_rows
from indexes.stores.lance.stream import MergeStream
from indexes.stores.lance.table_upkeep import upkeep_of
from indexes.stores.lance.tables import name_version, open_at, open_table, store_errors, table_address
from indexes.table_files import maintained_tag_of, tag_of
from schemas.causes import caused_by
from schemas.cost import Cause
from schemas.errors import ConfigError, DamageFound, StaleLease, StoreUnavailable

# A merge keeps its whole source: 50,000 chunks with three vectors each take 0.5 GB, 200,000 edges a fifth.
MAX_MERGED_ROWS = 50_000
MAX_MERGED_SMALL_ROWS = 200_000


class StagedTable:
    """The writing side of one table; expects to be the only writer, and finds out when it is not.

    Args: prepare: called with the table before its state is named, to do what readers will want of it.
    small_rows: rows without vectors, of which more go into one commit.
    """

    def __init__(
        self,
        database: lancedb.DBConnection,
        name: str,
        schema: pa.Schema,
        *,
        prepare: Callable[[Table, Address], None] = lambda _table, _address: None,
        small_rows: bool = False,
    ) -> None:
        self._database = database
        self._name = name
        self._schema = schema
        self._prepare = prepare
        self._small_rows = small_rows
        self._table = open_table(database, name, schema)
        self._address = table_address(database, name)
        self._upkeep = upkeep_of(self._table, self._address, small_rows=small_rows)
        self._version: int | None = None
        self._base = 0
        self._told: dict[str, str | None] = {}

    @property
    def table(self) -> Table:
        """The table at its staged state, for reading."""
        return self._table

    def stage(self, generation: int, *, base: int) -> None:
        """Make the newest version equal to *base*; a tag of an abandoned *generation* goes."""
        with store_errors(self._name):
            self._begin_at(base)
            if tag_of(generation) in self._table.tags.list():
                self._table.tags.delete(tag_of(generation))
        self._base, self._told = base, {}

    def apply(self, batches: Iterable[pa.RecordBatch], deletes: Collection[str]) -> None:
        """Upsert the batches' rows and delete ids, in as few commits as memory allows; none for nothing.

        An id that is both upserted and deleted stays. An error raised by *batches* comes out as it is; what
        was committed before it is undone by the next `stage`.
        Raises: StaleLease: somebody else has written since `stage`.
        """
        base = self._require_latest()
        stream, gone = MergeStream(batches, self._schema), deletes
        while gone or not stream.is_empty:
            base = self._commit(stream, gone, base)
            gone = ()
        self._told |= dict.fromkeys(deletes) | stream.seen

    def finish(self, generation: int, *, before: StoreState | None = None) -> StoreState:
        """Put the indexes in order where that is due, name the version, and say what it contains."""
        self._require_latest()
        with store_errors(self._name):
            with caused_by(Cause.INDEXES):
                # First: an index that is made anew has the new rows.
                self._prepare(self._table, self._address)
                self._upkeep.index_new_rows()
            self._version = self._table.version
            name_version(self._table, tag_of(generation), self._version)
        with caused_by(Cause.DIGESTS):
            return self._state(before)

    def prune(self, *, keep: Collection[int]) -> None:
        """Drop the tags of all generations but *keep* and, from time to time, the files only they need."""
        with store_errors(self._name):
            self._table.checkout_latest()
            kept = {tag_of(generation) for generation in keep} | {maintained_tag_of(max(keep, default=0))}
            for tag in sorted(set(self._table.tags.list()) - kept):
                self._table.tags.delete(tag)
            self._upkeep.free()
        self._version = None

    def _state(self, before: StoreState | None) -> StoreState:
        """What the staged table contains, by its changed rows where that is less to read."""
        if before is None or not follows_change(before, self._told):
            return scan.state(self._table)
        base = open_at(self._database, self._name, self._schema, self._base)
        return state_after_change(self._table, base, before=before, told=self._told)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        """Leave the next generation a version to build on that has the rows of *generation* in few files.

        Readers stay with the files they have. What is cut off is done again, but for whole steps.
        Raises: DamageFound: a step changed rows; the next generation builds on what readers see.
        """
        fence()
        with store_errors(self._name):
            self._begin_at(generation)
            expected = self._state_of(generation)
            while self._upkeep.compact():
                found = scan.state(self._table)
                if (found.counts, found.digest) != (expected.counts, expected.digest):
                    raise DamageFound("was to be compacted, and its rows changed", subject=self._name)
                fence()
                self._version = self._table.version
                name_version(self._table, maintained_tag_of(generation), self._version)
            self._upkeep.sweep()
        self._version = None

    def _begin_at(self, base: int) -> None:
        """Make the newest version equal to a generation, or to what maintenance left of it."""
        tags = self._table.tags.list()
        if tag_of(base) not in tags:
            raise StoreUnavailable(f"generation {base} is not there to build on", subject=self._name)
        start = maintained_tag_of(base) if maintained_tag_of(base) in tags else tag_of(base)
        self._table.checkout_latest()
        if self._table.version != tags[start]["version"]:
            self._table.checkout(start)
            self._table.restore()
        self._version = self._table.version

    def _state_of(self, generation: int) -> StoreState:
        return scan.state(open_at(self._database, self._name, self._schema, generation))

    def _require_latest(self) -> int:
        if self._version is None:
            raise ConfigError("nothing is staged: stage() comes first", subject=self._name)
        with store_errors(self._name):
            self._table.checkout_latest()
            found = int(self._table.version)
        if found != self._version:
            raise self._stale(f"version {found} instead of {self._version}")
        return found

    def _commit(self, stream: MergeStream, deletes: Collection[str], base: int) -> int:
        try:
            with store_errors(self._name):
                result = self._write(stream, deletes)
        except StoreUnavailable as error:
            if stream.error:
                raise stream.error from None
            if "conflict" in error.message.lower():
                raise self._stale("its commit met another") from error
            raise
        attempts = getattr(result, "num_attempts", 1)
        if (result.version, attempts) != (base + 1, 1):
            raise self._stale(f"version {result.version} in {attempts} attempts on top of {base}")
        self._version = base + 1
        return self._version

    def _write(self, stream: MergeStream, deletes: Collection[str]) -> Any:
        if stream.is_empty:
            return self._table.delete(one_of("id", deletes))
        rows = self._table.count_rows()
        if not rows:  # a first load, however large, goes through without being held
            return self._table.add(stream.reader())
        most = MAX_MERGED_SMALL_ROWS if self._small_rows else MAX_MERGED_ROWS
        few = stream.few(min(most, most_replaced(rows))) if has_engine() else None
        if few is not None:
            ids = {*deletes, *(key for batch in few for key in batch.column("id").to_pylist())}
            replace_rows(self._table, self._address, batches=few, ids=ids)
            return self._table
        # No index: with one on the key, two writers of the same new keys both insert them (measured).
        merge = self._table.merge_insert("id").use_index(False)
        merge = merge.when_matched_update_all().when_not_matched_insert_all()
        if deletes:
            merge = merge.when_not_matched_by_source_delete(one_of("id", deletes))
        return merge.execute(stream.reader(max_rows=most))

    def _stale(self, found: str) -> StaleLease:
        return StaleLease(f"somebody else wrote in between ({found}); run again", subject=self._name)
