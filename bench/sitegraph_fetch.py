"""Our fetch layer on a list of addresses, in a process of its own; prints one JSON object.

    python -m bench.sitegraph_fetch LIST

The list goes through the session in the batches a run makes of it. A page is received, checked and counted,
nothing of it is parsed or kept.
"""

import argparse
import json
from contextlib import closing
from pathlib import Path

from bench.stopwatch import timed
from ingest.fetch.client import FetchSession
from ingest.fetch.document import fetch_all
from ingest.parse.formats.registry import installed_formats
from runtime.clock import SystemClock
from schemas.batches import batched
from schemas.fetch import FetchRequest, FetchResult, FetchStatus

CONNECTIONS = 16
BATCH = 100


def main() -> None:
    """Fetch the list and print what it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("list", type=Path)
    addresses = parser.parse_args().list.read_text().split()
    host = addresses[0].split("/")[2]
    with closing(
        FetchSession(
            user_agent="bench/1.0 (+mailto:owner@example.org)",
            allow_private=(host,),
            per_host_delay=0,
            concurrency=CONNECTIONS,
            clock=SystemClock(),
            formats=installed_formats(),
        )
    ) as session:
        figures = timed(lambda: fetch_list(session, addresses))
    print(json.dumps(figures))


def fetch_list(session: FetchSession, addresses: list[str]) -> int:
    """Fetch all, batch after batch; give how many came whole."""
    pages = 0

    def count(result: FetchResult) -> None:
        nonlocal pages
        pages += result.status is FetchStatus.OK and bool(result.body)

    for part in batched(addresses, BATCH):
        requests = [FetchRequest(url=address) for address in part]
        fetch_all(requests, session=session, on_result=count, should_stop=lambda: False)
    return pages


if __name__ == "__main__":
    main()
