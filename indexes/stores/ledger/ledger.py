"""The ledger: crawl state, links, generations, runs and leases over one database."""

from dataclasses import dataclass

import sqlalchemy as sa

from indexes.stores.ledger.documents import Documents
from indexes.stores.ledger.engine import open_engine
from indexes.stores.ledger.frontier import FrontierIndex
from indexes.stores.ledger.generations import Generations
from indexes.stores.ledger.hosts import Hosts
from indexes.stores.ledger.leases import Leases
from indexes.stores.ledger.links import LinkIndex
from indexes.stores.ledger.retention import Retention
from indexes.stores.ledger.runs import Runs
from indexes.stores.ledger.stops import Stops


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What is known between runs; the truth that task states only repeat."""

    engine: sa.Engine
    documents: Documents
    hosts: Hosts
    links: LinkIndex
    retention: Retention
    frontier: FrontierIndex
    generations: Generations
    runs: Runs
    stops: Stops
    leases: Leases

    def close(self) -> None:
        """Let go of connections."""
        self.engine.dispose()


def open_ledger(url: str) -> Ledger:
    """Open the ledger at the URL of a database, making its tables where missing.

    Every method of it may raise StoreUnavailable (the database went away, or another writer came between:
    try again), SchemaMismatch (tables of another version) and DamageFound (the file is broken).

    Raises: StoreUnavailable: the database does not answer; ConfigError: the URL is wrong;
    DamageFound: the file is no database.
    """
    engine = open_engine(url)
    return Ledger(
        engine=engine,
        documents=Documents(engine),
        hosts=Hosts(engine),
        links=LinkIndex(engine),
        retention=Retention(engine),
        frontier=FrontierIndex(engine),
        generations=Generations(engine),
        runs=Runs(engine),
        stops=Stops(engine),
        leases=Leases(engine),
    )
