"""One run of 10,000 new chunks, without Prefect and without a model; prints one JSON object.

    python -m bench.scale_run WORK NUMBER [--pages 10000] [--index NAME] [--changed PAGES]

With --changed the pages of that number are there already, and so many of them get another section. Memory and
time are those from the difference to the published generation; reading and parsing the pages comes before and
is not counted.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import lancedb

from bench.comparison import Figures
from bench.scaled_pages import PAGES, HashedVectors, change_pages, write_pages
from flows.commit.publish import prune_generations, publish_generation
from flows.commit.recover import finish_interrupted
from flows.commit.write import verify_generation, write_plan
from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch
from flows.crawl.plan import plan_next_wave, plan_source
from flows.crawl.quarantine import quarantine_and_deduplicate
from flows.derive.diff import diff_source
from flows.derive.embed import embed_fragments
from flows.derive.freeze import freeze_rows, plan_rows
from flows.run.contexts import CrawlContext
from flows.run.index import Index, open_index
from flows.run.opening import hold_source
from flows.run.resources import Given, Resources
from flows.run.values import Run
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.pending import BackgroundEncoder
from indexes.stores.ledger.leases import Lease
from runtime.cost import CostMeter
from runtime.readings import peak_rss_mb
from schemas.cost import Cause, caused_by, listen, settle
from schemas.settings import Settings
from schemas.source import Source

TABLES = ("chunks", "nodes", "edges")
INDEXING = {"graph.retired": "vector.before_merge", "vector.not_tagged": "stores.written"}
"""Between these points of a write, tables are optimised, indexed and named."""


class Marks:
    """When each point of a run was reached, and at which versions the tables stood."""

    def __init__(self, lance: Path) -> None:
        self._lance = lance
        self.times: dict[str, float] = {}
        self.peaks: dict[str, float] = {}
        self.versions: dict[str, dict[str, int]] = {}

    def __call__(self, point: str) -> None:
        """Remember the first time."""
        if point in self.times or point == "embed.saved":
            return
        self.times[point] = time.monotonic()
        self.peaks[point] = round(peak_rss_mb(), 1)
        Path("/proc/self/clear_refs").write_text("5")  # the kernel's mark of the peak begins again
        if point in {"lease", *INDEXING, *INDEXING.values(), "graph.before_batch"}:
            database = lancedb.connect(str(self._lance))
            self.versions[point] = {name: database.open_table(name).version for name in TABLES}

    def between(self, first: str, last: str) -> float:
        """Seconds from one point to another."""
        return self.times[last] - self.times[first]


def main() -> None:
    """Make the pages, run, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("number", type=int)
    parser.add_argument("--pages", type=int, default=PAGES, help=f"how many to add (default: {PAGES:,})")
    parser.add_argument("--index", default="index", help="folder of the index in WORK (default: index)")
    parser.add_argument("--changed", type=int, default=0, help="change so many pages instead of adding them")
    options = parser.parse_args()
    if options.changed:
        pages = change_pages(options.work, options.number, options.changed)
    else:
        pages = write_pages(options.work, options.number, options.pages)
    source = Source(name=f"part-{options.number}", kind="files", roots=(str(pages),))
    index = open_index(Settings(index=str(options.work / options.index)), index_id="scale")
    with hold_source(index, source.name, quiet=True) as held, hashed_vectors(index) as given:
        run = Run(index=str(index.layout.root), source=source.name, run_id=uuid4().hex)
        resources = Resources(
            run, index=index, source=source, progress=held.progress, stop=held.stop, given=given
        )
        with closing(resources):
            print(json.dumps({"number": options.number, **measure(resources)}))


def measure(resources: Resources) -> Figures:
    """Read and parse, then time and weigh what follows."""
    index, source = resources.index, resources.source
    index.crash_point = marks = Marks(index.layout.lance)
    index.ledger.sources.save(source)
    index.ledger.runs.start(resources.run.run_id, source=source.name, now=index.now())
    crawl(resources.crawling())
    with index.hold(progress=resources.progress, stop=resources.stop) as lease:
        finish_interrupted(resources.indexing(), lease=lease)  # what a run that was killed left
        marks("lease")
        meter = CostMeter()
        listen(meter)
        before, spent = meter.read(), -time.process_time()
        chunks = publish(resources, lease, marks)
        spent += time.process_time()
        costs = meter.read() - before
        marks("published")
    index.ledger.runs.finish(resources.run.run_id, state="finished", now=index.now(), report=None)
    indexing = sum(marks.between(first, last) for first, last in INDEXING.items())
    return {
        "chunks": chunks,
        "seconds": round(marks.between("lease", "published"), 1),
        "cpu_seconds": round(spent, 2),
        "causes": {cause: round(used.cpu, 2) for cause, used in settle(costs).items()},
        "rows": dict(costs.rows),
        "stages": {
            "diff, embed, link": round(marks.between("lease", "plan.frozen"), 1),
            "write": round(marks.between("plan.frozen", "stores.written") - indexing, 1),
            "optimize and index": round(indexing, 1),
            "verify, publish": round(marks.between("stores.written", "published"), 1),
        },
        "peak_rss_mb": max(peak for point, peak in marks.peaks.items() if point != "lease"),
        "peaks_rss_mb": marks.peaks,
        "versions": written(marks),
        "versions_of_indexing": {
            name: marks.versions["stores.written"][name] - marks.versions["lease"][name] - made
            for name, made in written(marks).items()
        },
    }


def written(marks: Marks) -> dict[str, int]:
    """Versions that writing rows made."""
    ends = {"chunks": "vector.not_tagged", "nodes": "graph.retired", "edges": "graph.retired"}
    return {name: marks.versions[end][name] - marks.versions["lease"][name] for name, end in ends.items()}


@contextmanager
def hashed_vectors(index: Index) -> Iterator[Given]:
    """Vectors by hash in place of the model's, through the same cache."""
    cache = SqliteVectorCache(index.layout.vectors, model_key="hashed")
    encoding = BackgroundEncoder(
        cache=cache,
        encoder=HashedVectors(),
        limit=index.settings.encode_ahead,
        on_taken=lambda _texts: None,
        on_encoded=lambda _number: None,
        should_stop=lambda: False,
    )
    with closing(cache), closing(encoding):
        yield Given(vectors=cache, encoding=encoding)


def crawl(run: CrawlContext) -> None:
    """Read and parse every page."""
    plan_source(run)
    while wave := plan_next_wave(run, due_by=None):
        for batch in wave:
            fetch_batch(run, batch.uris)
            parse_batch(run, batch.uris)
    quarantine_and_deduplicate(run, accept=False)


def publish(resources: Resources, lease: Lease, marks: Marks) -> int:
    """What a run does under the index lease; give the number of new chunks."""
    index, run = resources.index, resources.indexing()
    with caused_by(Cause.DIFF):
        difference, as_of = diff_source(run, accept=False), index.now()
    shas = [change.new.fragment_sha for change in difference.changes if change.new]
    with caused_by(Cause.EMBED):
        embedded = embed_fragments(run, shas)
    with caused_by(Cause.LINK):
        planned = plan_rows(run, difference, as_of=as_of)
        generation = freeze_rows(run, difference, planned, lease=lease, as_of=as_of, embedded=embedded)
    with caused_by(Cause.WRITE):
        staged = write_plan(run, generation, lease=lease)
    marks("stores.written")
    with caused_by(Cause.VERIFY):
        verify_generation(run, generation, staged)
    with caused_by(Cause.PUBLISH):
        publish_generation(run, generation, staged, lease=lease)
    with caused_by(Cause.COLLECT):
        prune_generations(index, source=resources.source.name)
    return planned.chunks_added


if __name__ == "__main__":
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    main()
