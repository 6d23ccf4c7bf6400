"""Our fetch and plan layers on a source that a sitemap lists; prints one JSON object.

    python -m bench.sitegraph_recrawl ADDRESS INDEX

One process and no Prefect: the steps of a run up to the parser, their ledger writes included. The first run
of an index fetches everything, each later one asks again, conditionally.
"""

import argparse
import json
from contextlib import closing
from pathlib import Path
from uuid import uuid4

from bench.stopwatch import timed
from flows.crawl.fetch import fetch_batch
from flows.crawl.plan import plan_next_wave, plan_source
from flows.run.contexts import CrawlContext
from flows.run.index import open_index
from flows.run.opening import hold_source
from flows.run.resources import Resources
from flows.run.values import Run
from runtime.settings import read_settings
from runtime.source_file import parse_source
from schemas.source import Source

CONNECTIONS = 16


def main() -> None:
    """Look at everything once and print what it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("index", type=Path)
    options = parser.parse_args()
    index = open_index(read_settings(index=str(options.index)), index_id=uuid4().hex)
    source = build_source(options.address, options.index)
    with hold_source(index, source.name, quiet=True) as held:
        run = Run(index=str(index.layout.root), source=source.name, run_id=uuid4().hex)
        resources = Resources(run, index=index, source=source, progress=held.progress, stop=held.stop)
        index.ledger.runs.start(run.run_id, source=source.name, now=index.now())
        with closing(resources):
            figures = timed(lambda: look_at_everything(resources.crawling()))
            index.ledger.runs.finish(run.run_id, state="finished", now=index.now(), report=None)
            not_modified = resources.session().totals.statuses.get(304, 0)
    print(json.dumps({**figures, "not_modified": not_modified}))


def look_at_everything(run: CrawlContext) -> int:
    """Plan and fetch until nothing is left; give how many documents were looked at."""
    plan_source(run)
    looked_at = 0
    while wave := plan_next_wave(run, due_by=None):
        looked_at += sum(fetch_batch(run, batch.uris) for batch in wave)
    return looked_at


def build_source(address: str, folder: Path) -> Source:
    """The source of the local site."""
    record = {
        "name": "bench",
        "kind": "web",
        "seeds": [f"http://{address}/page-00000.html"],
        "allow_private": [address],
        "rate": {"per_host_delay": 0, "concurrency": CONNECTIONS},
    }
    return parse_source(json.dumps(record), subject="bench", folder=folder)  # JSON is YAML


if __name__ == "__main__":
    main()
