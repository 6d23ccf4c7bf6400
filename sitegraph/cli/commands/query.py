"""`sitegraph query`: evidence for a question, or for a file of them."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from retrieval.question.query import TOKEN_BUDGET, TOP_K, Unit
from runtime.settings import naming_file
from schemas.errors import ConfigError
from schemas.evidence import Interface
from schemas.redaction import to_json
from sitegraph.cli.options import (
    AllowOption,
    AsOfOption,
    FilterOption,
    FormatOption,
    GraphOption,
    GroupsOption,
    IndexOption,
    VersionOption,
)
from sitegraph.cli.reading import open_for_reading, read_reading_settings, terminal_width, utc_now, warn

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
    use_graph: GraphOption = True,
    rerank: Annotated[
        bool, typer.Option("--rerank/--no-rerank", help="Reorder the best chunks with a cross-encoder.")
    ] = False,
    by: Annotated[
        Unit,
        typer.Option("--by", help="List passages, or pages by all that each says."),
    ] = "passage",
    filter_: FilterOption = None,
    as_of: AsOfOption = None,
    version: VersionOption = None,
    groups: GroupsOption = None,
    allow: AllowOption = None,
    output: FormatOption = "text",
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

      sitegraph query "deploy to the cloud" --by page

      sitegraph query "who rotates the signing key" --why --full

      sitegraph query --from questions.jsonl > bundles.jsonl
    """
    from retrieval.once import answer_each
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
        by=by,
    )
    queries = (asked,) if from_ is None else _read_queries(from_, asked)
    settings, started = read_reading_settings(index, groups, allow), time.perf_counter()
    readers = open_for_reading(
        settings,
        use_graph=any(one.use_graph for one in queries),
        use_rerank=any(one.rerank for one in queries),
        as_of=as_of,
    )
    told = [f"open: {time.perf_counter() - started:.3f} s"]
    door, clock = Interface.QUERY, time.perf_counter
    for result, seconds in answer_each(
        readers, settings, queries, door=door, now=utc_now, clock=clock, warn=warn
    ):
        for line in (*told, f"query: {seconds:.3f} s") if timings else ():
            typer.echo(line, err=True)
        told.clear()
        form = "lines" if from_ else output
        typer.echo(_render(readers, result.bundle, form, why=why, full=full))


def _read_queries(path: Path, options: "Query") -> "tuple[Query, ...]":
    from retrieval.question.query import parse_query_lines

    with naming_file(path, "cannot be read"):
        lines = path.read_text("utf-8-sig").split("\n")  # other line ends may stand within JSON
    return parse_query_lines(lines, options)


def _render(readers: "Readers", bundle: "ContextBundle", form: str, *, why: bool, full: bool) -> str:
    from retrieval.evidence import render_evidence
    from schemas.records import to_record

    if form == "text":
        return render_evidence(readers, bundle, width=terminal_width(), why=why, full=full)
    return to_json(to_record(bundle), indent=None if form == "lines" else 2)
