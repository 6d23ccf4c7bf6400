"""Whether a database is the ledger of an index, by what is in it; nothing is made to find out."""

from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from indexes.layout import IndexLayout
from indexes.ledger_place import FOLDER, LedgerPlace
from indexes.places import is_in_bucket
from indexes.stores.ledger.engine import has_tables, parse_url
from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import DamageFound, SchemaMismatch, StoreUnavailable


def is_missing(url: str) -> bool:
    """Whether the URL names a file that is not there."""
    parsed = parse_url(url)
    return parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists()


def is_empty(url: str) -> bool:
    """Whether there is no ledger at the URL, of whatever index. Raises as `open_ledger` does."""
    if is_missing(url):
        return True
    with closing(open_ledger(url, read_only=True)) as ledger:
        return not has_tables(ledger.engine)


def knows(url: str, *, index_ids: Collection[str], generation: int = 0) -> bool:
    """Whether the ledger at the URL is one of these indexes' and knows the generation; 0: of any.

    Raises: SchemaMismatch: its tables are of another version; StoreUnavailable; DamageFound.
    """
    if is_missing(url):
        return False
    with closing(open_ledger(url, read_only=True)) as ledger:
        if not has_tables(ledger.engine) or ledger.owner.index_id() not in index_ids:
            return False
        return not generation or ledger.generations.get(generation) is not None


def has_file(layout: IndexLayout) -> bool:
    """Whether there is a ledger in the folder of the index, its own or not."""
    return not is_in_bucket(layout.root) and layout.ledger.exists()


def guess_place(
    place: LedgerPlace, layout: IndexLayout, *, index_ids: Collection[str], generation: int
) -> LedgerPlace:
    """Say of an index of an earlier version, which names no place, whether it keeps the file in its folder.

    Any other file there may have been made by somebody who had not set the URL.
    """
    if place.kept is not None or not has_file(layout):
        return place
    try:
        is_own = knows(f"sqlite:///{layout.ledger}", index_ids=index_ids, generation=generation)
    except (SchemaMismatch, StoreUnavailable, DamageFound):
        is_own = False  # what cannot be read must not keep an index from its ledger
    return replace(place, kept=FOLDER if is_own else None)
