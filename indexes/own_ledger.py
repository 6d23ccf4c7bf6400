"""The ledger of an index: where it is, whether a database is it, and what readers ask of it."""

import json
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from indexes.layout import IndexLayout, load_manifest, remedy
from indexes.markers import read_marker
from indexes.places import is_in_bucket, write_durably
from indexes.publish.current import read_current
from indexes.stores.ledger.engine import has_tables, parse_url
from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.documents import DocumentState
from schemas.errors import ConfigError, DamageFound, SchemaMismatch, SitegraphError, StoreUnavailable
from schemas.health import Coverage

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


def is_missing(url: str) -> bool:
    """Whether the URL names a file that is not there."""
    parsed = parse_url(url)
    return parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists()


def is_empty_ledger(url: str) -> bool:
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
    if is_missing(url) if read_only else current and is_empty_ledger(url):
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


SET_ASIDE = frozenset({DocumentState.QUARANTINED, DocumentState.FAILED})
"""States in which what came last was not used."""

LEFT_OUT = {
    DocumentState.OUT_OF_SCOPE: "out of scope",
    DocumentState.DISALLOWED: "forbidden by robots.txt",
    DocumentState.UNSUPPORTED: "of a format that is not read",
    DocumentState.MISSING: "not found at the last look",
}
CAPPED = "beyond a cap"


def read_coverage(index: Path, *, now: str, ledger_url: str | None = None, examples: int = 10) -> Coverage:
    """Return what the ledger of an index says *now*, ISO 8601 in UTC; nothing is written.

    Raises: ConfigError: no index there; StoreUnavailable: the ledger is not there, or cannot be reached.
    """
    ledger = open_own_ledger(IndexLayout(index.resolve()), ledger_url, read_only=True)
    try:
        states, due = ledger.documents.states(), ledger.health.due(now)
        return Coverage(
            due=dict(sorted(due.items())),
            set_aside={
                source: count
                for source, counted in sorted(states.items())
                if (count := sum(counted.get(state, 0) for state in SET_ASIDE))
            },
            examples=ledger.documents.in_states(SET_ASIDE, limit=examples),
            left_out=count_left_out(states, ledger.runs.latest_reports()),
        )
    finally:
        ledger.close()


def count_left_out(
    states: Mapping[str, Mapping[str, int]], runs: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Mapping[str, int]]:
    """Count by source and reason what nobody can find here; a cap by what the last run says of it."""
    found: dict[str, dict[str, int]] = {}
    for source in sorted({*states, *runs}):
        counted = states.get(source, {})
        reasons = {why: number for state, why in LEFT_OUT.items() if (number := counted.get(state, 0))}
        problems = (runs.get(source, {}).get("report") or {}).get("problems", ())
        if capped := sum(problem.get("left_out", 0) for problem in problems):
            reasons[CAPPED] = capped
        if reasons:
            found[source] = reasons
    return found
