"""Reads of a table at one version: conditions in SQL, rows by value or in id order, hashes, state."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from lancedb.query import BooleanQuery, MatchQuery, Occur
from lancedb.table import Table

from indexes.digests import StoredRow, Told, check_numbers, refuse_repeated, state_after
from indexes.lattice_hash import LatticeHash
from indexes.ports import StoreState
from indexes.store_checks import INTEGER_FIELDS, LIST_FIELDS, check_filters, interval_of
from indexes.stores.lance.tables import store_errors
from schemas.batches import in_parts
from schemas.errors import FilterError
from schemas.evidence import DATE_FIELDS, Condition, Filter, LeftOut
from schemas.records import Record


def where(filters: Collection[Condition]) -> str | None:
    """Return the conjunction of all filters, or None for no filter.

    Raises: FilterError: an unknown field, or a value its column cannot have.
    """
    check_filters(filters)
    tests = (_left_out(item) if isinstance(item, LeftOut) else _condition(item) for item in filters)
    return " AND ".join(f"({test})" for test in tests) or None


def one_of(column: str, values: Collection[str]) -> str:
    """Return the condition that a text column equals one of *values*."""
    return f"{column} IN ({', '.join(map(_literal, sorted({*values})))})" if values else "false"


def between(column: str, low: str | None, high: str | None) -> str:
    """Return the condition that a text is at least *low* and less than *high*, of which one may be open."""
    tests = [f"{column} >= {_literal(low)}"] if low is not None else []
    tests += [f"{column} < {_literal(high)}"] if high is not None else []
    return " AND ".join(f"({test})" for test in tests)


def any_of(column: str, phrases: Collection[str]) -> str:
    """Return the condition that a text column contains one of *phrases*."""
    return " OR ".join(f"contains({column}, {_literal(phrase)})" for phrase in phrases) or "false"


def _literal(value: str) -> str:
    """Write a text in SQL. DataFusion reads every sign as it is, a backslash too, but for a doubled quote.

    `to_sql` of lancedb.expr does not double a quote after a backslash (LanceDB 0.40), so nothing uses that.
    Raises: FilterError: half a surrogate pair, which no table can hold.
    """
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise FilterError("is not UTF-8, so no index holds it", subject=repr(value[:80])) from error
    return "'" + value.replace("'", "''") + "'"


def _left_out(item: LeftOut) -> str:
    # Of a column without a value no test is true or false: that it has one is asked first.
    tests = [f"{one.field} IS NOT NULL AND ({_condition(one)})" for one in item.where]
    tests += [f"NOT ({one.field} IS NOT NULL AND ({_condition(one)}))" for one in item.unless]
    return f"NOT ({' AND '.join(f'({test})' for test in tests)})"


def _condition(item: Filter) -> str:
    if item.field in INTEGER_FIELDS:
        numbers = ", ".join(str(int(value)) for value in item.values)
        return f"{item.field} IN ({numbers})" if numbers else "false"
    if item.field in LIST_FIELDS:
        return _holds_one_of(item.field, item.values)
    if item.field in DATE_FIELDS:
        return (
            " OR ".join(f"({_within(item.field, *interval_of(value))})" for value in item.values) or "false"
        )
    return one_of(item.field, item.values)


def _within(column: str, start: str | None, end: str | None) -> str:
    bounds = between(column, start, end)
    return f"{column} IS NOT NULL AND {bounds}" if bounds else f"{column} IS NOT NULL"


def _holds_one_of(column: str, values: Collection[str]) -> str:
    return " OR ".join(f"array_has({column}, {_literal(value)})" for value in values) or "false"


PAGE = 1000
"""Rows read, or ids asked for, at once: bounds memory and the length of a condition."""
NARROW_PAGE = 10_000
"""The same of rows without vectors or texts: a few hundred bytes each. So many are Python's at once."""
NARROW_RANGE = 50_000
"""Such rows read at once by a range of ids. They lie all over the table, so a range costs most of a pass."""
FEW = 3
"""Columns up to which rows are scanned: 449 of eight million edges took 35 CPU ms in 8 columns, taken 27."""
ROW_ID = "_rowid"
BATCH = 4096
"""Rows of a few columns read at once."""
RANGE = 131_072
"""Rows of ids and hashes held at once: 16 MB, several times that as values of Python."""
COUNTED = ("id", "kind", "row_sha256")
"""The columns of a `StoredRow`."""
SAMPLED = 256
"""Every so manieth id tells where to cut a table."""


def read(table: Table, condition: str | None, columns: Sequence[str]) -> pa.Table:
    """Read all rows that meet a condition, in no order. A scan has no limit, unlike a search."""
    with store_errors(table.name):
        query = table.search().select(list(columns))
        return (query if condition is None else query.where(condition)).to_arrow()


def batches(table: Table, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read all rows, a batch at a time, in the table's own order."""
    with store_errors(table.name):
        yield from table.search().select(list(columns)).to_batches(BATCH)


def tables_with(
    table: Table, column: str, values: Collection[str], columns: Sequence[str], condition: str | None = None
) -> Iterator[pa.Table]:
    """Read the rows whose *column* equals one of *values*, PAGE values at a time, each page in id order."""
    for page in in_parts(values, PAGE):
        test = one_of(column, page)
        where = f"({test}) AND ({condition})" if condition else test
        found = _taken(table, where, column, columns) if len(columns) > FEW else read(table, where, columns)
        yield found.sort_by("id")


def _taken(table: Table, condition: str, tested: str, columns: Sequence[str]) -> pa.Table:
    """Find rows by one column, then take the others by place, which decodes less than a scan of all."""
    with store_errors(table.name):
        found = table.search().where(condition).select([tested]).with_row_id(True).to_arrow()
        return table.take_row_ids(found.column(ROW_ID).to_pylist()).select(list(columns)).to_arrow()


def rows_with(
    table: Table, column: str, values: Collection[str], columns: Sequence[str], condition: str | None = None
) -> Iterator[Record]:
    """Read rows as `tables_with` does, one by one."""
    for found in tables_with(table, column, values, columns, condition):
        yield from found.to_pylist()


def tables_in_id_order(
    table: Table, columns: Sequence[str], condition: str | None = None
) -> Iterator[pa.Table]:
    """Read rows in id order, PAGE at a time: only the ids are all held at once."""
    ids = read(table, condition, ["id"]).column("id").to_pylist()
    return tables_with(table, "id", ids, columns)


def rows_in_id_order(table: Table, columns: Sequence[str], condition: str | None = None) -> Iterator[Record]:
    """Read rows as `tables_in_id_order` does, one by one."""
    for found in tables_in_id_order(table, columns, condition):
        yield from found.to_pylist()


def narrow_rows_in_id_order(
    table: Table, columns: Sequence[str], condition: str | None = None
) -> Iterator[Record]:
    """Read rows in id order, NARROW_RANGE at a time, by ranges of ids: asking for each id takes longer."""
    ids = read(table, condition, ["id"]).column("id").sort()
    starts = [ids[place].as_py() for place in range(0, len(ids), NARROW_RANGE)]
    for low, high in pairwise((*starts, None)):
        test = between("id", low, high)
        found = read(table, f"({test}) AND ({condition})" if condition else test, columns)
        for batch in found.sort_by("id").to_batches(max_chunksize=NARROW_PAGE):
            yield from batch.to_pylist()


def hashes(table: Table, ids: Collection[str] | None = None) -> Mapping[str, str]:
    """`row_sha256` as stored, by id: of all rows, or of *ids*.

    Raises: DamageFound: an id stands in two rows.
    """
    columns = ["id", "row_sha256"]
    if ids is None:
        return _hashes(table.name, read(table, None, columns))
    some = (_hashes(table.name, found) for found in tables_with(table, "id", ids, columns))
    return {id_: sha256 for part in some for id_, sha256 in part.items()}


def stored_rows(found: pa.Table) -> Iterator[StoredRow]:
    """Give the rows of a table with the columns COUNTED."""
    return map(StoredRow, *(found.column(name).to_pylist() for name in COUNTED))


def state(table: Table) -> StoreState:
    """Count all rows per kind and hash them; the version is the one the handle is at.

    Ids and hashes stay in Arrow, and of a large table a range of ids is held at a time.
    Raises: DamageFound: an id stands in two rows.
    """
    counts, rows, version = Counter[str](), LatticeHash(), table.version
    for condition in _ranges(table):
        found = read(table, condition, COUNTED)
        ids = found.column("id")
        refuse_repeated(found.num_rows - pc.count_distinct(ids).as_py(), subject=table.name)
        for kind in pc.value_counts(found.column("kind")).to_pylist():
            counts[kind["values"]] += kind["counts"]
        rows = rows.plus(zip(ids.to_pylist(), found.column("row_sha256").to_pylist(), strict=True))
    return StoreState(counts=dict(sorted(counts.items())), rows=rows, version=version)


def _ranges(table: Table) -> Iterator[str | None]:
    """Conditions that divide the rows by id into parts of about RANGE, in id order; None for all at once."""
    if table.count_rows() <= RANGE:
        yield None
        return
    columns = (batch.column("id") for batch in batches(table, ["id"]))
    sample = sorted(id_ for ids in columns for id_ in ids[::SAMPLED].to_pylist())
    cuts = sample[RANGE // SAMPLED :: RANGE // SAMPLED]
    yield from (between("id", low, high) for low, high in zip([None, *cuts], [*cuts, None], strict=True))


def _hashes(name: str, found: pa.Table) -> dict[str, str]:
    by_id = dict(zip(found.column("id").to_pylist(), found.column("row_sha256").to_pylist(), strict=True))
    refuse_repeated(found.num_rows - len(by_id), subject=name)
    return by_id


ROWS_READ_PER_LOOKUP: Final = 2_500
"""A lookup costs as much CPU time as to read the texts of so many rows (bench/RESULTS.md)."""
LOOKED_UP_AT_ONCE: Final = 20
"""Ten phrases in one question cost a quarter of ten questions (bench/RESULTS.md)."""
_LONGEST: Final = 40
"""Longer words are not in the index (LanceDB 0.40, `FTS.max_token_length`)."""
_WORDS: Final = re.compile(r"[0-9A-Za-z]+")


def is_looked_up(phrase: str) -> bool:
    """Whether the index over words finds every text in which the phrase stands outside of words.

    The index cuts texts where a character is neither letter nor digit, by Rust's tables; those of Python,
    which say where a word ends, differ for a few marks outside of ASCII. A phrase needs a word that is short
    enough to be there.
    """
    words = _WORDS.findall(phrase)
    return phrase.isascii() and any(len(word) <= _LONGEST for word in words)


def choose_lookups(phrases: Collection[str], table: Table) -> frozenset[str]:
    """Phrases to look up, those that can be; none where to read all texts once is cheaper."""
    looked_up = frozenset(filter(is_looked_up, phrases))
    cheaper = len(looked_up) * ROWS_READ_PER_LOOKUP < table.count_rows()
    return looked_up if cheaper and _has_words(table) else frozenset()


def _has_words(table: Table) -> bool:
    """Whether texts are cut into words between spaces and signs, and not by a dictionary."""
    details = (index.index_details or {} for index in table.list_indices() if index.columns == ["text"])
    return any(detail.get("base_tokenizer") == "simple" for detail in details)


def documents_with(table: Table, phrases: Collection[str]) -> set[str]:
    """Documents with a text that has all words of one of the phrases, and one of them as written."""
    found = set[str]()
    for page in in_parts(phrases, LOOKED_UP_AT_ONCE):
        several = [(Occur.SHOULD, MatchQuery(phrase, "text", operator="AND")) for phrase in page]
        with store_errors(table.name):
            query = table.search(BooleanQuery(several), query_type="fts")
            held = query.where(any_of("text", page), prefilter=False).select(["doc", "_score"])
            found.update(held.limit(table.count_rows()).to_arrow().column("doc").to_pylist())
    return found


def state_after_change(table: Table, base: Table, *, before: StoreState, told: Told) -> StoreState:
    """Read what *told* names of the staged *table* and of *base*, which contains *before*; count all rows.

    Raises: DamageFound: rows are not there as they were told, or others came or went.
    """
    came = list(_rows(table, told))
    state = state_after(
        before,
        told,
        gone=_gone(table, base, before=before, told=told),
        came=came,
        subject=table.name,
        version=table.version,
    )
    check_numbers(state, _numbers(table, state.counts), subject=table.name)
    return state


def _gone(table: Table, base: Table, *, before: StoreState, told: Told) -> list[StoredRow]:
    """The rows of the base that changed; it is not asked where the numbers say that every row is new."""
    written = sum(sha256 is not None for sha256 in told.values())
    with store_errors(table.name):
        new = int(table.count_rows()) - before.total
    return [] if new == written else list(_rows(base, told))


def _rows(table: Table, ids: Collection[str]) -> Iterator[StoredRow]:
    for page in in_parts(ids, NARROW_PAGE):
        yield from stored_rows(read(table, one_of("id", page), COUNTED))


def _numbers(table: Table, kinds: Collection[str]) -> Mapping[str, int]:
    """Rows per kind of those expected, and those of any other kind together."""
    with store_errors(table.name):
        found = {kind: int(table.count_rows(one_of("kind", [kind]))) for kind in kinds}
        others = int(table.count_rows()) - sum(found.values())
    return found | ({"other": others} if others else {})
