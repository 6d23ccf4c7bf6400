"""`sitegraph export`: the rows of a generation, its graph, its use, or what an encoder can be trained by."""

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schemas.errors import ConfigError
from schemas.json_text import to_json
from sitegraph.cli.completing import complete_generation, complete_source
from sitegraph.cli.options import IndexOption, QuietOption, choose_generation
from sitegraph.cli.reading import open_for_reading, read_shown_settings, warn

if TYPE_CHECKING:
    from flows.run.index import Index
    from indexes.wiring import Readers


class What(StrEnum):
    """Which rows to export."""

    DOCUMENTS = "documents"
    NODES = "nodes"
    EDGES = "edges"
    CHUNKS = "chunks"
    GRAPH = "graph"
    LINKS = "links"
    USAGE = "usage"
    NEGATIVES = "negatives"
    WARC = "warc"


class ExportFormat(StrEnum):
    """Formats of an export."""

    JSONL = "jsonl"
    GRAPHML = "graphml"
    PARQUET = "parquet"
    WARC = "warc"


_LEARNT = (What.USAGE, What.NEGATIVES)
_FORMATS: dict[What, tuple[ExportFormat, ...]] = {
    What.GRAPH: (ExportFormat.GRAPHML, ExportFormat.PARQUET),
    What.USAGE: (ExportFormat.JSONL, ExportFormat.PARQUET),
    What.WARC: (ExportFormat.WARC,),
}
"""All else is rows, which are JSON lines."""


def export(
    what: Annotated[What, typer.Option("--what", help="What to export.")],
    index: IndexOption = None,
    source: Annotated[
        str | None, typer.Option(help="Only rows of this source.", autocompletion=complete_source)
    ] = None,
    generation: Annotated[
        int | None,
        typer.Option(
            help="Generation to export (default: the current one).", min=0, autocompletion=complete_generation
        ),
    ] = None,
    stable: Annotated[
        bool, typer.Option("--stable", help="Leave out times of fetching, so that exports can be compared.")
    ] = False,
    vectors: Annotated[bool, typer.Option("--vectors", help="Include the vectors of chunks.")] = False,
    format_: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            help="jsonl for rows; graphml (default) or parquet for the graph; parquet for usage; warc.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="File to write instead of standard output; with parquet, a folder."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions", help="File of questions with known answers, as for tune; only for negatives."
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Export rows as JSON lines, the graph as GraphML or Parquet, or the usage logs.

    With --stable, two exports are equal if and only if the indexes hold the same content. A file is written
    completely or not at all.

    Examples:

      sitegraph export --index ./index --what chunks > chunks.jsonl

      sitegraph export --what edges --source handbook --stable | sha256sum

      sitegraph export --what graph --format graphml --output handbook.graphml

      sitegraph export --what graph --format parquet --output handbook-graph

      sitegraph export --what warc --source handbook --output handbook.warc.gz

      sitegraph export --what usage --format parquet --output usage

      sitegraph export --what negatives --questions questions.jsonl --output triplets.jsonl
    """
    from flows.run.opening import open_described
    from runtime.progress import StageProgress

    chosen = _choose_format(what, format_, output=output)
    if what in (What.GRAPH, What.WARC, *_LEARNT) and (stable or vectors):
        raise ConfigError(f"is for rows, not for --what {what}", subject="--stable, --vectors")
    if what is What.WARC and generation is not None:
        raise ConfigError("is for rows; a WARC file holds what was fetched last", subject="--generation")
    if questions and what is not What.NEGATIVES:
        raise ConfigError("is only for --what negatives", subject="--questions")
    if what in _LEARNT:
        if source or generation is not None:
            raise ConfigError(f"is for rows, not for --what {what}", subject="--source, --generation")
        _hand_over_learnt(open_for_reading(read_shown_settings(index)), what, chosen, output, questions)
        return
    opened = open_described(read_shown_settings(index))
    try:
        number = choose_generation(opened, generation)
        _warn_of_unknown(opened, source, generation=number)
        total = _rows_of(opened, what, generation=number, source=source)
        # What is printed on a terminal is progress enough.
        with StageProgress(quiet=quiet or (output is None and sys.stdout.isatty())) as progress:
            watch = partial(progress.over, "export", total=total)
            if what is What.WARC:
                _hand_over_fetched(opened, source=source, output=output, watch=watch)
            elif what is What.GRAPH:
                _hand_over(opened, chosen, generation=number, source=source, output=output, watch=watch)
            else:
                from sitegraph.cli.exports.records import rows

                found = rows(
                    opened, what.value, generation=number, source=source, stable=stable, vectors=vectors
                )
                _print(watch(found), output)
    finally:
        opened.close()


def _choose_format(what: What, wanted: ExportFormat | None, *, output: Path | None) -> ExportFormat:
    possible = _FORMATS.get(what, (ExportFormat.JSONL,))
    chosen = wanted or possible[0]
    if chosen not in possible:
        raise ConfigError(f"for --what {what} must be {' or '.join(possible)}", subject="--format")
    if chosen is ExportFormat.PARQUET and output is None:
        raise ConfigError("is needed: Parquet is several files in a folder", subject="--output")
    return chosen


def _hand_over(
    index: "Index",
    form: ExportFormat,
    *,
    generation: int,
    source: str | None,
    output: Path | None,
    watch: Callable[..., Any],
) -> None:
    from sitegraph.cli.exports.graph_rows import graph_pages
    from sitegraph.cli.exports.target import fill_folder, open_target

    pages = watch(graph_pages(index.graph.at(generation), source=source) if generation else iter(()))
    if form is ExportFormat.PARQUET and output is not None:
        from sitegraph.cli.exports.parquet import write_parquet

        with fill_folder(output) as folder:
            write_parquet(pages, folder)
        return
    from sitegraph.cli.exports.graphml import write_graphml

    with open_target(output) as out:
        write_graphml(pages, out)


def _hand_over_fetched(
    index: "Index", *, source: str | None, output: Path | None, watch: Callable[..., Any]
) -> None:
    from sitegraph.cli.exports.target import open_target
    from sitegraph.cli.exports.warc import write_warc

    with open_target(output) as out:
        gzip = output is not None and output.suffix == ".gz"
        left_out = write_warc(index, out, source=source, gzip=gzip, watch=watch)
    for reason, number in sorted(left_out.items()):
        warn(f"left out: {number} documents {reason}")


def _hand_over_learnt(
    readers: "Readers", what: What, form: ExportFormat, output: Path | None, questions: Path | None
) -> None:
    from retrieval.learning.usage import read_usage

    usage = read_usage(readers.index)
    if usage.unreadable:
        warn(f"{usage.unreadable} lines are not log entries and were left out")
    if what is What.NEGATIVES:
        from sitegraph.cli.evaluation.negatives import negative_rows
        from sitegraph.cli.evaluation.question_file import load_questions

        _print(negative_rows(readers, usage, load_questions(questions) if questions else None), output)
        return
    from sitegraph.cli.exports.target import fill_folder
    from sitegraph.cli.exports.usage_logs import usage_rows, write_usage

    if form is ExportFormat.PARQUET and output is not None:
        with fill_folder(output) as folder:
            write_usage(usage, readers.encoder.encode_query, folder)
        return
    _print(usage_rows(usage, readers.encoder.encode_query), output)


def _print(records: Iterable[dict[str, Any]], output: Path | None) -> None:
    from sitegraph.cli.exports.target import open_target

    with open_target(output) as out:
        for record in records:
            out.write((to_json(record, sort_keys=True) + "\n").encode())


def _rows_of(index: "Index", what: What, *, generation: int, source: str | None) -> int:
    """How many parts an export has; of the graph they are pages of rows. 0: not known beforehand."""
    from indexes.publish.generation import load_generation

    if not generation:
        return 0
    manifest = load_generation(index.layout, generation)
    counts = manifest.totals() if source is None else manifest.sources.get(source, {})
    if what is What.GRAPH:
        from sitegraph.cli.exports.graph_rows import PAGE

        return sum(-(-sum(counts.get(table, {}).values()) // PAGE) for table in ("nodes", "edges"))
    if what in (What.DOCUMENTS, What.WARC):
        return len(index.ledger.generations.live(generation, source=source))
    return sum(counts.get(what.value, {}).values())


def _warn_of_unknown(index: "Index", source: str | None, *, generation: int) -> None:
    """Say that a source has no rows because there is none of that name: a typing error looks just so."""
    from indexes.publish.generation import load_generation

    known = {*index.ledger.documents.states(), *load_generation(index.layout, generation).sources} - {""}
    if source is not None and source not in known:
        warn(f"{source}: no such source; this index has: {', '.join(sorted(known)) or 'none'}")
