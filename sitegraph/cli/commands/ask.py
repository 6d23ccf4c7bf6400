"""`sitegraph ask`: an answer in sentences, each with the evidence that it rests on."""

import sys
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from retrieval.ask_modes import AskMode
from retrieval.question.query import ASK_TOP_K
from schemas.errors import ConfigError
from schemas.evidence import Interface
from schemas.redaction import one_line
from schemas.settings import Settings
from sitegraph.cli.commands.wiki import WikiOption, open_wiki
from sitegraph.cli.options import (
    AllowOption,
    AsOfOption,
    FilterOption,
    FormatOption,
    GraphOption,
    GroupsOption,
    IndexOption,
    VersionOption,
    print_result,
)
from sitegraph.cli.reading import open_for_reading, read_reading_settings, terminal_width, utc_now, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from retrieval.ask import AskResult
    from schemas.evidence import Query
    from schemas.records import Record


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    mode: Annotated[
        AskMode,
        typer.Option("--mode", help="How to find evidence: search; search and graph; wiki first; in steps."),
    ] = AskMode.PLAIN,
    index: IndexOption = None,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm", metavar="URL", help="Server of a language model (default: SITEGRAPH_LLM_URL, else none)."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Name of the model (default: SITEGRAPH_LLM_MODEL)."),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Also have the model judge each sentence of its answer.")
    ] = False,
    steps: Annotated[
        int, typer.Option("--steps", min=1, max=4, help="Most steps with --mode iterative; 2 is fast.")
    ] = 4,
    wiki: WikiOption = None,
    top_k: Annotated[int, typer.Option("--top-k", help="Number of chunks, 1 to 50.")] = ASK_TOP_K,
    use_graph: GraphOption = True,
    filter_: FilterOption = None,
    as_of: AsOfOption = None,
    version: VersionOption = None,
    groups: GroupsOption = None,
    allow: AllowOption = None,
    output: FormatOption = "text",
) -> None:
    """Answer a question from the index, each sentence with its source.

    Without a language model, the answer quotes the sentences that answer best. With one, the model words the
    answer, and sentences that the evidence does not support are dropped. Its API key is SITEGRAPH_LLM_KEY.

    Examples:

      sitegraph ask "What happens when a lease expires?"

      sitegraph ask "How does the Session API connect to Redis?" --mode dual --format json

      sitegraph ask "Who wrote the guide that GOV-0017 replaces?" --mode iterative --steps 2

      sitegraph ask "How long does a lease last?" --as-of 2026-03

      sitegraph ask "What is a lease?" --mode wiki --llm http://127.0.0.1:8000/v1 --model small
    """
    from retrieval.as_of import check_mode
    from retrieval.question.query import build_query, parse_filters
    from runtime.language_model import open_model

    settings = read_reading_settings(index, groups, allow)
    settings = replace(settings, llm_url=llm or settings.llm_url, llm_model=model or settings.llm_model)
    query = build_query(
        question, filters=parse_filters(filter_ or []), top_k=top_k, use_graph=use_graph, version=version
    )
    check_mode(mode, as_of=as_of)
    if settings.llm_url and settings.llm_model is None:
        raise ConfigError("is required with --llm, to say which model to ask", subject="--model")
    complete, pages = open_model(settings, budgeted=True), open_wiki(settings, wiki)
    if judge and complete is None:
        raise ConfigError("needs a model; give --llm URL and --model NAME", subject="--judge")
    asked = _ask(settings, query, mode, as_of, complete=complete, wiki=pages, judge=judge, steps=steps)
    print_result(output, _record(asked), _lines(asked))


def _ask(settings: Settings, query: "Query", mode: AskMode, as_of: str | None, **options: Any) -> "AskResult":
    from retrieval.ask import Asking
    from retrieval.once import coverage_of, log_usage
    from retrieval.question.query import read_policy
    from retrieval.retriever import RetrievalResult

    log = _step_log()
    readers = open_for_reading(settings, use_graph=query.use_graph, use_rerank=True, as_of=as_of)
    log(f"generation {readers.generation}")
    asking = Asking(
        readers=readers,
        log=log,
        warn=lambda message: warn(one_line(message)),  # a model, or a page, may have chosen the words
        now=utc_now(),
        policy=read_policy(settings.deny),
        coverage=partial(coverage_of, settings, utc_now),
        **options,
    )
    began = time.perf_counter()
    asked = asking.ask(replace(query, rerank=readers.reranker is not None), mode)
    log_usage(
        readers.index,
        RetrievalResult(query=query, bundle=asked.bundle, candidates=(), copies={}),
        not_found=asked.answer.not_found,
        door=Interface.ASK,
        seconds=time.perf_counter() - began,
        now=utc_now,
        warn=warn,
    )
    return asked


def _step_log() -> "Callable[[str], None]":
    """Return what shows each step with the seconds since the last one, where a person watches."""
    last = time.perf_counter()

    def log(message: str) -> None:
        nonlocal last
        now = time.perf_counter()
        if sys.stderr.isatty():
            typer.echo(f"{now - last:7.2f} s  {one_line(message)}", err=True)
        last = now

    return log


def _lines(asked: "AskResult") -> "Iterator[str]":
    from retrieval.answering.answered import render_answer
    from retrieval.evidence import render_absence

    yield render_answer(asked.answer, asked.bundle, width=terminal_width())
    if asked.absence:
        yield "\n" + render_absence(asked.absence)


def _record(asked: "AskResult") -> "Record":
    """Return the contract of docs/asking.md."""
    from retrieval.answering.answered import cited_labels
    from schemas.records import to_record

    answer, cited = asked.answer, cited_labels(asked.answer)
    return {
        "query": asked.bundle.query,
        "mode": asked.mode.value,
        "answer": answer.text,
        "not_found": answer.not_found,
        **to_record(answer),
        "citations": [to_record(one) for one in asked.bundle.citations if one.S in cited],
        **asked.details,
        "absence": to_record(asked.absence) if asked.absence else None,
        "bundle": to_record(asked.bundle),
    }
