"""The change feed for programs that keep a copy of an index: needs neither Prefect nor a parser."""

from pathlib import Path

from indexes.layout import IndexLayout, load_manifest
from indexes.own_ledger import open_own_ledger
from indexes.publish.current import read_current
from schemas.changes import Feed


def read_changes(
    index: Path,
    *,
    since: int | None,
    until: int | None = None,
    source: str | None = None,
    ledger_url: str | None = None,
) -> Feed:
    """Return all changes after generation *since* up to *until*, by default what readers see now.

    *since* 0 is the empty index, None the generation before the last. Keep `Feed.until` as the next *since*.
    *ledger_url* is where the ledger is if not in the index folder.

    Raises: ConfigError: no index there, or a generation that readers have not come to;
    ChangesUnavailable: the feed does not lead from there to here any more, take a whole copy;
    StoreUnavailable: the ledger is not there, or cannot be reached.
    """
    layout = IndexLayout(index.resolve())
    load_manifest(layout)
    current = read_current(layout.root)
    last = current if until is None else until
    if current == last == 0 and not since:  # the first run may not have made a ledger yet
        return Feed(since=0, until=0, entries=())
    ledger = open_own_ledger(layout, ledger_url, read_only=True)
    try:
        return ledger.changes.read(since=since, until=last, current=current, source=source)
    finally:
        ledger.close()
