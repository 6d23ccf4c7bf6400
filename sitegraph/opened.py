"""An index as a program holds it: `sitegraph.open("handbook-index")`."""

import logging
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from indexes.changes import read_changes
from indexes.markers import for_readers
from retrieval.as_of import check_mode
from retrieval.ask import Asking, AskResult
from retrieval.ask_modes import AskMode
from retrieval.bundle.render import find_chunk, mark_passage
from retrieval.live import CACHE_MB, open_retriever
from retrieval.once import coverage_of
from retrieval.question.query import (
    ALLOW_ALL,
    ASK_TOP_K,
    TOKEN_BUDGET,
    TOP_K,
    Policy,
    Unit,
    build_query,
    filters_from_record,
)
from retrieval.wiki.store import Wiki, wiki_folder
from runtime.language_model import open_model
from runtime.settings import read_settings
from schemas.access import PUBLIC, narrow_groups
from schemas.changes import Feed
from schemas.evidence import ContextBundle, Query
from schemas.nodes import Chunk
from schemas.settings import Settings, load_settings

if TYPE_CHECKING:
    from indexes.wiring import Readers
    from retrieval.live import LiveRetriever
    from schemas.names import Complete

_log = logging.getLogger(__name__)

Filters = Mapping[str, str | int | Sequence[str | int]]


class OpenedIndex:
    """An index held open: each call is answered from the generation that is current when it is made.

    Threads may share it. It does not survive a fork: open a new one in the child.
    """

    def __init__(
        self, settings: Settings, *, cache_mb: int, policy: Policy, complete: "Complete | None"
    ) -> None:
        self._stack = ExitStack()
        if "://" in settings.index:
            from indexes.copies.cache import follow_copy

            settings = self._stack.enter_context(follow_copy(settings, now=time.time, say=_log.warning))
        self.folder = Path(settings.index)
        self._ledger_url = settings.ledger_url
        self._policy, self._complete = policy, complete
        self._coverage = partial(coverage_of, settings, _now)
        opened = open_retriever(
            self.folder,
            environment=settings,
            clock=time.monotonic,
            cache_mb=cache_mb,
            policy=policy,
            coverage=self._coverage,
        )
        self._retriever: LiveRetriever = self._stack.enter_context(opened)

    @property
    def generation(self) -> int:
        """Number of the generation that readers see now."""
        return self._retriever.read(lambda readers: readers.generation)

    def retrieve(
        self,
        question: str,
        *,
        top_k: int = TOP_K,
        filters: Filters | None = None,
        token_budget: int = TOKEN_BUDGET,
        use_graph: bool = True,
        rerank: bool | None = None,
        as_of: str | int | None = None,
        version: str | None = None,
        by: Unit = "passage",
    ) -> ContextBundle:
        """Return the evidence for *question*: chunks in rank order, with citations, scores and relations.

        Args: filters: such as `{"doc_type": "guide", "lang": ["en", "de"]}`; several values mean any of them.
        token_budget: encoder tokens of evidence. rerank: whether a cross-encoder orders the best; None: where
        one is installed. as_of: the number of a generation that is kept, or a month, a day or a time: read
        the index as it was then. version: of manuals with several, that one (`15`, `postgresql=15`), `latest`
        (the default) or `all`. by: `page` lists pages by all that each says, at its best passage.
        Raises: ConfigError: no index, an argument out of bounds, or nothing of *as_of* is kept; FilterError;
        QueryRefused: by the policy; StoreUnavailable.
        """
        return self._retriever.retrieve(
            _query(
                question,
                top_k=top_k,
                filters=filters,
                token_budget=token_budget,
                use_graph=use_graph,
                rerank=rerank,
                version=version,
                by=by,
            ),
            as_of=as_of,
        )

    def ask(
        self,
        question: str,
        *,
        mode: AskMode | str = AskMode.PLAIN,
        top_k: int = ASK_TOP_K,
        filters: Filters | None = None,
        on_step: Callable[[str], None] | None = None,
        as_of: str | int | None = None,
        version: str | None = None,
    ) -> AskResult:
        """Return an answer in sentences, each with the label of the evidence that it rests on.

        *on_step* gets a line for each step, and for what a person should know although an answer comes.
        Raises: as `retrieve`.
        """
        query = _query(question, top_k=top_k, filters=filters, rerank=None, version=version)
        mode = AskMode(mode)
        check_mode(mode, as_of=as_of)
        return self._retriever.read(
            lambda readers: self._asking(readers, on_step).ask(query, mode), as_of=as_of
        )

    def chunk(self, chunk_id: str, *, as_of: str | int | None = None) -> Chunk:
        """Return a chunk of the current generation, or of one before.

        Raises: ConfigError: there is none.
        """
        return self._retriever.read(lambda readers: find_chunk(readers.chunks, chunk_id), as_of=as_of)

    def passage(self, chunk_id: str, *, as_of: str | int | None = None) -> str:
        """Return the section that a chunk stands in, with the chunk between » and «.

        Raises: ConfigError: there is none.
        """
        return self._retriever.read(
            lambda readers: mark_passage(readers.graph, find_chunk(readers.chunks, chunk_id)), as_of=as_of
        )

    def changes(self, *, since: int, source: str | None = None) -> Feed:
        """Return what changed after generation *since*; keep `Feed.until` as the next *since*.

        Raises: ChangesUnavailable: the feed does not lead from there to here any more; ConfigError.
        """
        return read_changes(self.folder, since=since, source=source, ledger_url=self._ledger_url)

    def close(self) -> None:
        """Let go of stores and caches."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"OpenedIndex({str(self.folder)!r})"

    def _asking(self, readers: "Readers", on_step: Callable[[str], None] | None) -> Asking:
        said = on_step or (lambda _: None)
        return Asking(
            readers=readers,
            complete=self._complete,
            log=said,
            warn=said,
            wiki=Wiki(wiki_folder(self.folder)),
            now=_now(),
            policy=self._policy,
            coverage=self._coverage,
        )


def open_index(
    index: str | os.PathLike[str],
    *,
    environment: Mapping[str, str] | None = None,
    cache_mb: int = CACHE_MB,
    policy: Policy = ALLOW_ALL,
    complete: "Complete | None" = None,
    groups: Collection[str] | None = None,
    allow: Collection[str] | None = None,
) -> OpenedIndex:
    """Open an index to be asked again and again; use it in a `with` statement, or close it.

    Args: index: its folder, or the URL of an index elsewhere (`s3://…`, `https://…`), of which a copy is
    kept in a cache folder. environment: the variables that settings are read from (default: those of the
    process, and `./sitegraph.toml`). cache_mb: what stores may keep in memory between queries. policy: says
    which questions are refused. complete: a language model that words answers (default: the one that settings
    name, else none). groups: read what readers of these groups see, none for `()` (default: those of the
    settings, else the whole index). allow: of that, only documents whose sites refuse none of these uses, as
    `("ai-input",)`.
    Raises: ConfigError: there is no index in that folder, no audience of these groups, or a setting is wrong;
    what opening it raises.
    """
    if environment is None:
        settings = read_settings(os.fspath(index))
    else:
        settings = replace(load_settings(environment, None), index=os.fspath(index))
    if groups is not None:
        settings = replace(settings, groups=",".join(sorted(groups)) or PUBLIC)
    settings = replace(settings, groups=narrow_groups(settings.groups, allow, subject="allow"))
    settings = for_readers(settings, subject="groups" if allow is None else "allow")
    model = open_model(settings, budgeted=True) if complete is None else complete
    opened = OpenedIndex(settings, cache_mb=cache_mb, policy=policy, complete=model)
    try:
        _ = opened.generation
    except BaseException:
        opened.close()
        raise
    return opened


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _query(question: str, *, filters: Filters | None, **options: Any) -> Query:
    named = {
        key: value if isinstance(value, str | int) else list(value) for key, value in (filters or {}).items()
    }
    return build_query(question, filters=filters_from_record(named), **options)
