"""Giving back the room of a ledger's deleted rows."""

import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa

from indexes.stores.ledger.ledger import Ledger
from indexes.stores.ledger.tables import answer
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import StoreUnavailable


def test_vacuum_keeps_every_row(ledger: Ledger) -> None:
    urls = [f"https://site.test/{number}" for number in range(500)]
    known = [
        KnownDocument(source="site", uri=url, state=DocumentState.FETCHED, title="x" * 200) for url in urls
    ]
    ledger.documents.save(known)
    ledger.documents.save([KnownDocument(source="other", uri=urls[0], state=DocumentState.FETCHED)])
    ledger.documents.forget("site")
    before = ledger.bytes()

    ledger.vacuum()

    assert ledger.bytes() < before or ledger.engine.dialect.name != "sqlite", (
        "PostgreSQL keeps a map of what is free"
    )
    assert ledger.documents.count("other") == 1
    assert ledger.documents.count("site") == 0


def test_beside_a_writer_sqlite_is_left_alone_and_postgresql_vacuumed(ledger: Ledger) -> None:
    if ledger.engine.dialect.name != "sqlite":
        with ledger.engine.connect() as connection, connection.begin() as transaction:
            connection.execute(sa.insert(answer).values(key="k", text="t"))
            ledger.vacuum()
            transaction.rollback()
        return
    with closing(sqlite3.connect(ledger.engine.url.database or "", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="in use"):
            ledger.vacuum()
        writer.execute("ROLLBACK")
    ledger.vacuum()
