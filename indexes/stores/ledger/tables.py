"""The ledger's tables; one schema for SQLite and PostgreSQL."""

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

OPEN = 2**53 - 1
"""`valid_to` of a row that is still current: the largest integer every store keeps exactly."""

KEEP_LEAST = "keep least"
"""Marks a column whose value an upsert may only lower."""

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""Text that sorts and compares by code point in both databases, as Python does."""

metadata = sa.MetaData()

document = sa.Table(
    "document",
    metadata,
    sa.Column("source", _TEXT, primary_key=True),
    sa.Column("uri", _TEXT, primary_key=True),
    sa.Column("state", _TEXT, nullable=False),
    # The least depth known stays: who read the row earlier may save it after another has lowered it.
    sa.Column("depth", sa.Integer, nullable=False, info={KEEP_LEAST: True}),
    sa.Column("hops", sa.Integer, nullable=False),
    sa.Column("found_by", _TEXT),
    sa.Column("doc", _TEXT),
    sa.Column("doc_id", _TEXT),
    sa.Column("title", _TEXT, nullable=False),
    sa.Column("words", sa.Integer),
    sa.Column("secrets", sa.Integer, nullable=False),
    sa.Column("withheld", sa.Boolean, nullable=False),
    sa.Column("content_type", _TEXT),
    sa.Column("x_robots_tag", _TEXT),
    sa.Column("etag", _TEXT),
    sa.Column("last_modified", _TEXT),
    sa.Column("fetched_modified", _TEXT),
    sa.Column("fetched_origin", _TEXT),
    sa.Column("stated_modified", _TEXT),
    sa.Column("stated_origin", _TEXT),
    sa.Column("raw_sha", _TEXT),
    sa.Column("parsed_sha", _TEXT),
    sa.Column("fragment_sha", _TEXT),
    sa.Column("content_hash", _TEXT),
    sa.Column("pipeline_version", _TEXT),
    sa.Column("http_status", sa.Integer),
    sa.Column("location", _TEXT),
    sa.Column("canonical", _TEXT),
    sa.Column("refresh", _TEXT),
    sa.Column("lastmod", _TEXT),
    sa.Column("lastmod_then", _TEXT),
    sa.Column("lastmod_held", sa.Boolean),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("misses", sa.Integer, nullable=False),
    sa.Column("missed_at", _TEXT),
    sa.Column("unmodified", sa.Integer, nullable=False),
    sa.Column("repeats", sa.Integer, nullable=False),
    sa.Column("denied", sa.Boolean, nullable=False),
    sa.Column("moves", sa.Integer, nullable=False),
    sa.Column("interval", sa.Float),
    sa.Column("next_due", _TEXT),
    sa.Column("fetched_at", _TEXT),
    sa.Column("checked_at", _TEXT),
    sa.Column("run_id", _TEXT),
    sa.Column("reason", _TEXT, nullable=False),
)
sa.Index("document_run", document.c.source, document.c.run_id)
sa.Index("document_raw", document.c.raw_sha)
sa.Index("document_fragment", document.c.fragment_sha)
sa.Index("document_doc", document.c.doc)

host = sa.Table(
    "host",
    metadata,
    sa.Column("host", _TEXT, primary_key=True),
    sa.Column("distrusted_at", _TEXT, nullable=False),
    sa.Column("reason", _TEXT, nullable=False),
)

site_dates = sa.Table(
    "site_dates",
    metadata,
    sa.Column("site", _TEXT, primary_key=True),
    sa.Column("since", _TEXT, nullable=False),
)

# Moments of both are seconds since 1970 by the clock of the database.
host_turn = sa.Table(
    "host_turn",
    metadata,
    sa.Column("host", _TEXT, primary_key=True),
    sa.Column("holder", _TEXT, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
    sa.Column("asked_at", sa.Double, nullable=False),
)

host_user = sa.Table(
    "host_user",
    metadata,
    sa.Column("host", _TEXT, primary_key=True),
    sa.Column("holder", _TEXT, primary_key=True),
    sa.Column("delay", sa.Double, nullable=False),
    sa.Column("waiting_since", sa.Double),
    sa.Column("expires_at", sa.Double, nullable=False),
)

doc_rev = sa.Table(
    "doc_rev",
    metadata,
    sa.Column("doc", _TEXT, primary_key=True),
    sa.Column("valid_from", sa.BigInteger, primary_key=True),
    sa.Column("valid_to", sa.BigInteger, nullable=False),
    sa.Column("source", _TEXT, nullable=False),
    sa.Column("uri", _TEXT, nullable=False),
    sa.Column("fragment_sha", _TEXT, nullable=False),
    sa.Column("content_hash", _TEXT, nullable=False),
    sa.Column("doc_id", _TEXT),
    sa.Column("fetched_at", _TEXT),
    sa.Column("last_modified", _TEXT),
    sa.Column("last_modified_origin", _TEXT),
    sa.Column("stale", sa.Boolean, nullable=False),
    sa.Column("aliases", sa.JSON, nullable=False),
)
sa.Index("doc_rev_uri", doc_rev.c.uri, postgresql_using="hash")
sa.Index("doc_rev_doc_id", doc_rev.c.doc_id, postgresql_using="hash")
sa.Index("doc_rev_fragment", doc_rev.c.fragment_sha)
sa.Index("doc_rev_source", doc_rev.c.source)

redirect_rev = sa.Table(
    "redirect_rev",
    metadata,
    sa.Column("uri", _TEXT, primary_key=True),
    sa.Column("valid_from", sa.BigInteger, primary_key=True),
    sa.Column("valid_to", sa.BigInteger, nullable=False),
    sa.Column("location", _TEXT, nullable=False),
)

fragment_link = sa.Table(
    "fragment_link",
    metadata,
    sa.Column("fragment_sha", _TEXT, nullable=False),
    sa.Column("target", _TEXT, nullable=False),
    sa.Column("fragment", _TEXT),
    sa.Column("text", _TEXT, nullable=False),
    sa.Column("position", _TEXT, nullable=False),
)
# A B-tree of PostgreSQL refuses values beyond 2,704 bytes, and pages link to longer URLs.
sa.Index("fragment_link_target", fragment_link.c.target, postgresql_using="hash")
sa.Index("fragment_link_fragment", fragment_link.c.fragment_sha)

fragment_name = sa.Table(
    "fragment_name",
    metadata,
    sa.Column("fragment_sha", _TEXT, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("text", _TEXT, nullable=False),
    sa.Column("role", _TEXT, nullable=False),
    sa.Column("entity", _TEXT, nullable=False),
    sa.Column("disambiguation", _TEXT, nullable=False),
    sa.Column("node", _TEXT),
)

# How the names above are looked up; a table of its own, as `lease_start` is.
name_key = sa.Table(
    "name_key",
    metadata,
    sa.Column("fragment_sha", _TEXT, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("start", _TEXT, nullable=False),
    sa.Column("folded", _TEXT, nullable=False),
)
sa.Index("name_key_start", name_key.c.start, postgresql_using="hash")
sa.Index("name_key_folded", name_key.c.folded, postgresql_using="hash")

# First words of names of several; one that begins no name any more does no harm.
name_word = sa.Table("name_word", metadata, sa.Column("word", _TEXT, primary_key=True))

answer = sa.Table(
    "answer", metadata, sa.Column("key", _TEXT, primary_key=True), sa.Column("text", _TEXT, nullable=False)
)

origin = sa.Table(
    "origin",
    metadata,
    sa.Column("fragment_sha", _TEXT, primary_key=True),
    sa.Column("raw_sha", _TEXT),
)
sa.Index("origin_raw", origin.c.raw_sha)

pages = sa.Table(
    "pages",
    metadata,
    sa.Column("fragment_sha", _TEXT, primary_key=True),
    sa.Column("pages_sha", _TEXT, nullable=False),
)
sa.Index("pages_pages", pages.c.pages_sha)

# Files that the ledger named and names no more; and whether a crawl broke off since all were looked at.
replaced = sa.Table(
    "replaced",
    metadata,
    sa.Column("kind", _TEXT, primary_key=True),
    sa.Column("sha256", _TEXT, primary_key=True),
)

collection = sa.Table(
    "collection",
    metadata,
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("state", _TEXT, nullable=False),
)

soft_error = sa.Table(
    "soft_error",
    metadata,
    sa.Column("fragment_sha", _TEXT, primary_key=True),
    sa.Column("reason", _TEXT, nullable=False),
    sa.Column("sure", sa.Boolean, nullable=False),
)

word_coverage = sa.Table(
    "word_coverage",
    metadata,
    sa.Column("fragment_sha", _TEXT, primary_key=True),
    sa.Column("seen", sa.Integer, nullable=False),
    sa.Column("kept", sa.Integer, nullable=False),
    sa.Column("lost", sa.Integer, nullable=False),
    sa.Column("invented", sa.Integer, nullable=False),
    sa.Column("dropped", sa.JSON, nullable=False),
)

match = sa.Table(
    "match",
    metadata,
    sa.Column("fragment_sha", _TEXT, primary_key=True),
    sa.Column("selector", _TEXT, primary_key=True),
)

# Groups to which front matter narrows who may see a document.
fragment_access = sa.Table(
    "fragment_access",
    metadata,
    sa.Column("fragment_sha", _TEXT, primary_key=True),
    sa.Column("group", _TEXT, primary_key=True),
)

manifest = sa.Table(
    "manifest",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True),
    sa.Column("text", _TEXT, nullable=False),
)

generation = sa.Table(
    "generation",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True),
    sa.Column("base", sa.BigInteger, nullable=False),
    sa.Column("state", _TEXT, nullable=False),
    sa.Column("source", _TEXT, nullable=False),
    sa.Column("run_id", _TEXT, nullable=False),
    sa.Column("token", sa.BigInteger, nullable=False),
    sa.Column("as_of", _TEXT, nullable=False),
    sa.Column("plan_sha", _TEXT),
    sa.Column("details", _TEXT),
)

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("payload_sha", _TEXT, nullable=False),
)

owner = sa.Table(
    "owner",
    metadata,
    sa.Column("only", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("index_id", _TEXT, nullable=False),
)

lease = sa.Table(
    "lease",
    metadata,
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("token", sa.BigInteger, nullable=False),
    sa.Column("holder", _TEXT, nullable=False),
    sa.Column("expires_at", _TEXT, nullable=False),
)

# A table of its own: ledgers made before it gain it when they are opened, as they would no column.
lease_start = sa.Table(
    "lease_start",
    metadata,
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("token", sa.BigInteger, nullable=False),
    sa.Column("acquired_at", _TEXT, nullable=False),
)

run = sa.Table(
    "run",
    metadata,
    sa.Column("run_id", _TEXT, primary_key=True),
    sa.Column("source", _TEXT, nullable=False),
    sa.Column("state", _TEXT, nullable=False),
    sa.Column("started_at", _TEXT, nullable=False),
    sa.Column("finished_at", _TEXT),
    sa.Column("report", _TEXT),
)

stop = sa.Table(
    "stop",
    metadata,
    sa.Column("run_id", _TEXT, primary_key=True),
    sa.Column("sha256", _TEXT, primary_key=True),
    sa.Column("reason", _TEXT, nullable=False),
    sa.Column("url", _TEXT, nullable=False),
)
sa.Index("stop_reason", stop.c.run_id, stop.c.reason)

problem = sa.Table(
    "problem",
    metadata,
    sa.Column("run_id", _TEXT, primary_key=True),
    sa.Column("sha256", _TEXT, primary_key=True),
    sa.Column("url", _TEXT, nullable=False),
    sa.Column("reason", _TEXT, nullable=False),
)

history = sa.Table(
    "history",
    metadata,
    sa.Column("source", _TEXT, primary_key=True),
    sa.Column("uri", _TEXT, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("event", _TEXT, nullable=False),
    sa.Column("from_state", _TEXT),
    sa.Column("to_state", _TEXT, nullable=False),
    sa.Column("at", _TEXT),
    sa.Column("until", _TEXT),
    sa.Column("times", sa.Integer, nullable=False),
    sa.Column("run_id", _TEXT),
    sa.Column("http_status", sa.Integer),
    sa.Column("reason", _TEXT, nullable=False),
    sa.Column("location", _TEXT),
    sa.Column("conditional", sa.Boolean),
    sa.Column("bytes", sa.BigInteger),
    sa.Column("raw_sha", _TEXT),
    sa.Column("content_hash", _TEXT),
)

change = sa.Table(
    "change",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("kind", _TEXT, nullable=False),
    sa.Column("change", _TEXT, nullable=False),
    sa.Column("old_id", _TEXT),
    sa.Column("new_id", _TEXT),
    sa.Column("source", _TEXT, nullable=False),
    sa.Column("uri", _TEXT, nullable=False),
    sa.Column("reason", _TEXT, nullable=False),
)
sa.Index("change_old_id", change.c.old_id, postgresql_using="hash")
sa.Index("change_new_id", change.c.new_id, postgresql_using="hash")
sa.Index("change_uri", change.c.uri, postgresql_using="hash")

# What passages said that are no more, for as long as the change that took them out is kept.
former_text = sa.Table(
    "former_text",
    metadata,
    sa.Column("chunk", _TEXT, primary_key=True),
    sa.Column("text", _TEXT, nullable=False),
)

# Says that the changes of a generation are kept: one without changes would look like one that is not.
feed = sa.Table(
    "feed",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True),
    sa.Column("entries", sa.Integer, nullable=False),
)

source = sa.Table(
    "source",
    metadata,
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("record", _TEXT, nullable=False),
)


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


def insert(connection: sa.Connection, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say what to do where the primary key is taken."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def _updated(statement: postgresql.Insert | sqlite.Insert, column: sa.Column[Any]) -> Any:
    new = statement.excluded[column.name]
    return sa.case((new < column, new), else_=column) if KEEP_LEAST in column.info else new


def _ordered(rows: Collection[Mapping[str, Any]], keys: list[str]) -> list[dict[str, Any]]:
    """In key order: two writers that lock rows in one order cannot lock each other out."""
    return sorted(map(dict, rows), key=lambda row: [row[key] for key in keys])
