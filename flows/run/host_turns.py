"""Where runs agree on whose turn it is to ask a host."""

import logging
import os
from functools import cached_property
from pathlib import Path
from threading import Lock

from indexes.stores.ledger.turns import HostTurns, open_turns
from schemas.host_turns import HostTurn
from schemas.settings import Settings

_log = logging.getLogger(__name__)

ALONE = HostTurn(wait=0.0, seconds=3600.0)
"""What is answered where no database can be kept."""

FILE = "turns.sqlite"


def turns_url(settings: Settings) -> str | None:
    """The database of the turns: the ledger in PostgreSQL, else a file that all runs of this user know of.

    None: its folder cannot be written.

    It is not the index that counts: two of them, or one that is about to be made, may ask one host. And of a
    ledger in SQLite all runs are on one machine.
    """
    from platformdirs import user_cache_path

    if (settings.ledger_url or "").startswith("postgres"):
        return str(settings.ledger_url)
    folder = Path(settings.cache) if settings.cache else user_cache_path("sitegraph", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return f"sqlite:///{folder / FILE}" if os.access(folder, os.W_OK) else None


class RunTurns:
    """The turns, opened when first a host is asked that wants a delay; see `HostTurns`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opening = Lock()

    def take(self, host: str, *, holder: str, delay: float) -> HostTurn:
        """Take the turn, or a place in the line."""
        turns = self._opened()
        return turns.take(host, holder=holder, delay=delay) if turns else ALONE

    def prolong(self, host: str, *, holder: str) -> None:
        """Keep the turn for longer."""
        if turns := self._opened():
            turns.prolong(host, holder=holder)

    def release(self, host: str, *, holder: str, since: float, pause: float) -> None:
        """Let others ask in *pause* seconds."""
        if turns := self._opened():
            turns.release(host, holder=holder, since=since, pause=pause)

    def leave(self, holder: str) -> None:
        """Forget a run that asks nothing any more, and close the database."""
        turns = self._turns if "_turns" in self.__dict__ else None
        if turns is None:
            return
        try:
            turns.leave(holder)
        finally:
            turns.close()

    def _opened(self) -> HostTurns | None:
        with self._opening:
            return self._turns

    @cached_property
    def _turns(self) -> HostTurns | None:
        url = turns_url(self._settings)
        if url is None:
            _log.warning("cache folder not writable; parallel runs will not share per-host delays")
        return open_turns(url) if url else None
