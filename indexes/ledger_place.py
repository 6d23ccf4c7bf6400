"""Where an index keeps its ledger: a run with another one would take the index over, two would damage it."""

import json
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from indexes.layout import IndexLayout
from indexes.places import is_in_bucket, write_durably
from indexes.stores.ledger.engine import parse_url
from schemas.errors import ConfigError

FOLDER = "the index folder"
SERVER = "PostgreSQL"
_PORT = "5432"


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """Where the settings say that the ledger is, and where the index keeps it; None: nobody knows."""

    asked: str
    kept: str | None

    @property
    def is_another(self) -> bool:
        """Whether the settings name another place than the index does."""
        return self.kept not in (None, self.asked)

    @property
    def may_be_same(self) -> bool:
        """Whether both may be names of one server."""
        return self.asked.startswith(SERVER) and (self.kept or "").startswith(SERVER)

    def refusal(self) -> ConfigError:
        """What to say of another ledger than the one which the index keeps."""
        return ConfigError(
            f"this index keeps its ledger in {self.kept}, not in {self.asked}; set or unset "
            "SITEGRAPH_LEDGER_URL. To rebuild it there: end all runs, delete ledger.json and ledger.sqlite* "
            "of the index, then run each source",
            subject="SITEGRAPH_LEDGER_URL",
        )


def find_ledger_place(layout: IndexLayout, url: str) -> LedgerPlace:
    """Compare the URL of a ledger with what the index says of its own. Raises: ConfigError: it is no URL."""
    return LedgerPlace(asked=name_place(layout, url), kept=_stated(layout) or _found(layout))


def keep_ledger_place(layout: IndexLayout, url: str) -> None:
    """Write down where the index keeps its ledger, without user and password."""
    place = name_place(layout, url)
    if place != _stated(layout):
        write_durably(layout.ledger_place, json.dumps({"ledger": place}) + "\n")


def name_place(layout: IndexLayout, url: str) -> str:
    """Name the database of a URL for people. Raises: ConfigError: it is no URL of a ledger."""
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _name_file(layout, Path(parsed.database or "").resolve())
    return f"{SERVER} at {_host(parsed)}/{parsed.database or _stated_in(parsed, 'dbname') or parsed.username}"


def _name_file(layout: IndexLayout, file: Path) -> str:
    is_own = not is_in_bucket(layout.root) and file == layout.ledger.resolve()
    return FOLDER if is_own else f"the file {file}"


def _host(url: sa.URL) -> str:
    """Host, port and what else tells databases of one name apart (libpq, "Parameter Key Words")."""
    host = url.host or _stated_in(url, "host") or _stated_in(url, "service") or "localhost"
    port = str(url.port or _stated_in(url, "port") or _PORT)
    schema = _stated_in(url, "options")
    return host + (f":{port}" if port != _PORT else "") + (f" ({schema})" if schema else "")


def _stated_in(url: sa.URL, key: str) -> str:
    value = url.query.get(key, "")
    return value if isinstance(value, str) else ",".join(value)


def _found(layout: IndexLayout) -> str | None:
    """Of an index of an earlier version, where its file says it is."""
    return FOLDER if layout.ledger.exists() else None


def _stated(layout: IndexLayout) -> str | None:
    try:
        return str(json.loads(layout.ledger_place.read_bytes())["ledger"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # it is a safeguard: without it an index is as those of earlier versions were
