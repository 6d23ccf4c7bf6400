"""The ledger: crawl state, links, generations, runs and leases over one database."""

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from indexes.stores.ledger.access import StatedAccess
from indexes.stores.ledger.admission import Admission
from indexes.stores.ledger.answers import Answers
from indexes.stores.ledger.changes import Changes
from indexes.stores.ledger.documents import Documents
from indexes.stores.ledger.engine import open_engine
from indexes.stores.ledger.frontier import FrontierIndex
from indexes.stores.ledger.generations import Generations
from indexes.stores.ledger.health import LedgerHealth
from indexes.stores.ledger.history import History
from indexes.stores.ledger.hosts import Hosts
from indexes.stores.ledger.leases import Leases
from indexes.stores.ledger.lineage import Lineage
from indexes.stores.ledger.links import LinkIndex
from indexes.stores.ledger.lookup import Lookup
from indexes.stores.ledger.manifests import Manifests
from indexes.stores.ledger.matches import Matches
from indexes.stores.ledger.names import NameIndex
from indexes.stores.ledger.origins import Origins
from indexes.stores.ledger.owner import Owner
from indexes.stores.ledger.pages import PdfPages
from indexes.stores.ledger.redirects import Redirects
from indexes.stores.ledger.retention import Retention
from indexes.stores.ledger.runs import Runs
from indexes.stores.ledger.seen import SeenDocuments
from indexes.stores.ledger.soft_errors import SoftErrors
from indexes.stores.ledger.sources import Sources
from indexes.stores.ledger.stops import Stops
from indexes.stores.ledger.vacuum import bytes_of, vacuum
from indexes.stores.ledger.word_coverages import WordCoverages


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What is known between runs; the truth that task states only repeat."""

    engine: sa.Engine
    owner: Owner
    admission: Admission
    documents: Documents
    hosts: Hosts
    history: History
    sources: Sources
    lookup: Lookup
    links: LinkIndex
    names: NameIndex
    answers: Answers
    origins: Origins
    pages: PdfPages
    soft_errors: SoftErrors
    coverage: WordCoverages
    matches: Matches
    access: StatedAccess
    frontier: FrontierIndex
    redirects: Redirects
    retention: Retention
    generations: Generations
    manifests: Manifests
    changes: Changes
    lineage: Lineage
    runs: Runs
    seen: SeenDocuments
    stops: Stops
    leases: Leases
    health: LedgerHealth

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
    engine = open_engine(url, read_only=read_only)
    return Ledger(
        engine=engine,
        owner=Owner(engine),
        admission=Admission(engine),
        documents=Documents(engine, now=now),
        hosts=Hosts(engine),
        history=History(engine),
        sources=Sources(engine),
        lookup=Lookup(engine),
        links=LinkIndex(engine),
        names=NameIndex(engine),
        answers=Answers(engine),
        origins=Origins(engine),
        pages=PdfPages(engine),
        soft_errors=SoftErrors(engine),
        coverage=WordCoverages(engine),
        matches=Matches(engine),
        access=StatedAccess(engine),
        frontier=FrontierIndex(engine),
        redirects=Redirects(engine),
        retention=Retention(engine),
        generations=Generations(engine),
        manifests=Manifests(engine),
        changes=Changes(engine),
        lineage=Lineage(engine),
        runs=Runs(engine),
        seen=SeenDocuments(engine),
        stops=Stops(engine),
        leases=Leases(engine),
        health=LedgerHealth(engine),
    )
