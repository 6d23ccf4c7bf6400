"""The ledger's tables and how its database is opened; one schema for SQLite and PostgreSQL."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from schemas.errors import ConfigError, StoreUnavailable

OPEN = 2**53 - 1
"""`valid_to` of a row that is still current: the largest integer every store keeps exactly."""

metadata = sa.MetaData()

document = sa.Table(
    "document",
    metadata,
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("uri", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("depth", sa.Integer, nullable=False),
    sa.Column("found_by", sa.Text),
    sa.Column("doc", sa.Text),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("content_type", sa.Text),
    sa.Column("x_robots_tag", sa.Text),
    sa.Column("etag", sa.Text),
    sa.Column("last_modified", sa.Text),
    sa.Column("raw_sha", sa.Text),
    sa.Column("parsed_sha", sa.Text),
    sa.Column("fragment_sha", sa.Text),
    sa.Column("content_hash", sa.Text),
    sa.Column("pipeline_version", sa.Text),
    sa.Column("http_status", sa.Integer),
    sa.Column("location", sa.Text),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("misses", sa.Integer, nullable=False),
    sa.Column("missed_at", sa.Text),
    sa.Column("interval", sa.Float),
    sa.Column("next_due", sa.Text),
    sa.Column("fetched_at", sa.Text),
    sa.Column("checked_at", sa.Text),
    sa.Column("run_id", sa.Text),
    sa.Column("reason", sa.Text, nullable=False),
)
sa.Index("document_run", document.c.source, document.c.run_id)

doc_rev = sa.Table(
    "doc_rev",
    metadata,
    sa.Column("doc", sa.Text, primary_key=True),
    sa.Column("valid_from", sa.BigInteger, primary_key=True),
    sa.Column("valid_to", sa.BigInteger, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("uri", sa.Text, nullable=False),
    sa.Column("fragment_sha", sa.Text, nullable=False),
    sa.Column("content_hash", sa.Text, nullable=False),
    sa.Column("doc_id", sa.Text),
    sa.Column("fetched_at", sa.Text),
    sa.Column("last_modified", sa.Text),
)
sa.Index("doc_rev_uri", doc_rev.c.uri)
sa.Index("doc_rev_doc_id", doc_rev.c.doc_id)
sa.Index("doc_rev_fragment", doc_rev.c.fragment_sha)

fragment_link = sa.Table(
    "fragment_link",
    metadata,
    sa.Column("fragment_sha", sa.Text, nullable=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("fragment", sa.Text),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("position", sa.Text, nullable=False),
)
sa.Index("fragment_link_target", fragment_link.c.target)
sa.Index("fragment_link_fragment", fragment_link.c.fragment_sha)

generation = sa.Table(
    "generation",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True),
    sa.Column("base", sa.BigInteger, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("token", sa.BigInteger, nullable=False),
    sa.Column("as_of", sa.Text, nullable=False),
    sa.Column("plan_sha", sa.Text),
    sa.Column("details", sa.Text),
)

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("payload_sha", sa.Text, nullable=False),
)

lease = sa.Table(
    "lease",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("token", sa.BigInteger, nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("expires_at", sa.Text, nullable=False),
)

run = sa.Table(
    "run",
    metadata,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("started_at", sa.Text, nullable=False),
    sa.Column("finished_at", sa.Text),
    sa.Column("report", sa.Text),
)

problem = sa.Table(
    "problem",
    metadata,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("url", sa.Text, primary_key=True),
    sa.Column("reason", sa.Text, primary_key=True),
)


def open_engine(url: str) -> sa.Engine:
    """Connect to the ledger's database and make what tables are missing.

    Raises: StoreUnavailable: nothing answers at the URL; ConfigError: not a database URL.
    """
    try:
        engine = sa.create_engine(url, pool_pre_ping=not url.startswith("sqlite"))
        if engine.dialect.name == "sqlite":
            _prepare_sqlite(engine)
        metadata.create_all(engine)
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ModuleNotFoundError) as error:
        raise ConfigError(
            f"not a usable ledger URL ({error}); use sqlite:///PATH, or postgresql+psycopg://… "
            "with the extra sitegraph[postgres]",
            subject="SITEGRAPH_LEDGER_URL",
        ) from error
    except sa.exc.OperationalError as error:
        raise StoreUnavailable(
            f"cannot open the database ({_cause(error)}); check SITEGRAPH_LEDGER_URL",
            subject=f"ledger {sa.make_url(url).render_as_string(hide_password=True)}",
        ) from error
    return engine


def upsert(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows, replacing those of equal primary key."""
    if not rows:
        return
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement = insert(table)
    keys = [column.name for column in table.primary_key]
    updates = {c.name: statement.excluded[c.name] for c in table.columns if c.name not in keys}
    if updates:
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=updates), rows)
    else:
        connection.execute(statement.on_conflict_do_nothing(index_elements=keys), rows)


def _prepare_sqlite(engine: sa.Engine) -> None:
    @sa.event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "busy_timeout=15000",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    # A deferred transaction that reads before it writes fails at once when another writer came between.
    @sa.event.listens_for(engine, "begin")
    def _on_begin(connection: sa.Connection) -> None:
        writes = not connection.get_execution_options().get("read_only")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _cause(error: sa.exc.OperationalError) -> str:
    return str(error.orig).strip().splitlines()[0]
