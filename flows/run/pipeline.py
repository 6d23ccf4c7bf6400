"""What one run of one source works with; slow parts are loaded when first used."""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from flows.run.index import encoder_folder, model_of
from flows.run.models import encoder_cache
from indexes.embed.background import BackgroundEncoder
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.child import ChildEncoder
from indexes.embed.encoder import SentenceTransformerEncoder
from indexes.embed.export import export_onnx
from indexes.embed.frugal import LIGHT_CHARACTERS, FrugalEncoder
from indexes.embed.reader_encoder import OnnxEncoder
from indexes.embed.routes import Dtype
from indexes.embed.weights import ModelSpec, model_key
from ingest.diff.rows import Observed
from ingest.sources.identity import citing
from runtime.processes.parser_pool import ParserPool
from runtime.processes.tesseract import engine
from runtime.progress import StageProgress
from schemas.extraction import EntityExtractor
from schemas.fetch import FetchResult
from schemas.fragment import GraphFragment
from schemas.hashing import record_sha256
from schemas.records import to_record
from schemas.source import Source
from schemas.source_kinds import OpenSource, SourceListing

if TYPE_CHECKING:
    from ingest.fetch.client import FetchSession
from typing import TYPE_CHECKING

from flows.run.index import Index
from flows.run.models import is_same, manifest_of
from indexes.manifest import VectorSpace, table_begun_by
from schemas.errors import SchemaMismatch


@dataclass(kw_only=True)
class Pipeline:
    """Everything one run of one source works with; `tools` are the files of tools that the source names.

    `answers` are those that seeds gave before the index was made.
    `embedded_ahead` are fragments whose texts were taken by `encoding` as soon as they were parsed.
    `may_change_model`: whether it may go on with another model than that of the vectors readers see.
    `repair`: whether to read everything that readers see first, as `verify` does. `observed` are the times of
    passages whose rows are written anew.
    """

    index: Index
    source: Source
    run_id: str
    progress: StageProgress
    tools: tuple[GraphFragment, ...] = ()
    stop: threading.Event = field(default_factory=threading.Event)
    may_change_model: bool = False
    repair: bool = False
    observed: Mapping[str, Observed] = field(default_factory=dict)
    answers: dict[str, FetchResult] = field(default_factory=dict)
    embedded_ahead: set[str] = field(default_factory=set)
    _listed: dict[str, SourceListing] = field(default_factory=dict)
    _opened: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def model(self) -> ModelSpec:
        """The encoder's model, as found on this machine."""
        return model_of(self.index, other=self.may_change_model)

    @cached_property
    def pipeline_version(self) -> str:
        """What a fragment depends on besides the bytes; another value parses everything again."""
        return pipeline_version(self.model, self.source)

    @cached_property
    def encoder(self) -> FrugalEncoder:
        """The exported model for a few texts; torch, in a process of its own, for many."""
        settings = self.index.settings
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
        light = OnnxEncoder(encoder_folder(self.index, self.model))
        # What is bf16 is so throughout: the exported model is fp32.
        few = 0 if self.model.dtype is Dtype.BF16 else LIGHT_CHARACTERS
        return FrugalEncoder(light, heavy, light_characters=few)

    @cached_property
    def extractor(self) -> EntityExtractor | None:
        """What reads entities besides the rules, None where the settings name nothing.

        Raises: ConfigError: what they name is not complete, or not installed.
        """
        from runtime.entity_extractors import open_extractor

        return open_extractor(
            self.index.settings, self.index.ledger, run_id=self.run_id, should_stop=self.stop.is_set
        )

    @cached_property
    def vectors(self) -> SqliteVectorCache:
        """Vectors by encoded text."""
        cache = SqliteVectorCache(self.index.layout.vectors, model_key=model_key(self.model))
        self._opened.callback(cache.close)
        return cache

    @cached_property
    def encoding(self) -> BackgroundEncoder:
        """Encodes into `vectors` beside whatever else the run does."""
        encoding = BackgroundEncoder(
            cache=self.vectors,
            encoder=self.encoder,
            limit=self.index.settings.encode_ahead,
            on_taken=self._on_taken,
            on_encoded=self._on_encoded,
            should_stop=self.stop.is_set,
            batch_size=self.index.settings.batch_size,
            clock=self.index.clock.monotonic,
        )
        self._opened.callback(encoding.close)
        return encoding

    def seconds_waited(self) -> float:
        """How long steps have waited for `encoding` so far."""
        return self.encoding.seconds_waited if "encoding" in self.__dict__ else 0.0

    @cached_property
    def parsers(self) -> ParserPool:
        """Parser processes under limits."""
        tokenizer = self.model.path / "tokenizer.json"
        return self._opened.enter_context(
            ParserPool(workers=self.index.settings.workers, tokenizer=tokenizer)
        )

    @cached_property
    def session(self) -> "FetchSession":
        """The HTTP client with its politeness, kept for the whole run."""
        from flows.run.sessions import open_source_session

        return self._opened.enter_context(
            open_source_session(self.source, self.index.settings, clock=self.index.clock)
        )

    @property
    def crash_point(self) -> Callable[[str], None]:
        """Crashes where `SITEGRAPH_FAULT` says so."""
        return self.index.crash_point

    @cached_property
    def opened_source(self) -> OpenSource:
        """The source as its kind opens it, kept for the whole run."""
        from flows.run.open_source import open_source

        settings, clock = self.index.settings, self.index.clock
        opened = open_source(self.source, settings, clock=clock, session=lambda: self.session)
        return self._opened.enter_context(opened)

    def listing(self) -> SourceListing:
        """The documents that the source lists; asked for once a run."""
        if self.run_id not in self._listed:
            self._listed = {self.run_id: self.opened_source.discover(should_stop=self.stop.is_set)}
        return self._listed[self.run_id]

    def export_encoder(self) -> None:
        """Leave the query encoder beside the index, once."""
        export_onnx(
            self.model, encoder_folder(self.index, self.model), cache=encoder_cache(self.index.settings)
        )

    def _on_taken(self, texts: Collection[str]) -> None:
        self.encoder.expect(texts)
        self.progress.expect("embed", len(texts))

    def _on_encoded(self, texts: int) -> None:
        self.progress.advance("embed", texts)
        self.crash_point("embed.saved")

    def close(self) -> None:
        """End children, close connections."""
        self._opened.close()
        self.index.close()


def pipeline_version(model: ModelSpec, source: Source) -> str:
    """Name everything a fragment, or what its links lead to, depends on besides the bytes."""
    from ingest.parse.document import PARSER_VERSION

    parts = {"parser": PARSER_VERSION, "tokenizer": model.sha256, "name": source.name, "seeds": source.seeds}
    settings = {"metadata": to_record(source.metadata), "scope": to_record(source.scope)}
    # Pages may address us by name; and bytes that were not kept, or may no longer be, are fetched anew.
    more = {"user_agent": source.user_agent, "keep_raw": source.keep_raw}
    # A page that could not be recognised may be once Tesseract is installed.
    recognised = {"ocr": [*source.ocr, engine()]} if source.ocr else {}
    related = {"relations": source.relations} if source.relations else {}
    cited = citing(source)
    return record_sha256({**parts, **settings, **more, **recognised, **related, **cited})[:16]


def changes_model(pipeline: Pipeline) -> bool:
    """Whether what readers see now has vectors of another model than the run's, or of another dtype.

    Raises: SchemaMismatch: it has since the run began, and that was not accepted.
    """
    held = pipeline.index.model()
    differs = not is_same(held, pipeline.model)
    if differs and not pipeline.may_change_model:
        raise SchemaMismatch(
            f"another run has changed the model to {held.name} ({held.dtype}); run again",
            subject=str(pipeline.index.layout.root),
        )
    return differs


def space_for(pipeline: Pipeline, generation: int) -> VectorSpace:
    """Where a generation that this run makes has its vectors: where readers see them now, or a new table."""
    index = pipeline.index
    if not changes_model(pipeline):
        return index.chunks.space(index.current())
    return VectorSpace(
        model=manifest_of(pipeline.model),
        table=table_begun_by(generation),
        encoder=encoder_folder(index, pipeline.model).name,
    )
