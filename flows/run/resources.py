"""What one process has open for a run, each part from when a stage first needs it."""

import math
import threading
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.run.contexts import CrawlContext, IndexContext
from flows.run.index import Index, encoder_folder, fetch_encoder, local_encoder, model_of, upload_encoder
from flows.run.values import Run
from flows.run.versions import encoder_cache, pipeline_version
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.child import ChildEncoder
from indexes.embed.encoder import SentenceTransformerEncoder
from indexes.embed.export import export_onnx
from indexes.embed.frugal import FrugalEncoder, light_characters
from indexes.embed.pending import BackgroundEncoder
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.weights import ModelSpec, file_sha256, file_sha256_once, model_key, token_dim
from indexes.layout import FILES
from indexes.places import is_in_bucket
from indexes.ports import Encoder, VectorCache
from indexes.wiring import open_shared_vectors
from runtime.cost import METER
from runtime.parser_pool import ParserPool
from runtime.progress import StageProgress
from runtime.settings import THREADS, has_fast_bf16
from schemas.cost import Spent, settle
from schemas.fetch import FetchResult
from schemas.fragment import GraphFragment
from schemas.names import EntityExtractor
from schemas.report import HttpTotals, PageCounts
from schemas.source import Source
from schemas.source_kinds import OpenSource, SourceListing

if TYPE_CHECKING:
    from ingest.fetch.client import FetchSession


@dataclass(frozen=True, kw_only=True)
class Given:
    """What tests and benchmarks, or the look at the seeds, have open already."""

    session: "FetchSession | None" = None
    opened_source: OpenSource | None = None
    answers: dict[str, FetchResult] = field(default_factory=dict)
    parsers: ParserPool | None = None
    encoder: Encoder | None = None
    vectors: VectorCache | None = None
    encoding: BackgroundEncoder | None = None
    pipeline_version: str | None = None
    tools: tuple[GraphFragment, ...] | None = None


class Resources:
    """The parts of one run in this process; each is opened on first use and closed with the others."""

    def __init__(
        self,
        run: Run,
        *,
        index: Index,
        source: Source,
        progress: StageProgress,
        stop: threading.Event | None = None,
        given: Given | None = None,
    ) -> None:
        self.run, self.index, self.source, self.progress = run, index, source, progress
        self.stop = stop or threading.Event()
        self._given = given or Given()
        self._opened = ExitStack()
        self._lock = threading.RLock()
        self._session = self._given.session
        self._parsers = self._given.parsers
        self._encoding = self._given.encoding
        self._answers = dict(self._given.answers)
        self._embedded_ahead: set[str] = set()
        self._opened_source = self._given.opened_source
        self._listing: SourceListing | None = None
        self._told_http, self._told_pages = HttpTotals(), PageCounts()
        self._told_costs = METER.read() if run.token else None

    @cached_property
    def model(self) -> ModelSpec:
        """The encoder's model, as found on this machine."""
        return model_of(self.index, other=self.run.may_change_model)

    @cached_property
    def pipeline_version(self) -> str:
        """What a fragment depends on besides the bytes; another value parses everything again."""
        return self._given.pipeline_version or pipeline_version(self.model, self.source)

    def crawling(self) -> CrawlContext:
        """What stages of a crawl are given."""
        return CrawlContext(
            **self._common(),
            opened_source=self.opened_source,
            listing=self.listing,
            parsers=self.parsers,
            encoding=self.encoding,
            answers=self._answers,
            embedded_ahead=self._embedded_ahead,
        )

    def indexing(self) -> IndexContext:
        """What stages after the crawl are given."""
        return IndexContext(
            **self._common(),
            model=self.model,
            may_change_model=self.run.may_change_model,
            encoding=self.encoding,
            encoder=lambda: self.encoder,
            vectors=lambda: self.vectors,
            extractor=lambda: self.extractor,
            tools=self.tools,
            embedded_ahead=self._embedded_ahead,
        )

    def _common(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "source": self.source,
            "run_id": self.run.run_id,
            "pipeline_version": self.pipeline_version,
            "progress": self.progress,
            "stop": self.stop,
        }

    def session(self) -> "FetchSession":
        """The HTTP client with its politeness, kept for the whole run."""
        from flows.run.sources import open_source_session

        with self._lock:
            if self._session is None:
                opened = open_source_session(self.source, self.index.settings, clock=self.index.clock)
                self._session = self._opened.enter_context(opened)
            return self._session

    def opened_source(self) -> OpenSource:
        """The source as its kind opens it, kept for the whole run."""
        from flows.run.sources import open_source

        with self._lock:
            if self._opened_source is None:
                settings, clock = self.index.settings, self.index.clock
                opened = open_source(self.source, settings, clock=clock, session=self.session)
                self._opened_source = self._opened.enter_context(opened)
            return self._opened_source

    def listing(self) -> SourceListing:
        """The documents that the source lists; asked for once a run."""
        if self._listing is None:
            self._listing = self.opened_source().discover(should_stop=self.stop.is_set)
        return self._listing

    def parsers(self) -> ParserPool:
        """Parser processes under limits."""
        with self._lock:
            if self._parsers is None:
                tokenizer = self.model.path / "tokenizer.json"
                pool = ParserPool(workers=self.index.settings.workers, tokenizer=tokenizer)
                self._parsers = self._opened.enter_context(pool)
            return self._parsers

    def encoding(self) -> BackgroundEncoder:
        """Encodes into `vectors` beside whatever else the run does."""
        with self._lock:
            if self._encoding is None:
                self._encoding = BackgroundEncoder(
                    cache=self.vectors,
                    encoder=self.encoder,
                    limit=self.index.settings.encode_ahead,
                    on_taken=self._on_taken,
                    on_encoded=self._on_encoded,
                    should_stop=self.stop.is_set,
                    batch_size=self.index.settings.batch_size,
                    with_tokens=self.model.token_vectors,
                    clock=self.index.clock.monotonic,
                )
                self._opened.callback(self._encoding.close)
            return self._encoding

    def tools(self) -> tuple[GraphFragment, ...]:
        """The files of tools that the source names."""
        from runtime.source_file import load_tools

        if self._given.tools is not None:  # as they were when the run was opened
            return self._given.tools
        return load_tools(self.source, Path(self.run.source_file)) if self.run.source_file else ()

    @cached_property
    def encoder(self) -> Encoder:
        """The exported model; torch, in a process of its own, from where it is faster."""
        if self._given.encoder is not None:
            return self._given.encoder
        settings = self.index.settings
        light = OnnxEncoder(local_encoder(self.index, self.model), threads=1, workers=settings.threads)
        few = light_characters(
            self.model.dtype,
            on_gpu=settings.device != "cpu",
            fast_bf16=has_fast_bf16(),
            torch=find_spec("sentence_transformers") is not None,
        )
        if self.model.graph or few == math.inf:
            return light
        build = partial(
            SentenceTransformerEncoder,
            # CPU time is what a busy machine distorts least; a GPU takes none of it.
            clock=time.process_time if settings.device == "cpu" else time.perf_counter,
            threads=settings.threads,
            device=settings.device,
            batch_size=settings.batch_size,
        )
        heavy = ChildEncoder(self.model, build)
        self._opened.callback(heavy.close)
        in_bf16 = settings.device == "cpu" and few > 0
        return FrugalEncoder(light, heavy, light_characters=few, pays_in_bf16=in_bf16)

    @cached_property
    def vectors(self) -> VectorCache:
        """Vectors by encoded text."""
        if self._given.vectors is not None:
            return self._given.vectors
        index, key, tokens = self.index, model_key(self.model), token_dim(self.model)
        kept_in_bucket = index.manifest.raw != FILES or is_in_bucket(index.layout.root)
        if index.settings.task_runner != THREADS and kept_in_bucket:
            shared = open_shared_vectors(
                index.layout,
                index.manifest,
                model_key=key,
                token_dim=tokens,
                patience=index.settings.bucket_seconds,
            )
            self._opened.callback(shared.close)
            return shared
        cache = SqliteVectorCache(index.vectors, model_key=key, token_dim=tokens)
        self._opened.callback(cache.close)
        return cache

    @cached_property
    def extractor(self) -> EntityExtractor | None:
        """What reads entities besides the rules, None where the settings name nothing.

        Raises: ConfigError: what they name is not complete, or not installed.
        """
        from runtime.language_model import open_extractor

        return open_extractor(
            self.index.settings, self.index.ledger, run_id=self.run.run_id, should_stop=self.stop.is_set
        )

    @property
    def encoded(self) -> int:
        """How many texts have been encoded so far."""
        return self._encoding.encoded if self._encoding is not None else 0

    @property
    def peak_child_mb(self) -> float:
        """The largest resident memory that a parser process has reported, in MiB."""
        return self._parsers.peak_rss_mb if self._parsers is not None else 0.0

    def take_http(self) -> HttpTotals:
        """What was requested since the last call, by whichever stage."""
        with self._lock:
            sent, before = self._http(), self._told_http
            self._told_http = sent
            return sent - before

    def take_pages(self) -> PageCounts:
        """Which pages of PDFs were read since the last call, by whichever stage."""
        with self._lock:
            read, before = self._pages(), self._told_pages
            self._told_pages = read
            return read - before

    def take_spent(self) -> dict[str, Spent]:
        """What this process spent since the last call, by cause, where it is a worker's; else nothing."""
        with self._lock:
            if self._told_costs is None:
                return {}
            costs, before = METER.read(), self._told_costs
            self._told_costs = costs
            return settle(costs - before)

    def count_again(self) -> None:
        """Let the next calls count from the beginning, where nobody has kept what the last ones returned."""
        with self._lock:
            self._told_http, self._told_pages = HttpTotals(), PageCounts()

    def _http(self) -> HttpTotals:
        sent = self._session.totals if self._session is not None else None
        status = {str(code): number for code, number in sorted(sent.statuses.items())} if sent else {}
        return HttpTotals(requests=sent.requests, status=status, bytes=sent.bytes) if sent else HttpTotals()

    def _pages(self) -> PageCounts:
        return self._parsers.page_counts if self._parsers is not None else PageCounts()

    def export_encoder(self, *, read_all: bool = False) -> None:
        """Leave the query encoder beside the index, once; *read_all* compares every byte that is there."""
        folder, there = local_encoder(self.index, self.model), encoder_folder(self.index, self.model)
        if is_in_bucket(there):
            fetch_encoder(there, folder)
        hash_file = file_sha256 if read_all else file_sha256_once
        export_onnx(self.model, folder, cache=encoder_cache(self.index.settings), hash_file=hash_file)
        if is_in_bucket(there):
            upload_encoder(folder, there, check=read_all)

    def _on_taken(self, texts: Collection[str]) -> None:
        expect: Callable[[Collection[str]], None] | None = getattr(self.encoder, "expect", None)
        if expect is not None:
            expect(texts)
        self.progress.expect("embed", len(texts))

    def _on_encoded(self, texts: int) -> None:
        self.progress.advance("embed", texts)
        self.index.crash_point("embed.saved")

    def release(self) -> None:
        """Close what was opened for these parts, and neither the index nor what they were given."""
        self._opened.close()

    def close(self) -> None:
        """End children, close connections."""
        self.stop.set()
        self.release()
        self.index.close()
