"""The ledger: crawl state, links, generations, runs and leases over one database."""

from collections.abc import Callable

import sqlalchemy as sa

from indexes.stores.ledger.documents import Documents, Lookup
from indexes.stores.ledger.engine import bytes_of, open_engine, vacuum
from indexes.stores.ledger.facts import (
    Matches,
    Origins,
    PdfPages,
    Refusals,
    SaidTranslations,
    SaidUses,
    SoftErrors,
    StatedAccess,
    WordCoverages,
)
from indexes.stores.ledger.frontier import Admission, FrontierIndex, Listings, SeenDocuments, Stops
from indexes.stores.ledger.generations import Generations
from indexes.stores.ledger.history import Changes, History
from indexes.stores.ledger.leases import Hosts, Leases
from indexes.stores.ledger.links import LinkIndex
from indexes.stores.ledger.names import NameIndex
from indexes.stores.ledger.records import Answers, Manifests, Owner, Sources
from indexes.stores.ledger.retention import Retention
from indexes.stores.ledger.revisions import Redirects
from indexes.stores.ledger.runs import LedgerHealth, Lineage, Runs


class Ledger:
    """What is known between runs; the truth that task states only repeat."""

    def __init__(self, engine: sa.Engine, *, now: Callable[[], str] | None = None) -> None:
        self.engine = engine
        self.owner = Owner(engine)
        self.admission = Admission(engine)
        self.documents = Documents(engine, now=now)
        self.hosts = Hosts(engine)
        self.history = History(engine)
        self.sources = Sources(engine)
        self.lookup = Lookup(engine)
        self.links = LinkIndex(engine)
        self.names = NameIndex(engine)
        self.answers = Answers(engine)
        self.origins = Origins(engine)
        self.pages = PdfPages(engine)
        self.soft_errors = SoftErrors(engine)
        self.coverage = WordCoverages(engine)
        self.matches = Matches(engine)
        self.access = StatedAccess(engine)
        self.refusals = Refusals(engine)
        self.uses = SaidUses(engine)
        self.translations = SaidTranslations(engine)
        self.frontier = FrontierIndex(engine)
        self.listings = Listings(engine)
        self.redirects = Redirects(engine)
        self.retention = Retention(engine)
        self.generations = Generations(engine)
        self.manifests = Manifests(engine)
        self.changes = Changes(engine)
        self.lineage = Lineage(engine)
        self.runs = Runs(engine)
        self.seen = SeenDocuments(engine)
        self.stops = Stops(engine)
        self.leases = Leases(engine)
        self.health = LedgerHealth(engine)

    def vacuum(self) -> None:
        """Give back the room of deleted rows.

        Raises: StoreUnavailable: somebody else is at work in the ledger.
        """
        vacuum(self.engine)

    def bytes(self) -> int:
        """Bytes that it takes on the disk."""
        return bytes_of(self.engine)

    def close(self) -> None:
        """Let go of connections."""
        self.engine.dispose()


def open_ledger(url: str, *, now: Callable[[], str] | None = None, read_only: bool = False) -> Ledger:
    """Open the ledger at the URL of a database, making its tables where missing.

    With *read_only* nothing is made, and the database itself refuses to be written to.

    *now* gives the time, ISO 8601 in UTC, for what no fetch dates; without it such history has the time of
    the last look.

    Every method of it may raise StoreUnavailable (the database went away, or another writer came between:
    try again), SchemaMismatch (tables of another version) and DamageFound (the file is broken).

    Raises: StoreUnavailable: the database does not answer; ConfigError: the URL is wrong;
    DamageFound: the file is no database.
    """
    return Ledger(open_engine(url, read_only=read_only), now=now)
