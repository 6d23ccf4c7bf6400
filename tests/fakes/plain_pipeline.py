"""A run's parts without its flow: ledger and stored bytes on disk, real sites on loopback, no real model."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch
from flows.crawl.plan import plan_source, plan_wave
from flows.crawl.quarantine import quarantine_and_deduplicate
from flows.derive.diff import check_seeds, diff_source
from flows.run.index import Index
from flows.run.models import find_model
from flows.run.pipeline import Pipeline
from flows.run.work import Difference
from indexes.embed.background import BackgroundEncoder
from indexes.embed.cache import MemoryVectorCache
from indexes.embed.weights import ModelSpec
from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest, ModelManifest
from indexes.ports import Encoder, VectorCache
from indexes.publish.current import write_current
from ingest.plan.frontier import plan_targets
from runtime.clock import SystemClock
from runtime.processes.parser_pool import ParserPool
from runtime.progress import StageProgress
from schemas.settings import Settings
from schemas.source import Rate, Source
from tests.fakes.encoder import HashEncoder
from tests.fakes.fetch_clock import QuickClock
from tests.fakes.known import NOW, web_source
from tests.fakes.ledger_rows import publish
from tests.fakes.site_server import Site


@dataclass
class SetClock(SystemClock):
    """A clock whose date is set, and whose waits take no time."""

    date: datetime = field(default=NOW)
    waits: QuickClock = field(default_factory=QuickClock)

    def now(self) -> datetime:
        """The date that was set."""
        return self.date

    def forward(self, **units: float) -> None:
        """Let so many `days` or `hours` go by."""
        self.date += timedelta(**units)

    def monotonic(self) -> float:
        """Seconds that only waiting moves."""
        return self.waits.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait no time."""
        await self.waits.sleep(seconds)


@cache
def _model() -> ModelSpec:
    return find_model(Settings())


def open_parsers() -> ParserPool:
    """Parsers that several pipelines may share: one takes seconds to start."""
    return ParserPool(workers=1, tokenizer=_model().path / "tokenizer.json")


@contextmanager
def open_plain_pipeline(
    folder: Path, source: Source, *, parsers: ParserPool | None = None
) -> Iterator[Pipeline]:
    """A pipeline over an empty index in *folder*; its clock is a `SetClock`."""
    layout = IndexLayout(folder)
    settings, spec = Settings(workers=1), _model()
    model = ModelManifest(name=spec.name, sha256=spec.sha256, dim=spec.dim, max_tokens=spec.max_tokens)
    manifest = IndexManifest(index_id="plain", graph="lance", model=model)
    index = Index(layout=layout, manifest=manifest, settings=settings, clock=SetClock())
    write_current(layout.root, 0)
    with StageProgress(quiet=True) as progress:
        pipeline = Pipeline(index=index, source=source, run_id="run-1", progress=progress)
        pipeline.encoding = encoding = open_encoding()
        if parsers is not None:
            pipeline.parsers = parsers
        try:
            yield pipeline
        finally:
            encoding.close()
            pipeline.close()


def open_encoding(cache: VectorCache | None = None, encoder: Encoder | None = None) -> BackgroundEncoder:
    """Encodes at once and in memory; `taken` tells what a run would have encoded."""
    return BackgroundEncoder(
        cache=cache or MemoryVectorCache(),
        encoder=encoder or HashEncoder(),
        limit=1_000,
        on_taken=lambda _texts: None,
        on_encoded=lambda _number: None,
        should_stop=lambda: False,
    )


def source_of(site: Site, **fields: object) -> Source:
    """A web source of everything on a site."""
    rate = Rate(per_host_delay=0)
    return web_source(**{"seeds": (site.url("/"),), "allow_private": (site.address,), "rate": rate, **fields})


def know(pipeline: Pipeline, *uris: str) -> None:
    """Bring addresses into the ledger."""
    found = plan_targets(pipeline.source, uris, depth=0, found_by=None).documents
    pipeline.index.ledger.documents.add_new(found)


def crawl(pipeline: Pipeline, run_id: str, *, days: float = 1, accept: bool = False) -> Difference:
    """Look at everything, a few days after the last time, and compare; nothing is published.

    Raises: GuardRefused.
    """
    clock = pipeline.index.clock
    assert isinstance(clock, SetClock)
    clock.forward(days=days)
    pipeline.run_id = run_id
    plan_source(pipeline)
    while wave := plan_wave(pipeline, due_by=None):
        for batch in wave:
            fetch_batch(pipeline, batch.uris)
            parse_batch(pipeline, batch.uris)
    check_seeds(pipeline, quarantine_and_deduplicate(pipeline, accept=accept), accept=accept)
    return diff_source(pipeline, accept=accept)


def publish_ledger(pipeline: Pipeline, difference: Difference) -> None:
    """Make the difference what readers would see, in the ledger alone."""
    ledger = pipeline.index.ledger
    number = publish(ledger, *difference.changes, base=difference.base, source=pipeline.source.name)
    write_current(pipeline.index.layout.root, number)


def states(pipeline: Pipeline) -> dict[str, tuple[str, str]]:
    """State and reason of every document, by the path of its address."""
    known = pipeline.index.ledger.documents.of_source(pipeline.source.name)
    return {urlsplit(d.uri).path: (d.state.value, d.reason) for d in known}
