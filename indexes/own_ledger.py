"""The ledger of an index, opened for those who do not make one."""

from collections.abc import Callable
from contextlib import ExitStack

from indexes.copies.marker import read_marker
from indexes.known_ledger import guess_place, has_file, is_empty, is_missing, knows
from indexes.layout import IndexLayout, remedy
from indexes.ledger_place import find_ledger_place
from indexes.manifest import load_manifest
from indexes.places import is_in_bucket
from indexes.publish.current import read_current
from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.errors import ConfigError, DamageFound, SitegraphError, StoreUnavailable


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


def tell_lost_ledger(layout: IndexLayout) -> StoreUnavailable:
    """What to say to those who only read, and may read on without it."""
    if (marker := read_marker(layout.root)) is not None:
        return StoreUnavailable(
            f"is a copy of {marker.url} without its ledger; ask there, or set SITEGRAPH_LEDGER_URL",
            subject=str(layout.root),
        )
    return StoreUnavailable(
        "has no ledger here: copy it with the index, set SITEGRAPH_LEDGER_URL to where it is, or let a run "
        "make it again",
        subject=str(layout.root),
    )


def tell_damaged_ledger(layout: IndexLayout) -> DamageFound:
    """What to say to those who look for damage, or change what is there."""
    return DamageFound(
        "is not here, or empty while the index is not; set SITEGRAPH_LEDGER_URL to where it is, or, if it is "
        f"lost, {remedy(layout.root)}",
        subject="ledger",
    )


def open_own_ledger(
    layout: IndexLayout,
    given: str | None,
    *,
    now: Callable[[], str] | None = None,
    read_only: bool = False,
    lost: Callable[[IndexLayout], SitegraphError] = tell_lost_ledger,
) -> Ledger:
    """Open the ledger that knows what readers of the index see; one that is not there is not made.

    *given* is the URL of the settings. With *read_only* nothing can be written to it, nor made.

    Raises: what *lost* says: it is not there, or empty while the index is not; ConfigError: no index there,
    or the ledger is another one's.
    """
    manifest = load_manifest(layout)
    current = read_current(layout.root)
    url = ledger_url_of(layout, given)
    refuse_another_ledger(layout, url, index_id=manifest.index_id)
    if is_missing(url) if read_only else current and is_empty(url):
        raise lost(layout)
    with ExitStack() as stack:
        ledger = open_ledger(url, now=now, read_only=read_only)
        stack.callback(ledger.close)
        ledger.owner.check(manifest.index_id)
        if current and ledger.owner.index_id() is None and ledger.generations.get(current) is None:
            raise lost(layout)
        stack.pop_all()
    return ledger


def refuse_another_ledger(layout: IndexLayout, url: str, *, index_id: str, may_rebuild: bool = False) -> None:
    """Refuse a ledger that is not the one which the index keeps. Raises: ConfigError; as `knows` does.

    A server has several names, and a file may be moved: one that knows the index, and what readers of it see,
    is taken for the same.
    """
    place = find_ledger_place(layout, url)
    if place.is_settled or (place.kept is None and not has_file(layout)):
        return
    generation = read_current(layout.root)
    place = guess_place(place, layout, index_ids={index_id}, generation=generation)
    if place.is_another and not (
        place.may_be_same and knows(url, index_ids={index_id}, generation=generation)
    ):
        raise place.refusal(may_rebuild=may_rebuild)
