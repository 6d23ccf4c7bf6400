"""A run's parts without its flow: a ledger and stored bytes on disk, real sites on loopback, no model."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from flows.clock import SystemClock
from flows.progress import StageProgress
from flows.wiring import Index, Pipeline
from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest, ModelManifest
from indexes.publish.current import write_current
from ingest.plan.frontier import plan_documents
from schemas.settings import Settings
from schemas.source import Rate, Source
from tests.fakes.known import NOW, web_source
from tests.fakes.site_server import Site

MODEL = ModelManifest(name="none", sha256="0" * 64, dim=8, max_tokens=16)


@dataclass
class SetClock(SystemClock):
    """A clock whose date is set, and whose seconds go by."""

    date: datetime = field(default=NOW)

    def now(self) -> datetime:
        """The date that was set."""
        return self.date

    def forward(self, **units: float) -> None:
        """Let so many `days` or `hours` go by."""
        self.date += timedelta(**units)


@contextmanager
def open_plain_pipeline(folder: Path, source: Source) -> Iterator[Pipeline]:
    """A pipeline over an empty index in *folder*; its clock is a `SetClock`."""
    layout = IndexLayout(folder)
    manifest = IndexManifest(index_id="plain", graph="lance", model=MODEL)
    index = Index(layout=layout, manifest=manifest, settings=Settings(workers=1), clock=SetClock())
    write_current(layout.root, 0)
    with StageProgress(quiet=True) as progress:
        pipeline = Pipeline(index=index, source=source, run_id="run-1", progress=progress)
        try:
            yield pipeline
        finally:
            pipeline.close()


def source_of(site: Site, **fields: object) -> Source:
    """A web source of everything on a site."""
    rate = Rate(per_host_delay=0)
    return web_source(seeds=(site.url("/"),), allow_private=(site.address,), rate=rate, **fields)


def know(pipeline: Pipeline, *uris: str) -> None:
    """Bring addresses into the ledger."""
    found = plan_documents(pipeline.source, uris, depth=0, found_by=None)
    pipeline.index.ledger.documents.add_new(found)
