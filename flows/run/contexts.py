"""What the stages of a run are given: each kind of stage the parts it works with, and no others.

Parts that take seconds to open (a browser, parser processes, a model) are given as functions that open them
on first use, so that a stage which needs none opens none.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flows.run.index import Index
from indexes.embed.background import BackgroundEncoder
from indexes.embed.weights import ModelSpec
from indexes.ports import Encoder, VectorCache
from runtime.processes.parser_pool import ParserPool
from runtime.progress import StageProgress
from schemas.errors import Stopped
from schemas.extraction import EntityExtractor
from schemas.fetch import FetchResult
from schemas.fragment import GraphFragment
from schemas.source import Source
from schemas.source_kinds import OpenSource, SourceListing

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """What every stage knows: the index, the source, the run's id, how to show progress and when to stop.

    `pipeline_version` is what a fragment depends on besides the bytes: another value parses everything again.
    """

    index: Index
    source: Source
    run_id: str
    pipeline_version: str
    progress: StageProgress
    stop: threading.Event

    @property
    def crash_point(self) -> Callable[[str], None]:
        """Crashes where `SITEGRAPH_FAULT` says so."""
        return self.index.crash_point

    def raise_if_stopped(self) -> None:
        """Raise Stopped once the run is to end."""
        if self.stop.is_set():
            raise Stopped("stopped; run again to continue", subject=self.source.name)


@dataclass(frozen=True, kw_only=True)
class CrawlContext(RunContext):
    """What plans, fetches, parses and quarantines.

    `answers` are those that seeds gave before the index was made; each is used once. `embedded_ahead` are
    fragments whose texts `encoding` has taken already.
    """

    opened_source: Callable[[], OpenSource]
    listing: Callable[[], SourceListing]
    parsers: Callable[[], ParserPool]
    encoding: Callable[[], BackgroundEncoder]
    answers: dict[str, FetchResult]
    embedded_ahead: set[str]


@dataclass(frozen=True, kw_only=True)
class DeriveContext(RunContext):
    """What compares, embeds and links.

    `may_change_model`: whether the run may go on with another model than that of the vectors readers see.
    `tools` gives the files of tools that the source names.
    """

    model: ModelSpec
    may_change_model: bool
    encoding: Callable[[], BackgroundEncoder]
    encoder: Callable[[], Encoder]
    vectors: Callable[[], VectorCache]
    extractor: Callable[[], EntityExtractor | None]
    tools: Callable[[], tuple[GraphFragment, ...]]
    embedded_ahead: set[str]


@dataclass(frozen=True, kw_only=True)
class CommitContext(RunContext):
    """What recovers, writes, verifies and publishes."""

    model: ModelSpec
    encoding: Callable[[], BackgroundEncoder]
