"""The ledger of an index, opened for those who only read it."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from indexes.copies.marker import read_marker
from indexes.layout import IndexLayout
from indexes.ledger_place import find_ledger_place
from indexes.manifest import load_manifest
from indexes.places import is_in_bucket
from indexes.publish.current import read_current
from indexes.stores.ledger.engine import parse_url
from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.errors import ConfigError, SchemaMismatch, StoreUnavailable


def ledger_url_of(layout: IndexLayout, given: str | None) -> str:
    """Return where the ledger of an index is: as the settings say, else in its folder.

    Raises: ConfigError: the index is in a bucket, and no server is named that keeps its ledger.
    """
    if is_in_bucket(layout.root) and not (given or "").startswith("postgres"):
        raise ConfigError(
            "an index in a bucket has its ledger in PostgreSQL; set SITEGRAPH_LEDGER_URL to "
            "postgresql://HOST/DATABASE, with USER@ before HOST where needed",
            subject=str(layout.root),
        )
    return given or f"sqlite:///{layout.ledger}"


def open_own_ledger(
    layout: IndexLayout,
    given: str | None,
    *,
    now: Callable[[], str] | None = None,
    read_only: bool = False,
) -> Ledger:
    """Open the ledger that knows what readers of the index see; one that is not there is not made.

    *given* is the URL of the settings. With *read_only* nothing can be written to it, nor made.

    Raises: StoreUnavailable: it is not there, or empty while the index is not; ConfigError: no index there,
    or the ledger is another one's.
    """
    manifest = load_manifest(layout)
    current = read_current(layout.root)
    url = ledger_url_of(layout, given)
    refuse_another_ledger(layout, url, index_id=manifest.index_id)
    if (current or read_only) and _is_missing(url):
        raise _lost(layout)
    with ExitStack() as stack:
        ledger = open_ledger(url, now=now, read_only=read_only)
        stack.callback(ledger.close)
        ledger.owner.check(manifest.index_id)
        if current and ledger.owner.index_id() is None and ledger.generations.get(current) is None:
            raise _lost(layout)
        stack.pop_all()
    return ledger


def refuse_another_ledger(layout: IndexLayout, url: str, *, index_id: str) -> None:
    """Refuse a ledger that is not the one which the index keeps. Raises: ConfigError; StoreUnavailable.

    A server has several names: one that knows the index, and what readers of it see, is taken for the same.
    """
    place = find_ledger_place(layout, url)
    if place.is_another and not (
        place.may_be_same and _knows(url, index_id=index_id, generation=read_current(layout.root))
    ):
        raise place.refusal()


def _knows(url: str, *, index_id: str, generation: int) -> bool:
    with closing(open_ledger(url, read_only=True)) as ledger:
        try:
            known = not generation or ledger.generations.get(generation) is not None
            return known and ledger.owner.index_id() == index_id
        except SchemaMismatch:  # a database without tables
            return False


def _is_missing(url: str) -> bool:
    parsed = parse_url(url)
    return parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists()


def _lost(layout: IndexLayout) -> StoreUnavailable:
    if (marker := read_marker(layout.root)) is not None:
        return StoreUnavailable(
            f"is a copy of {marker.url} without its ledger; ask there, or set SITEGRAPH_LEDGER_URL",
            subject=str(layout.root),
        )
    return StoreUnavailable(
        "has no ledger here: copy it with the index, set SITEGRAPH_LEDGER_URL, or let a run make it again",
        subject=str(layout.root),
    )
