"""By what names are looked up: how a text that holds them goes on, and the entity that they name."""

from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.tables import fragment_name, name_key
from schemas.names import Name, NameRole

_ROWS = 5_000


def key_row(sha: str, seq: int, name: Name) -> dict[str, str | int]:
    """The keys of one name of a fragment."""
    return {"fragment_sha": sha, "seq": seq, "start": name.start, "folded": name.folded}


def key_names(connection: sa.Connection) -> None:
    """Give every name of a ledger its keys, where it was made before there were any."""
    found = connection.execute(sa.select(fragment_name))
    while rows := found.fetchmany(_ROWS):
        keys = [key_row(row.fragment_sha, row.seq, name_of(row)) for row in rows]
        connection.execute(sa.insert(name_key), keys)


def name_of(row: Any) -> Name:
    """The name that a row of `fragment_name` says."""
    return Name(
        text=row.text,
        role=NameRole(row.role),
        entity=row.entity,
        disambiguation=row.disambiguation,
        node=row.node,
    )
