"""A crawl in a process of its own that shares its hosts: `python -m tests.fakes.crawl_in_turn`."""

import argparse
from contextlib import closing
from uuid import uuid4

from indexes.stores.ledger.leases import open_turns
from ingest.fetch.client import FetchSession
from ingest.fetch.document import fetch_all
from ingest.fetch.politeness import SharedTurns
from ingest.parse.formats.registry import installed_formats
from runtime.clock import SystemClock
from schemas.fetch import FetchRequest, FetchResult
from tests.fakes.fetching import AGENT, never


def main() -> None:
    """Fetch pages of a site at its delay, in turn with others; print how many came."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("ledger")
    arguments.add_argument("origin")
    arguments.add_argument("--delay", type=float, required=True)
    arguments.add_argument("--seconds", type=float, required=True)
    arguments.add_argument("--name", required=True)
    arguments.add_argument("--pages", type=int, required=True)
    asked = arguments.parse_args()
    results: list[FetchResult] = []
    with closing(
        FetchSession(
            user_agent=AGENT,
            allow_private=(asked.origin.partition("://")[2],),
            per_host_delay=asked.delay,
            concurrency=2,
            clock=SystemClock(),
            formats=installed_formats(),
            shared=SharedTurns(turns=open_turns(asked.ledger, seconds=asked.seconds), holder=uuid4().hex),
        )
    ) as session:
        requests = [FetchRequest(url=f"{asked.origin}/{asked.name}/{n}") for n in range(asked.pages)]
        fetch_all(requests, session=session, on_result=results.append, should_stop=never)
    print(len(results))


if __name__ == "__main__":
    main()
