"""One table being written: the same six steps for chunks, nodes and edges.

What is staged is the newest version of the table. Readers are at tagged versions and do not see it.
"""

from collections.abc import Callable, Collection, Iterable
from datetime import timedelta
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.expr import Expr, col
from lancedb.table import Table

from indexes.ports import StoreState
from indexes.stores.lance import scan
from indexes.stores.lance.stream import MergeStream
from indexes.stores.lance.tables import name_version, open_table, store_errors
from indexes.table_files import tag_of
from schemas.causes import caused_by
from schemas.cost import Cause
from schemas.errors import ConfigError, StaleLease, StoreUnavailable

# Searches read unindexed rows one by one: 20,000 chunks cost 180 ms instead of 6.
MAX_UNINDEXED_ROWS = 5_000
MAX_UNINDEXED_SHARE = 0.2
MAX_SMALL_FRAGMENTS = 20
# A cleanup also compacts, so it waits until it frees about a dozen generations' leftovers.
MAX_STALE_VERSIONS = 24
# A merge keeps its whole source: 50,000 chunks with three vectors each take 0.5 GB, 200,000 edges a fifth.
MAX_MERGED_ROWS = 50_000
MAX_MERGED_SMALL_ROWS = 200_000
# How long a cleanup may take to start; if it takes longer, it fails whole and the next prune tries again.
WINDOW_MARGIN = timedelta(seconds=10)
# `optimize` also deletes versions, by default those of 7 days; where one of them is tagged it raises instead
# (LanceDB 0.40, Table.optimize). A generation is kept however old it is, so nothing goes by a default.
_NO_CLEANUP = timedelta(days=365 * 100)
_TAGGED = "Cleanup error"


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
        prepare: Callable[[Table], None] = lambda _table: None,
        small_rows: bool = False,
    ) -> None:
        self._name = name
        self._schema = schema
        self._prepare = prepare
        self._small_rows = small_rows
        self._table = open_table(database, name, schema)
        self._version: int | None = None

    @property
    def table(self) -> Table:
        """The table at its staged state, for reading."""
        return self._table

    def stage(self, generation: int, *, base: int) -> None:
        """Make the newest version equal to *base*; a tag of an abandoned *generation* goes."""
        with store_errors(self._name):
            tags = self._table.tags.list()
            if tag_of(base) not in tags:
                raise StoreUnavailable(f"generation {base} is not there to build on", subject=self._name)
            if tag_of(generation) in tags:
                self._table.tags.delete(tag_of(generation))
            self._table.checkout_latest()
            if self._table.version != tags[tag_of(base)]["version"]:
                self._table.checkout(tag_of(base))
                self._table.restore()
            self._version = self._table.version

    def apply(self, batches: Iterable[pa.RecordBatch], deletes: Collection[str]) -> None:
        """Upsert the batches' rows and delete ids, in as few commits as memory allows; none for nothing.

        An id that is both upserted and deleted stays. An error raised by *batches* comes out as it is; what
        was committed before it is undone by the next `stage`.
        """
        base = self._require_latest()
        stream, gone = MergeStream(batches, self._schema), deletes
        while gone or not stream.is_empty:
            base = self._commit(stream, gone, base)
            gone = ()

    def finish(self, generation: int) -> StoreState:
        """Put the indexes in order where that is due, name the version, and say what it contains."""
        self._require_latest()
        with store_errors(self._name):
            with caused_by(Cause.INDEXES):
                if self._needs_optimizing():
                    self._compact()
                self._prepare(self._table)
            self._version = self._table.version
            name_version(self._table, tag_of(generation), self._version)
        with caused_by(Cause.DIGESTS):
            return scan.state(self._table)

    def prune(self, *, keep: Collection[int]) -> None:
        """Drop the tags of all generations but *keep* and, from time to time, the files only they need."""
        with store_errors(self._name):
            self._table.checkout_latest()
            kept = {tag_of(generation) for generation in keep}
            for tag in sorted(set(self._table.tags.list()) - kept):
                self._table.tags.delete(tag)
            versions = {tag["version"] for tag in self._table.tags.list().values()}
            if versions:
                self._clean_before(versions)
        self._version = None

    def _compact(self) -> None:
        """Merge small files and put new rows into the indexes; every version stays."""
        self._table.optimize(cleanup_older_than=_NO_CLEANUP)

    def _clean_before(self, tagged: Collection[int]) -> None:
        times = {item["version"]: item["timestamp"] for item in self._table.list_versions()}
        if sum(version < min(tagged) for version in times) < MAX_STALE_VERSIONS:
            return
        self._compact()  # first, so that the cleanup below starts at once
        # Ages are counted by the store's clock: the time it gives to a version made now.
        self._table.checkout(self._table.version)
        self._table.restore()
        now = self._table.list_versions()[-1]["timestamp"].timestamp()
        # By time, not by number: a clock that was set back makes a later version look older.
        # A version whose manifest was lost is not listed; nothing of it can be kept.
        oldest = min((times[version].timestamp() for version in tagged if version in times), default=now)
        age = timedelta(seconds=max(now - oldest, 0.0))
        try:
            self._table.optimize(cleanup_older_than=age + WINDOW_MARGIN)
        except RuntimeError as error:
            # It started so late that a tagged version is older than the window; the next prune tries again.
            if _TAGGED not in str(error):
                raise

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
            return self._table.delete(_ids(deletes))
        if not self._table.count_rows():  # a first load, however large, goes through without being held
            return self._table.add(stream.reader())
        # No index: with one on the key, two writers of the same new keys both insert them (measured).
        merge = self._table.merge_insert("id").use_index(False)
        merge = merge.when_matched_update_all().when_not_matched_insert_all()
        if deletes:
            merge = merge.when_not_matched_by_source_delete(_ids(deletes))
        most = MAX_MERGED_SMALL_ROWS if self._small_rows else MAX_MERGED_ROWS
        return merge.execute(stream.reader(max_rows=most))

    def _stale(self, found: str) -> StaleLease:
        return StaleLease(f"somebody else wrote in between ({found}); run again", subject=self._name)

    def _needs_optimizing(self) -> bool:
        unindexed = max((index.num_unindexed_rows for index in self._table.list_indices()), default=0)
        stats = self._table.stats()
        allowed = min(MAX_UNINDEXED_ROWS, MAX_UNINDEXED_SHARE * stats["num_rows"])
        small = int(stats["fragment_stats"]["num_small_fragments"])
        return bool(unindexed > allowed) or small > MAX_SMALL_FRAGMENTS


def _ids(values: Collection[str]) -> Expr:
    return col("id").isin(sorted(set(values)))
