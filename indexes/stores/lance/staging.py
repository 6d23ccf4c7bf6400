"""One table being written: the same six steps for chunks, nodes and edges.

What is staged is the newest version of the table. Readers are at tagged versions and do not see it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import lancedb
import pyarrow as pa
from lancedb.table import Table

from indexes.digests import follows_change
from indexes.ports import StoreState
from indexes.stores.lance import scan
from indexes.stores.lance.scan import NARROW_PAGE, ROW_ID, one_of, state_after_change
from indexes.stores.lance.table_upkeep import Address, TableUpkeep, open_by_engine
from indexes.stores.lance.tables import name_version, open_at, open_table, store_errors, table_address
from indexes.table_files import maintained_tag_of, tag_of
from schemas.batches import in_parts
from schemas.cost import Cause, caused_by
from schemas.errors import ConfigError, DamageFound, SchemaMismatch, StaleLease, StoreUnavailable

if TYPE_CHECKING:
    import lance


class MergeStream:
    """Batches for one or several commits, and the hash of every row seen, by id.

    One batch is held at a time, but for the few that `few` gives.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
        self.error: Exception | None = None
        self.seen: dict[str, str] = {}
        self._schema = schema
        self._batches = _each_id_once(batches, self.seen)
        self._next = next(self._batches, None)

    @property
    def is_empty(self) -> bool:
        """Whether there is no row left."""
        return self._next is None

    def few(self, most: int) -> tuple[pa.RecordBatch, ...] | None:
        """Return all that is left, where that is at most so many rows; if there are more, none is taken."""
        taken, rows = list[pa.RecordBatch](), 0
        while self._next is not None and rows + self._next.num_rows <= most:
            taken.append(self._next)
            rows += self._next.num_rows
            self._advance()
        if self._next is None:
            return tuple(taken)
        self._batches = chain((*taken, self._next), self._batches)
        self._next = next(self._batches)
        return None

    def reader(self, *, max_rows: int | None = None) -> pa.RecordBatchReader:
        """Return what is left, or batches up to about *max_rows*, to the store."""
        return pa.RecordBatchReader.from_batches(self._schema, self._guarded(max_rows))

    def _guarded(self, max_rows: int | None) -> Iterator[pa.RecordBatch]:
        given = 0
        while self._next is not None and (max_rows is None or given < max_rows):
            given += self._next.num_rows
            yield self._next
            self._advance()

    def _advance(self) -> None:
        # Arrow's stream interface keeps an error's text and loses the error.
        try:
            self._next = next(self._batches, None)
        except Exception as error:
            self.error = error
            raise


def _each_id_once(batches: Iterable[pa.RecordBatch], seen: dict[str, str]) -> Iterator[pa.RecordBatch]:
    """Leave out repeated rows, known by what was *seen*: the store would keep two new rows of one id.

    Raises: SchemaMismatch: two different rows have one id.
    """
    for batch in batches:
        keys, hashes = batch.column("id").to_pylist(), batch.column("row_sha256").to_pylist()
        fresh = [_is_fresh(seen, key, sha) for key, sha in zip(keys, hashes, strict=True)]
        if any(fresh):
            yield batch if all(fresh) else batch.filter(pa.array(fresh))


def _is_fresh(seen: dict[str, str], key: str, sha: str) -> bool:
    known = seen.get(key)
    if known is not None and known != sha:
        raise SchemaMismatch("two different rows have this id", subject=key)
    seen[key] = sha
    return known is None


LEAST_SHARE, ALWAYS_FEW = 100, 200
"""New rows: a hundredth of a table's is cheaper to replace than to merge, three are not (bench/RESULTS.md).
However many rows go, to mark them costs less than a merge does."""
_OFFSET_BITS = 32


def most_replaced(rows: int) -> int:
    """How many rows are few in a table of so many."""
    return max(ALWAYS_FEW, rows // LEAST_SHARE)


def replace_rows(
    table: Table, address: Address, *, batches: Sequence[pa.RecordBatch], ids: Collection[str]
) -> None:
    """Put *batches* in the place of all rows of *ids*, in one version on top of the *table*'s own.

    Raises: StaleLease: somebody else committed in between. Nothing is written where that touched a file that
    this changes or was a change by this function; else both are there, until the next `stage`.
    SchemaMismatch: the table has stable row ids.
    """
    import lance
    from lance.commit import CommitConflictError
    from lance.fragment import write_fragments

    base = int(table.version)
    opened = open_by_engine(address, version=base)
    if opened.has_stable_row_ids:
        raise SchemaMismatch("has stable row ids, which tell nobody where a row stands", subject=table.name)
    left = _without(opened, _places(table, ids))
    rows = pa.Table.from_batches(batches, schema=opened.schema) if batches else None
    version = opened.data_storage_version
    new = [] if rows is None else write_fragments(rows, opened, data_storage_version=version)
    change = lance.LanceOperation.Update(
        removed_fragment_ids=[number for number, rest in left.items() if rest is None],
        updated_fragments=[rest for rest in left.values() if rest is not None],
        new_fragments=new,
    )
    try:
        written = lance.LanceDataset.commit(opened, change, read_version=base, max_retries=0).version
    except CommitConflictError as error:
        raise StaleLease("its commit met another; run again", subject=table.name) from error
    if written != base + 1:
        raise StaleLease(f"version {written} on top of {base}; run again", subject=table.name)
    table.checkout_latest()


def _places(table: Table, ids: Collection[str]) -> Mapping[int, list[int]]:
    """Where rows of these ids stand: their offsets by file."""
    places = defaultdict[int, list[int]](list)
    for page in in_parts(ids, NARROW_PAGE):
        found = table.search().where(one_of("id", page)).select(["id"]).with_row_id(True).to_arrow()
        for address in found.column(ROW_ID).to_pylist():
            places[address >> _OFFSET_BITS].append(address & ((1 << _OFFSET_BITS) - 1))
    return places


def _without(
    opened: "lance.LanceDataset", places: Mapping[int, list[int]]
) -> "dict[int, lance.FragmentMetadata | None]":
    """Files without the rows at some places, None where none is left.

    The first file is always among them: two writers that only add would not meet, and both add a row.
    """
    files = {file.fragment_id: file for file in opened.get_fragments()}
    left = {min(files): files[min(files)].metadata} if files else {}
    return left | {number: files[number].delete_rows(offsets) for number, offsets in places.items()}


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
        self._upkeep = TableUpkeep(self._table, self._address, small_rows=small_rows)
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

    def apply_batches(self, batches: Iterable[pa.RecordBatch], deletes: Collection[str]) -> None:
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

    def abort(self, generation: int, *, base: int) -> None:
        """Leave no trace of the staged generation."""
        self.stage(generation, base=base)

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
        few = stream.few(min(most, most_replaced(rows)))
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
