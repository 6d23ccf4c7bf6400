"""By what names are looked up: the words that they start with, and the entity that they name."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.tables import fragment_name, insert_new, name_key, name_word
from schemas.names import Name, NameRole, start_of

_ROWS = 5_000

Placed = tuple[str, int, Name]
"""Hash of a fragment, the place of one of its names, and that name."""


def key_names(connection: sa.Connection, names: Collection[Placed]) -> None:
    """Let names be found by their keys; they have none yet."""
    if names:
        connection.execute(sa.insert(name_key), [_row(*one) for one in names])
    starts = {start_of(name.text) for _, _, name in names}
    # All at once, in one order: two that write would else wait for each other.
    insert_new(connection, name_word, [{"word": words[0]} for words in starts if len(words) > 1])


def key_all_names(connection: sa.Connection) -> None:
    """Give every name of a ledger its keys, where it was made before there were any."""
    found = connection.execute(sa.select(fragment_name))
    while rows := found.fetchmany(_ROWS):
        key_names(connection, [(row.fragment_sha, row.seq, name_of(row)) for row in rows])


def key_of(name: str) -> str:
    """The words that a name starts with, with a space between them."""
    return " ".join(start_of(name))


def name_of(row: Any) -> Name:
    """The name that a row of `fragment_name` says."""
    return Name(
        text=row.text,
        role=NameRole(row.role),
        entity=row.entity,
        disambiguation=row.disambiguation,
        node=row.node,
    )


def _row(sha: str, seq: int, name: Name) -> dict[str, str | int]:
    return {
        "fragment_sha": sha,
        "seq": seq,
        "start": key_of(name.text),
        "folded": name.folded,
    }
