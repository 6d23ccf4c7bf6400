"""One run of 10,000 new chunks, without Prefect and without a model; prints one JSON object.

    python -m bench.scale_run WORK NUMBER

Memory and time are those from the difference to the published generation; reading and parsing the pages
comes before and is not counted.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lancedb

from bench.comparison import Figures
from bench.scaled_pages import HashedVectors, write_pages
from flows.commit.publish import publish_generation
from flows.commit.verify import verify_generation
from flows.commit.write import write_plan
from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch
from flows.crawl.plan import plan_source, plan_wave
from flows.crawl.quarantine import quarantine_and_deduplicate
from flows.derive.diff import diff_source
from flows.derive.embed import embed_fragments
from flows.derive.freeze import freeze, plan_rows
from flows.recrawl import DOCUMENTS_PER_EMBEDDING
from flows.run.batches import cut
from flows.run.index import open_index
from flows.run.leases import hold_lease
from flows.run.opening import open_pipeline_for
from flows.run.pipeline import Pipeline
from indexes.embed.background import BackgroundEncoder
from indexes.stores.ledger.leases import Lease
from runtime.memory import peak_rss_mb
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
        Path("/proc/self/clear_refs").write_text("5")  # the kernel's mark of the peak begins anew
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
    options = parser.parse_args()
    pages = write_pages(options.work, options.number)
    source = Source(name=f"part-{options.number}", kind="files", roots=(str(pages),))
    index = open_index(Settings(index=str(options.work / "index")), index_id="scale")
    with open_pipeline_for(index, source, quiet=True) as pipeline:
        pipeline.run_id = source.name
        print(json.dumps({"number": options.number, **measure(pipeline)}))


def measure(pipeline: Pipeline) -> Figures:
    """Read and parse, then time and weigh what follows."""
    index = pipeline.index
    index.crash_point = marks = Marks(index.layout.lance)
    with hashed_vectors(pipeline):
        index.ledger.sources.save(pipeline.source)
        index.ledger.runs.start(pipeline.run_id, source=pipeline.source.name, now=index.now())
        crawl(pipeline)
        with hold_lease(
            index.ledger.leases,
            "index",
            clock=index.clock,
            progress=pipeline.progress,
            stop=pipeline.stop,
            wait=True,
        ) as lease:
            marks("lease")
            spent = -time.process_time()
            chunks = publish(pipeline, lease, marks)
            spent += time.process_time()
            marks("published")
    indexing = sum(marks.between(first, last) for first, last in INDEXING.items())
    return {
        "chunks": chunks,
        "seconds": round(marks.between("lease", "published"), 1),
        "cpu_seconds": round(spent, 1),
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
def hashed_vectors(pipeline: Pipeline) -> Iterator[None]:
    """Vectors by hash in place of the model's, through the same cache."""
    pipeline.encoding = BackgroundEncoder(
        cache=pipeline.vectors,
        encoder=HashedVectors(),
        limit=pipeline.index.settings.encode_ahead,
        on_taken=lambda _texts: None,
        on_encoded=lambda _number: None,
        should_stop=lambda: False,
    )
    try:
        yield
    finally:
        pipeline.encoding.close()


def crawl(pipeline: Pipeline) -> None:
    """Read and parse every page."""
    plan_source(pipeline)
    while wave := plan_wave(pipeline, due_by=None):
        for batch in wave:
            fetch_batch(pipeline, batch.uris)
            parse_batch(pipeline, batch.uris)
    quarantine_and_deduplicate(pipeline, accept=False)


def publish(pipeline: Pipeline, lease: Lease, marks: Marks) -> int:
    """What a run does under the index lease; give the number of new chunks."""
    index = pipeline.index
    difference, as_of = diff_source(pipeline, accept=False), index.now()
    shas = [change.new.fragment_sha for change in difference.changes if change.new]
    for part in cut(shas, DOCUMENTS_PER_EMBEDDING):
        embed_fragments(pipeline, part)
    planned = plan_rows(pipeline, difference, as_of=as_of)
    generation = freeze(pipeline, difference, planned, lease=lease, as_of=as_of)
    staged = write_plan(pipeline, generation, lease=lease)
    marks("stores.written")
    verify_generation(pipeline, generation, staged)
    publish_generation(pipeline, generation, staged, lease=lease)
    return planned.chunks_added


if __name__ == "__main__":
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    main()
