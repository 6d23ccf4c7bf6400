"""Versions of three documents, and what a generation of the ledger holds of them."""

import sqlalchemy as sa

from indexes.stores.ledger.ledger import Ledger
from schemas.documents import LiveDocument
from tests.fakes.ledger_rows import make_live

A1, A2, A3, A4 = (make_live("a", version) for version in "1234")
B1, B2 = (make_live("b", version) for version in "12")
C1, C2 = (make_live("c", version) for version in "12")


def held(ledger: Ledger, generation: int) -> dict[str, str]:
    """Fragment by the last part of the URI."""
    live = ledger.generations.live(generation).values()
    return {document.uri.rpartition("/")[2]: document.fragment_sha for document in live}


def holding(*documents: LiveDocument) -> dict[str, str]:
    """What `held` gives of a generation that holds just these."""
    return {document.uri.rpartition("/")[2]: document.fragment_sha for document in documents}


def table(ledger: Ledger, name: str) -> list[tuple[object, ...]]:
    """All rows of a table."""
    with ledger.engine.connect() as connection:
        return sorted(map(tuple, connection.execute(sa.text(f"SELECT * FROM {name}"))), key=str)
