"""Where an index keeps its ledger: a run with another one would take the index over, two would damage it."""

import json
from dataclasses import dataclass

from indexes.layout import IndexLayout
from indexes.places import write_durably
from indexes.stores.ledger.engine import parse_url
from schemas.errors import ConfigError

FOLDER = "the index folder"
_PORT = 5432


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """Where the settings say that the ledger is, and where the index keeps it; None: nobody knows."""

    asked: str
    kept: str | None

    @property
    def is_another(self) -> bool:
        """Whether the settings name another place than the index does."""
        return self.kept not in (None, self.asked)

    def refusal(self, current: int) -> ConfigError:
        """What to say where the one that is asked for does not know the generation that readers see."""
        return ConfigError(
            f"this index keeps its ledger in {self.kept}; the one in {self.asked} does not know generation "
            f"{current}. Set or unset SITEGRAPH_LEDGER_URL; where the ledger is lost or is to move, end all "
            "runs, then: sitegraph run SOURCE.yaml --accept",
            subject="SITEGRAPH_LEDGER_URL",
        )


def find_ledger_place(layout: IndexLayout, url: str) -> LedgerPlace:
    """Compare the URL of a ledger with what the index says of its own. Raises: ConfigError: it is no URL."""
    return LedgerPlace(asked=name_place(layout, url), kept=_kept(layout))


def keep_ledger_place(layout: IndexLayout, url: str) -> None:
    """Write down where the index keeps its ledger, without user and password.

    A ledger in its folder that another takes the place of is renamed: nothing may go on with it.
    """
    place = find_ledger_place(layout, url)
    if place.is_another and place.kept == FOLDER:
        for ending in ("", "-wal", "-shm"):
            file = layout.ledger.with_name(layout.ledger.name + ending)
            if file.exists():
                file.rename(layout.ledger.with_name(f"{layout.ledger.name}.replaced{ending}"))
    if place.asked != _stated(layout):
        write_durably(layout.ledger_place, json.dumps({"ledger": place.asked}) + "\n")


def name_place(layout: IndexLayout, url: str) -> str:
    """Name the database of a URL for people. Raises: ConfigError: it is no URL of a ledger."""
    if url == f"sqlite:///{layout.ledger}":
        return FOLDER
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        return f"the file {parsed.database}"
    port = f":{parsed.port}" if parsed.port not in (None, _PORT) else ""
    return f"PostgreSQL at {parsed.host or 'localhost'}{port}/{parsed.database}"


def _kept(layout: IndexLayout) -> str | None:
    """Of an index of an earlier version, where its file says it is."""
    return _stated(layout) or (FOLDER if layout.ledger.exists() else None)


def _stated(layout: IndexLayout) -> str | None:
    try:
        return str(json.loads(layout.ledger_place.read_bytes())["ledger"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # it is a safeguard: without it an index is as those of earlier versions were
