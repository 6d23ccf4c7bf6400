"""A run's parts without its flow: ledger and stored bytes on disk, real sites on loopback, no real model."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch
from flows.crawl.plan import plan_next_wave, plan_source
from flows.crawl.quarantine import quarantine_and_deduplicate
from flows.derive.diff import check_seeds, diff_source
from flows.run.contexts import CrawlContext, IndexContext
from flows.run.index import Index
from flows.run.resources import Given, Resources
from flows.run.values import Difference, Run
from flows.run.versions import find_model
from indexes.embed.pending import BackgroundEncoder
from indexes.embed.weights import ModelSpec
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from indexes.ports import Encoder, VectorCache
from indexes.publish.current import write_current
from ingest.plan.frontier import plan_targets
from runtime.clock import SystemClock
from runtime.parser_pool import ParserPool
from runtime.progress import StageProgress
from schemas.settings import Settings
from schemas.source import Rate, Source
from tests.fakes.encoder import HashEncoder
from tests.fakes.fetch_clock import QuickClock
from tests.fakes.known import NOW, web_source
from tests.fakes.ledger_rows import publish
from tests.fakes.memory_stores import MemoryVectorCache
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


class PlainRun:
    """The parts of one run after the other over one index; `run_id` and `source` may be set."""

    def __init__(self, resources: Resources, given: Given) -> None:
        self.resources, self._given = resources, given
        self._past: list[Resources] = []

    @property
    def index(self) -> Index:
        """The index."""
        return self.resources.index

    @property
    def stop(self) -> threading.Event:
        """Ends the run."""
        return self.resources.stop

    @property
    def progress(self) -> StageProgress:
        """Shows nothing."""
        return self.resources.progress

    @property
    def encoding(self) -> BackgroundEncoder:
        """Encodes in memory, unless given otherwise."""
        return self.resources.encoding()

    @property
    def crawling(self) -> CrawlContext:
        """What stages of a crawl are given."""
        return self.resources.crawling()

    @property
    def indexing(self) -> IndexContext:
        """What stages after the crawl are given."""
        return self.resources.indexing()

    @property
    def source(self) -> Source:
        """The source that is crawled."""
        return self.resources.source

    @source.setter
    def source(self, source: Source) -> None:
        self._begin(replace(self.resources.run, source=source.name), source)

    @property
    def run_id(self) -> str:
        """The run under way; set it for the next to begin."""
        return self.resources.run.run_id

    @run_id.setter
    def run_id(self, run_id: str) -> None:
        self._begin(replace(self.resources.run, run_id=run_id), self.source)

    def give(self, **parts: Any) -> None:
        """Use these parts of `Given` from now on."""
        self._given = replace(self._given, **parts)
        self._begin(self.resources.run, self.source)

    def close(self) -> None:
        """Close what all of them opened."""
        for resources in (*self._past, self.resources):
            resources.close()

    def _begin(self, run: Run, source: Source) -> None:
        before = self.resources
        self._past.append(before)  # what it opened is still used
        given = replace(self._given, session=before._session or self._given.session)
        self.resources = Resources(
            run, index=before.index, source=source, progress=before.progress, stop=before.stop, given=given
        )


@contextmanager
def open_plain_run(
    folder: Path, source: Source, *, parsers: ParserPool | None = None, **given: Any
) -> Iterator[PlainRun]:
    """A run over an empty index in *folder*; its clock is a `SetClock`."""
    layout = IndexLayout(folder)
    settings, spec = Settings(workers=1), _model()
    model = ModelManifest(name=spec.name, sha256=spec.sha256, dim=spec.dim, max_tokens=spec.max_tokens)
    manifest = IndexManifest(index_id="plain", graph="lance", model=model)
    index = Index(layout=layout, manifest=manifest, settings=settings, clock=SetClock())
    write_current(layout.root, 0)
    with StageProgress(quiet=True) as progress, closing(open_encoding()) as encoding:
        parts = Given(**{"parsers": parsers, "encoding": encoding, **given})
        run = Run(index=str(folder), source=source.name, run_id="run-1")
        first = Resources(run, index=index, source=source, progress=progress, given=parts)
        plain = PlainRun(first, parts)
        try:
            yield plain
        finally:
            plain.close()


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


def know(run: PlainRun, *uris: str) -> None:
    """Bring addresses into the ledger."""
    found = plan_targets(run.source, uris, depth=0, found_by=None).documents
    run.index.ledger.documents.add_new(found)


def crawl(run: PlainRun, run_id: str, *, days: float = 1, accept: bool = False) -> Difference:
    """Look at everything, a few days after the last time, and compare; nothing is published.

    Raises: GuardRefused.
    """
    clock = run.index.clock
    assert isinstance(clock, SetClock)
    clock.forward(days=days)
    run.run_id = run_id
    plan_source(run.crawling)
    while wave := plan_next_wave(run.crawling, due_by=None):
        for batch in wave:
            fetch_batch(run.crawling, batch.uris, sampled=batch.sampled)
            parse_batch(run.crawling, batch.uris)
    check_seeds(run.indexing, quarantine_and_deduplicate(run.crawling, accept=accept), accept=accept)
    return diff_source(run.indexing, accept=accept)


def publish_ledger(run: PlainRun, difference: Difference) -> None:
    """Make the difference what readers would see, in the ledger alone."""
    ledger = run.index.ledger
    number = publish(ledger, *difference.changes, base=difference.base, source=run.source.name)
    write_current(run.index.layout.root, number)


def states(run: PlainRun) -> dict[str, tuple[str, str]]:
    """State and reason of every document, by the path of its address."""
    known = run.index.ledger.documents.of_source(run.source.name)
    return {urlsplit(d.uri).path: (d.state.value, d.reason) for d in known}
