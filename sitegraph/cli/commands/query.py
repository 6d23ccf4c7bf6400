"""`sitegraph query`: evidence for a question, or for a file of them."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from retrieval.question.query import TOKEN_BUDGET, TOP_K
from runtime.file_errors import os_error_reason
from schemas.errors import ConfigError
from schemas.json_text import to_json
from schemas.settings import Settings
from schemas.usage_counts import Interface
from sitegraph.cli.options import (
    AsOfOption,
    FormatOption,
    GroupsOption,
    IndexOption,
    OutputFormat,
    VersionOption,
)
from sitegraph.cli.reading import (
    coverage_of,
    log_usage,
    open_for_reading,
    read_reading_settings,
    terminal_width,
)

if TYPE_CHECKING:
    from indexes.wiring import Readers
    from schemas.evidence import ContextBundle, Query


def query(
    text: Annotated[str | None, typer.Argument(help="The question. Omit it with --from.")] = None,
    index: IndexOption = None,
    top_k: Annotated[int, typer.Option("--top-k", help="Number of passages, 1 to 50.")] = TOP_K,
    budget: Annotated[
        int, typer.Option("--budget", help="Most tokens of evidence; texts are shortened to fit.")
    ] = TOKEN_BUDGET,
    use_graph: Annotated[
        bool, typer.Option("--use-graph/--no-graph", help="Follow the edges of the graph.")
    ] = True,
    rerank: Annotated[
        bool, typer.Option("--rerank/--no-rerank", help="Reorder the best chunks with a cross-encoder.")
    ] = False,
    filter_: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="KEY=VALUE", help="Only matching chunks, such as doc_type=guide. Repeatable."
        ),
    ] = None,
    as_of: AsOfOption = None,
    version: VersionOption = None,
    groups: GroupsOption = None,
    output: FormatOption = OutputFormat.TEXT,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", help='File of questions, {"query": …, "filters": {…}} a line; prints one bundle a line.'
        ),
    ] = None,
    persona: Annotated[
        str | None,
        typer.Option("--persona", help="Who answers and how, in a line or two; passed on with the evidence."),
    ] = None,
    tool: Annotated[
        str | None, typer.Option("--tool", help="Name of a tool that the question is about.")
    ] = None,
    tool_inputs: Annotated[
        str | None, typer.Option("--tool-inputs", metavar="JSON", help="Inputs to check against its schema.")
    ] = None,
    tool_result: Annotated[
        str | None, typer.Option("--tool-result", metavar="JSON", help="Result of the tool, if it was run.")
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Show the scores of each passage, its id, and how it was found.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Show whole passages.")] = False,
    timings: Annotated[bool, typer.Option("--timings", help="Print timings on stderr.")] = False,
) -> None:
    """Find evidence for a question: the best chunks, with citations.

    Examples:

      sitegraph query "what happens when a lease expires" --top-k 5

      sitegraph query "What depends on GOV-0017?" --filter doc_type=governance --format json

      sitegraph query "how long does a lease last" --as-of 2026-03-01

      sitegraph query "default of shared_buffers" --version 15

      sitegraph query "who rotates the signing key" --why --full

      sitegraph query --from questions.jsonl > bundles.jsonl
    """
    from retrieval.question.query import build_query, parse_filters, parse_tool

    if (text is None) == (from_ is None):
        raise ConfigError("give a question, or --from QUERIES.jsonl, but not both", subject="query")
    asked = build_query(
        "every line" if text is None else text,
        filters=parse_filters(filter_ or []),
        top_k=top_k,
        token_budget=budget,
        use_graph=use_graph,
        rerank=rerank,
        persona=persona,
        tool=parse_tool(tool, inputs=tool_inputs, result=tool_result),
        version=version,
    )
    queries = (asked,) if from_ is None else _read_queries(from_, asked)
    form = "lines" if from_ else output.value

    def render(readers: "Readers", bundle: "ContextBundle") -> str:
        return _render(readers, bundle, form, why=why, full=full)

    _answer(read_reading_settings(index, groups), queries, render, as_of=as_of, timings=timings)


def _read_queries(path: Path, options: "Query") -> "tuple[Query, ...]":
    from retrieval.question.query import parse_query_lines

    try:
        lines = path.read_text("utf-8-sig").split("\n")  # other line ends may stand within JSON
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({os_error_reason(error)})", subject=str(path)) from error
    return parse_query_lines(lines, options)


def _answer(
    settings: Settings,
    queries: "Sequence[Query]",
    render: "Callable[[Readers, ContextBundle], str]",
    *,
    as_of: str | None,
    timings: bool,
) -> None:
    from retrieval.evidence import find_evidence
    from retrieval.opening import build_retriever
    from retrieval.question.policy import read_policy

    started = time.perf_counter()
    readers = open_for_reading(
        settings,
        use_graph=any(one.use_graph for one in queries),
        use_rerank=any(one.rerank for one in queries),
        as_of=as_of,
    )
    retriever = build_retriever(readers, policy=read_policy(settings.deny))
    _report(timings, "open", started)
    for one in queries:
        started = time.perf_counter()
        result = find_evidence(readers, retriever, one, coverage=partial(coverage_of, settings))
        seconds = time.perf_counter() - started
        _report(timings, "query", started)
        typer.echo(render(readers, result.bundle))
        log_usage(readers.index, [one], results=[result], door=Interface.QUERY, seconds=seconds)


def _render(readers: "Readers", bundle: "ContextBundle", form: str, *, why: bool, full: bool) -> str:
    from retrieval.evidence import render_evidence
    from schemas.records import to_record

    if form == "text":
        return render_evidence(readers, bundle, width=terminal_width(), why=why, full=full)
    return to_json(to_record(bundle), indent=None if form == "lines" else 2)


def _report(wanted: bool, what: str, started: float) -> None:
    if wanted:
        typer.echo(f"{what}: {time.perf_counter() - started:.3f} s", err=True)
