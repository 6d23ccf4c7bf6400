"""The ledger: crawl state, links, generations, runs and leases over one database."""

from dataclasses import dataclass

import sqlalchemy as sa

from indexes.stores.ledger.documents import Documents
from indexes.stores.ledger.generations import Generations
from indexes.stores.ledger.leases import Leases
from indexes.stores.ledger.links import LinkIndex
from indexes.stores.ledger.runs import Runs
from indexes.stores.ledger.tables import open_engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What is known between runs; the truth that task states only repeat."""

    engine: sa.Engine
    documents: Documents
    links: LinkIndex
    generations: Generations
    runs: Runs
    leases: Leases

    def close(self) -> None:
        """Let go of connections."""
        self.engine.dispose()


def open_ledger(url: str) -> Ledger:
    """Open the ledger at an SQLAlchemy URL, making its tables where missing.

    Raises: StoreUnavailable: the database does not answer; ConfigError: the URL is wrong.
    """
    engine = open_engine(url)
    return Ledger(
        engine=engine,
        documents=Documents(engine),
        links=LinkIndex(engine),
        generations=Generations(engine),
        runs=Runs(engine),
        leases=Leases(engine),
    )
