"""What the stages of a run are given: each kind of stage the parts it works with, and no others.

Parts that take seconds to open (a browser, parser processes, a model) are given as functions that open them
on first use, so that a stage which needs none opens none.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass

from flows.run.index import Index
from indexes.embed.pending import BackgroundEncoder
from indexes.embed.weights import ModelSpec
from indexes.ports import Encoder, VectorCache
from ingest.parse.formats.registry import document_versions
from runtime.parser_pool import ParserPool
from runtime.progress import StageProgress
from schemas.documents import KnownDocument
from schemas.errors import DamageFound, Stopped
from schemas.fetch import FetchResult
from schemas.fragment import GraphFragment
from schemas.ids import record_sha256
from schemas.names import EntityExtractor
from schemas.records import from_record
from schemas.source import Source
from schemas.source_kinds import OpenSource, SourceListing


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
class IndexContext(RunContext):
    """What compares, embeds, links, recovers, writes, verifies and publishes.

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


def is_parsed(run: CrawlContext, known: KnownDocument) -> bool:
    """Whether the bytes last fetched of a document have been parsed, as this run would, and that is kept."""
    versions = document_versions(run.pipeline_version)
    fresh = known.parsed_sha == known.raw_sha and known.pipeline_version in versions
    kept = known.fragment_sha is not None and run.index.fragments.has(known.fragment_sha)
    return fresh and kept


def robot_name(run: RunContext) -> str:
    """The name under which sites may address us, lower case."""
    from ingest.fetch.robots import product_token  # readers, who look at runs too, have no Protego

    return product_token(run.source.user_agent or run.index.settings.user_agent).lower()


def load_fragment(index: Index, sha256: str) -> GraphFragment:
    """Read a parsed document back by hash."""
    return from_record(GraphFragment, json.loads(index.fragments.get(sha256)))


def said_in(index: Index, sha256: str) -> str | None:
    """Hash the text of a parsed document, without where its links lead; None where none is there or kept."""
    try:
        chunks = load_fragment(index, sha256).chunks if sha256 else ()
    except DamageFound:
        return None
    return record_sha256([chunk.content_hash for chunk in chunks]) if chunks else None
