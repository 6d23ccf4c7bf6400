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
_FILE = "the file "
_PORT = "5432"


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """Where the settings say that the ledger is, and where the index keeps it; None: nobody knows."""

    asked: str
    kept: str | None
    is_gone: bool = False
    """Whether it is no more where the index keeps it: a file that is lost, or was moved."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing needs to be opened to know that this is the ledger."""
        return self.asked == (self.kept or FOLDER)

    @property
    def is_another(self) -> bool:
        """Whether the settings name another place than the index does."""
        return self.kept not in (None, self.asked)

    @property
    def may_be_same(self) -> bool:
        """Whether both may be one: names of one server, or a file that was moved."""
        return self.is_gone or (self.asked.startswith(SERVER) and (self.kept or "").startswith(SERVER))

    def refusal(self, *, may_rebuild: bool = False) -> ConfigError:
        """What to say of another ledger; *may_rebuild*: to one whose run could make it again there."""
        told = f"this index keeps its ledger in {self.kept}, {self._difference()}"
        return ConfigError(f"{told}{_REBUILD}" if may_rebuild else told, subject="SITEGRAPH_LEDGER_URL")

    def _difference(self) -> str:
        if self.is_gone:
            return (
                f"where there is none now, and {self.asked} has none of this index, or an older one; set "
                "SITEGRAPH_LEDGER_URL to where it is"
            )
        stale = ", or that is a copy which is behind" if self.may_be_same else ""
        return f"not in {self.asked}{stale}; set or unset SITEGRAPH_LEDGER_URL"


_REBUILD = (
    ". To rebuild it there: end all runs, delete ledger.json and ledger.sqlite* of the index, then run each "
    "source"
)


def find_ledger_place(layout: IndexLayout, url: str) -> LedgerPlace:
    """Compare the URL of a ledger with what the index says of its own. Raises: ConfigError: it is no URL."""
    kept = _stated(layout)
    return LedgerPlace(asked=name_place(layout, url), kept=kept, is_gone=_is_gone(layout, kept))


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
    return FOLDER if is_own else f"{_FILE}{file}"


def _is_gone(layout: IndexLayout, kept: str | None) -> bool:
    if kept == FOLDER:
        return not layout.ledger.exists()
    return kept is not None and kept.startswith(_FILE) and not Path(kept.removeprefix(_FILE)).exists()


def _host(url: sa.URL) -> str:
    """Host, port and what else tells databases of one name apart (libpq, "Parameter Key Words")."""
    named = url.host or _stated_in(url, "host") or _stated_in(url, "service")
    address = _stated_in(url, "hostaddr")  # what is connected to, whatever the host is called
    host = f"{named} ({address})" if named and address else named or address or "localhost"
    port = str(url.port or _stated_in(url, "port") or _PORT)
    schema = _stated_in(url, "options")
    return host + (f":{port}" if port != _PORT else "") + (f" ({schema})" if schema else "")


def _stated_in(url: sa.URL, key: str) -> str:
    value = url.query.get(key, "")
    return value if isinstance(value, str) else ",".join(value)


def _stated(layout: IndexLayout) -> str | None:
    try:
        return str(json.loads(layout.ledger_place.read_bytes())["ledger"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # it is a safeguard: without it an index is as those of earlier versions were
