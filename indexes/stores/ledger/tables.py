"""The ledger's tables; one schema for SQLite and PostgreSQL."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from schemas.batches import Key, in_parts

OPEN = 2**53 - 1
"""`valid_to` of a row that is still current: the largest integer every store keeps exactly."""

KEEP_LEAST = "keep least"
"""Marks a column whose value an upsert may only lower."""

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""Text that sorts and compares by code point in both databases, as Python does."""

metadata = sa.MetaData()


def _optional(*names: str, kind: Any = _TEXT) -> list[sa.Column[Any]]:
    """Columns that may be NULL."""
    return [sa.Column(name, kind) for name in names]


def _given(*names: str, kind: Any = _TEXT) -> list[sa.Column[Any]]:
    """Columns that have a value in every row."""
    return [sa.Column(name, kind, nullable=False) for name in names]


def _keys(*names: str, kind: Any = _TEXT) -> list[sa.Column[Any]]:
    """Columns of the primary key."""
    return [sa.Column(name, kind, primary_key=True) for name in names]


def _table(name: str, *columns: sa.Column[Any]) -> sa.Table:
    return sa.Table(name, metadata, *columns)


document = _table(
    "document",
    *_keys("source", "uri"),
    *_given("state"),
    # The least depth known stays: who read the row earlier may save it after another has lowered it.
    sa.Column("depth", sa.Integer, nullable=False, info={KEEP_LEAST: True}),
    *_given("hops", kind=sa.Integer),
    *_optional("found_by", "doc", "doc_id"),
    *_given("title"),
    *_optional("words", kind=sa.Integer),
    *_given("secrets", kind=sa.Integer),
    *_given("withheld", kind=sa.Boolean),
    *_optional("content_type", "x_robots_tag", "etag", "last_modified", "fetched_modified", "fetched_origin"),
    *_optional("stated_modified", "stated_origin", "raw_sha", "parsed_sha", "fragment_sha", "content_hash"),
    *_optional("pipeline_version"),
    *_optional("http_status", kind=sa.Integer),
    *_optional("location", "canonical", "refresh", "lastmod", "lastmod_then"),
    *_optional("lastmod_held", kind=sa.Boolean),
    *_given("failures", "misses", kind=sa.Integer),
    *_optional("missed_at"),
    *_given("unmodified", "repeats", kind=sa.Integer),
    *_given("denied", kind=sa.Boolean),
    *_given("moves", kind=sa.Integer),
    *_optional("interval", kind=sa.Float),
    *_optional("next_due", "fetched_at", "checked_at", "run_id"),
    *_given("reason"),
)
sa.Index("document_run", document.c.source, document.c.run_id)
sa.Index("document_raw", document.c.raw_sha)
sa.Index("document_fragment", document.c.fragment_sha)
sa.Index("document_doc", document.c.doc)

host = _table("host", *_keys("host"), *_given("distrusted_at", "reason"))

site_dates = _table("site_dates", *_keys("site"), *_given("since"))

# Moments of both are seconds since 1970 by the clock of the database.
host_turn = _table(
    "host_turn",
    *_keys("host"),
    *_given("holder"),
    *_given("until", "asked_at", kind=sa.Double),
)

host_user = _table(
    "host_user",
    *_keys("host", "holder"),
    *_given("delay", kind=sa.Double),
    *_optional("waiting_since", kind=sa.Double),
    *_given("expires_at", kind=sa.Double),
)

doc_rev = _table(
    "doc_rev",
    *_keys("doc"),
    *_keys("valid_from", kind=sa.BigInteger),
    *_given("valid_to", kind=sa.BigInteger),
    *_given("source", "uri", "fragment_sha", "content_hash"),
    *_optional("doc_id", "fetched_at", "last_modified", "last_modified_origin"),
    *_given("stale", kind=sa.Boolean),
    *_given("aliases", kind=sa.JSON),
)
sa.Index("doc_rev_uri", doc_rev.c.uri, postgresql_using="hash")
sa.Index("doc_rev_doc_id", doc_rev.c.doc_id, postgresql_using="hash")
sa.Index("doc_rev_fragment", doc_rev.c.fragment_sha)
sa.Index("doc_rev_source", doc_rev.c.source)

redirect_rev = _table(
    "redirect_rev",
    *_keys("uri"),
    *_keys("valid_from", kind=sa.BigInteger),
    *_given("valid_to", kind=sa.BigInteger),
    *_given("location"),
)

fragment_link = _table(
    "fragment_link",
    *_given("fragment_sha", "target"),
    *_optional("fragment"),
    *_given("text", "position"),
)
# A B-tree of PostgreSQL refuses values beyond 2,704 bytes, and pages link to longer URLs.
sa.Index("fragment_link_target", fragment_link.c.target, postgresql_using="hash")
sa.Index("fragment_link_fragment", fragment_link.c.fragment_sha)

# What lists each address of a source, as sitemaps do: names of ways, with a space between.
listed = _table("listed", *_keys("source", "uri"), *_given("ways"))

fragment_name = _table(
    "fragment_name",
    *_keys("fragment_sha"),
    *_keys("seq", kind=sa.Integer),
    *_given("text", "role", "entity", "disambiguation"),
    *_optional("node"),
)

# How the names above are looked up; a table of its own, as `lease_start` is.
name_key = _table(
    "name_key",
    *_keys("fragment_sha"),
    *_keys("seq", kind=sa.Integer),
    *_given("start", "folded"),
)
sa.Index("name_key_start", name_key.c.start, postgresql_using="hash")
sa.Index("name_key_folded", name_key.c.folded, postgresql_using="hash")

# First words of names of several; one that begins no name any more does no harm.
name_word = _table("name_word", *_keys("word"))

answer = _table("answer", *_keys("key"), *_given("text"))

origin = _table("origin", *_keys("fragment_sha"), *_optional("raw_sha"))
sa.Index("origin_raw", origin.c.raw_sha)

pages = _table("pages", *_keys("fragment_sha"), *_given("pages_sha"))
sa.Index("pages_pages", pages.c.pages_sha)

# Files that the ledger named and names no more; and whether a crawl broke off since all were looked at.
replaced = _table("replaced", *_keys("kind", "sha256"))

collection = _table("collection", *_keys("name"), *_given("state"))

soft_error = _table("soft_error", *_keys("fragment_sha"), *_given("reason"), *_given("sure", kind=sa.Boolean))

word_coverage = _table(
    "word_coverage",
    *_keys("fragment_sha"),
    *_given("seen", "kept", "lost", "invented", kind=sa.Integer),
    *_given("dropped", kind=sa.JSON),
)

match = _table("match", *_keys("fragment_sha", "selector"))

# Groups to which front matter narrows who may see a document.
fragment_access = _table("fragment_access", *_keys("fragment_sha", "group"))

# Uses that are refused for a document, and from when on, "" for at once.
fragment_refusal = _table("fragment_refusal", *_keys("fragment_sha", "use"), *_given("begins"))

# What was said at the last look that an address may be used for, and since when that is known.
said_use = _table("said_use", *_keys("source", "uri"), *_given("terms", kind=sa.JSON))

# Forms of an address in other languages that its site names beside its bytes, by where it does.
said_translation = _table("said_translation", *_keys("source", "uri"), *_given("said", kind=sa.JSON))

manifest = _table("manifest", *_keys("generation", kind=sa.BigInteger), *_given("text"))

generation = _table(
    "generation",
    *_keys("generation", kind=sa.BigInteger),
    *_given("base", kind=sa.BigInteger),
    *_given("state", "source", "run_id"),
    *_given("token", kind=sa.BigInteger),
    *_given("as_of"),
    *_optional("plan_sha", "details"),
)

outbox = _table(
    "outbox",
    *_keys("generation", kind=sa.BigInteger),
    *_keys("seq", kind=sa.Integer),
    *_given("payload_sha"),
)

owner = _table(
    "owner",
    sa.Column("only", sa.Integer, primary_key=True, autoincrement=False),
    *_given("index_id"),
)

lease = _table("lease", *_keys("name"), *_given("token", kind=sa.BigInteger), *_given("holder", "expires_at"))

# A table of its own: ledgers made before it gain it when they are opened, as they would no column.
lease_start = _table(
    "lease_start",
    *_keys("name"),
    *_given("token", kind=sa.BigInteger),
    *_given("acquired_at"),
)

run = _table(
    "run",
    *_keys("run_id"),
    *_given("source", "state", "started_at"),
    *_optional("finished_at", "report"),
)

stop = _table("stop", *_keys("run_id", "sha256"), *_given("reason", "url"))
sa.Index("stop_reason", stop.c.run_id, stop.c.reason)

problem = _table("problem", *_keys("run_id", "sha256"), *_given("url", "reason"))

history = _table(
    "history",
    *_keys("source", "uri"),
    *_keys("seq", kind=sa.Integer),
    *_given("event"),
    *_optional("from_state"),
    *_given("to_state"),
    *_optional("at", "until"),
    *_given("times", kind=sa.Integer),
    *_optional("run_id"),
    *_optional("http_status", kind=sa.Integer),
    *_given("reason"),
    *_optional("location"),
    *_optional("conditional", kind=sa.Boolean),
    *_optional("bytes", kind=sa.BigInteger),
    *_optional("raw_sha", "content_hash"),
)

change = _table(
    "change",
    *_keys("generation", kind=sa.BigInteger),
    *_keys("seq", kind=sa.Integer),
    *_given("kind", "change"),
    *_optional("old_id", "new_id"),
    *_given("source", "uri", "reason"),
)
sa.Index("change_old_id", change.c.old_id, postgresql_using="hash")
sa.Index("change_new_id", change.c.new_id, postgresql_using="hash")
sa.Index("change_uri", change.c.uri, postgresql_using="hash")

# What passages said that are no more, for as long as the change that took them out is kept.
former_text = _table("former_text", *_keys("chunk"), *_given("text"))

# Says that the changes of a generation are kept: one without changes would look like one that is not.
feed = _table("feed", *_keys("generation", kind=sa.BigInteger), *_given("entries", kind=sa.Integer))

source = _table("source", *_keys("name"), *_given("record"))


class LedgerPart:
    """A part of the ledger, over its one database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def _rows(self, query: sa.Executable) -> Iterator[sa.Row[Any]]:
        """Yield the rows of a query; who asks takes them all."""
        with self._reading.connect() as connection:
            yield from connection.execute(query)

    def _among(
        self, query: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Key]
    ) -> Iterator[sa.Row[Any]]:
        """Yield the rows of a query whose *column* has one of the values, however many."""
        with self._reading.connect() as connection:
            yield from select_among(connection, query, column, values)

    def _values(self, query: sa.Executable) -> list[Any]:
        """Return the first column of a query's rows."""
        with self._reading.connect() as connection:
            return list(connection.execute(query).scalars())

    def _value(self, query: sa.Executable) -> Any | None:
        """Return the first column of the first row; None where there is no row."""
        with self._reading.connect() as connection:
            return connection.execute(query).scalar()

    def _count(self, *conditions: sa.ColumnElement[bool]) -> int:
        """Count the rows that meet conditions."""
        return self._value(sa.select(sa.func.count()).where(*conditions)) or 0

    def _run(self, *statements: sa.Executable) -> None:
        """Change rows, all or none."""
        with self._engine.begin() as connection:
            for statement in statements:
                connection.execute(statement)

    def _update_each(self, table: sa.Table, rows: Iterable[Mapping[str, Any]], **options: Any) -> None:
        """Write values of rows that are there, as `update_each` does."""
        with self._engine.begin() as connection:
            update_each(connection, table, rows, **options)

    def _upsert(self, table: sa.Table, rows: Collection[Mapping[str, Any]]) -> None:
        """Insert rows, replacing those of equal primary key."""
        with self._engine.begin() as connection:
            upsert(connection, table, rows)

    def _insert_new(self, table: sa.Table, rows: Collection[Mapping[str, Any]]) -> None:
        """Insert rows, but for those whose primary key is taken."""
        with self._engine.begin() as connection:
            insert_new(connection, table, rows)


def select_among(
    connection: sa.Connection, query: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Key]
) -> Iterator[sa.Row[Any]]:
    """Yield the rows of a query whose *column* has one of the values, however many."""
    for part in in_parts(values):
        yield from connection.execute(query.where(column.in_(part)))


def upsert(connection: sa.Connection, table: sa.Table, rows: Collection[Mapping[str, Any]]) -> None:
    """Insert rows, replacing those of equal primary key."""
    keys = [column.name for column in table.primary_key]
    statement = insert(connection, table)
    updates = {c.name: _updated(statement, c) for c in table.columns if c.name not in keys}
    if rows:
        connection.execute(
            statement.on_conflict_do_update(index_elements=keys, set_=updates), _ordered(rows, keys)
        )


def insert_new(connection: sa.Connection, table: sa.Table, rows: Collection[Mapping[str, Any]]) -> None:
    """Insert rows; where the primary key is taken, the row that is there stays as it is."""
    keys = [column.name for column in table.primary_key]
    statement = insert(connection, table)
    if rows:
        connection.execute(statement.on_conflict_do_nothing(index_elements=keys), _ordered(rows, keys))


def update_each(
    connection: sa.Connection,
    table: sa.Table,
    rows: Iterable[Mapping[str, Any]],
    *,
    keys: Sequence[str],
    values: Sequence[str],
    where: Callable[[Mapping[str, sa.BindParameter[Any]]], sa.ColumnElement[bool]] | None = None,
) -> None:
    """Write the *values* of rows that are there, found by their *keys*, and by *where* of the new values."""
    new: dict[str, sa.BindParameter[Any]] = {name: sa.bindparam(f"new_{name}") for name in values}
    statement = sa.update(table).where(*(table.c[key] == sa.bindparam(f"of_{key}") for key in keys))
    statement = statement.where(where(new)) if where else statement
    bound = [
        {**{f"of_{key}": row[key] for key in keys}, **{f"new_{name}": row[name] for name in values}}
        for row in _ordered(rows, keys)
    ]
    if bound:
        connection.execute(statement.values(new), bound)


def insert(connection: sa.Connection, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say what to do where the primary key is taken."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def _updated(statement: postgresql.Insert | sqlite.Insert, column: sa.Column[Any]) -> Any:
    new = statement.excluded[column.name]
    return sa.case((new < column, new), else_=column) if KEEP_LEAST in column.info else new


def _ordered(rows: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> list[dict[str, Any]]:
    """In key order: two writers that lock rows in one order cannot lock each other out."""
    return sorted(map(dict, rows), key=lambda row: [row[key] for key in keys])
