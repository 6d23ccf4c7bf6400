"""`sitegraph export`: the rows of a generation, its graph, its use, or what an encoder can be trained by."""

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from schemas.errors import ConfigError
from schemas.redaction import to_json
from sitegraph.cli.options import (
    IndexOption,
    QuietOption,
    generation_option,
    source_option,
    warn_of_unknown_source,
)
from sitegraph.cli.reading import open_for_reading, read_shown_settings, warn

if TYPE_CHECKING:
    from flows.run.index import Index
    from indexes.wiring import Readers


What = Literal["documents", "nodes", "edges", "chunks", "graph", "links", "usage", "negatives", "warc"]


ExportFormat = Literal["jsonl", "graphml", "parquet", "warc"]


Watch = Callable[..., Any]
"""Yields what it is given and shows how far it is."""

_LEARNT = ("usage", "negatives")
_FORMATS: dict[What, tuple[ExportFormat, ...]] = {
    "graph": ("graphml", "parquet"),
    "usage": ("jsonl", "parquet"),
    "warc": ("warc",),
}
"""All else is rows, which are JSON lines."""


def export(
    what: Annotated[What, typer.Option("--what", help="What to export.")],
    index: IndexOption = None,
    source: Annotated[str | None, source_option("Only rows of this source.")] = None,
    generation: Annotated[
        int | None,
        generation_option("Generation to export (default: the current one).", "--generation", least=0),
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
    chosen = _choose_format(what, format_, output=output)
    if what in ("graph", "warc", *_LEARNT) and (stable or vectors):
        raise ConfigError(f"is for rows, not for --what {what}", subject="--stable, --vectors")
    if what == "warc" and generation is not None:
        raise ConfigError("is for rows; a WARC file holds what was fetched last", subject="--generation")
    if questions and what != "negatives":
        raise ConfigError("is only for --what negatives", subject="--questions")
    if what in _LEARNT:
        if source or generation is not None:
            raise ConfigError(f"is for rows, not for --what {what}", subject="--source, --generation")
        _hand_over_learnt(open_for_reading(read_shown_settings(index)), what, chosen, output, questions)
        return
    from flows.run.opening import open_described
    from indexes.publish.generation import load_generation
    from runtime.progress import StageProgress
    from sitegraph.actions.find import kept_generation

    with closing(open_described(read_shown_settings(index))) as opened:
        number = kept_generation(opened, generation)
        manifest = load_generation(opened.layout, number)
        known = {*opened.ledger.documents.states(), *manifest.sources}
        warn_of_unknown_source(source, known, where="; this index")
        counts = manifest.totals() if source is None else manifest.sources.get(source, {})
        total = _rows_of(opened, what, counts, generation=number, source=source) if number else 0
        # What is printed on a terminal is progress enough.
        with StageProgress(quiet=quiet or (output is None and sys.stdout.isatty())) as progress:
            watch = partial(progress.over, "export", total=total)
            if what == "warc":
                _hand_over_fetched(opened, source=source, output=output, watch=watch)
            elif what == "graph":
                _hand_over_graph(opened, number, chosen, source=source, output=output, watch=watch)
            else:
                from sitegraph.actions.export_records import rows

                options: dict[str, Any] = {
                    "generation": number,
                    "source": source,
                    "stable": stable,
                    "vectors": vectors,
                }
                _print(watch(rows(opened, what, **options)), output)


def _choose_format(what: What, wanted: ExportFormat | None, *, output: Path | None) -> ExportFormat:
    possible = _FORMATS.get(what, ("jsonl",))
    chosen = wanted or possible[0]
    if chosen not in possible:
        raise ConfigError(f"for --what {what} must be {' or '.join(possible)}", subject="--format")
    if chosen == "parquet" and output is None:
        raise ConfigError("is needed: Parquet is several files in a folder", subject="--output")
    return chosen


def _hand_over_graph(
    index: "Index",
    generation: int,
    form: ExportFormat,
    *,
    source: str | None,
    output: Path | None,
    watch: Watch,
) -> None:
    from sitegraph.actions.export_graph import graph_pages, write_graphml, write_parquet
    from sitegraph.actions.export_records import fill_folder, open_target

    pages = watch(graph_pages(index.graph.at(generation), source=source) if generation else iter(()))
    if form == "parquet" and output is not None:
        with fill_folder(output) as folder:
            write_parquet(pages, folder)
        return
    with open_target(output) as out:
        write_graphml(pages, out)


def _hand_over_fetched(index: "Index", *, source: str | None, output: Path | None, watch: Watch) -> None:
    from sitegraph.actions.export_records import open_target
    from sitegraph.actions.export_warc import write_warc

    with open_target(output) as out:
        gzip = output is not None and output.suffix == ".gz"
        left_out = write_warc(index, out, source=source, gzip=gzip, watch=watch)
    for reason, number in sorted(left_out.items()):
        warn(f"left out: {number} documents {reason}")


def _hand_over_learnt(
    readers: "Readers", what: What, form: ExportFormat, output: Path | None, questions: Path | None
) -> None:
    from retrieval.learning.usage import read_usage
    from sitegraph.actions.export_records import fill_folder
    from sitegraph.actions.export_usage import usage_rows, write_usage
    from sitegraph.actions.tune import load_questions, negative_rows

    usage = read_usage(readers.index)
    if usage.unreadable:
        warn(f"{usage.unreadable} lines are not log entries and were left out")
    if what == "negatives":
        _print(negative_rows(readers, usage, load_questions(questions) if questions else None), output)
    elif form == "parquet" and output is not None:
        with fill_folder(output) as folder:
            write_usage(usage, readers.encoder.encode_query, folder)
    else:
        _print(usage_rows(usage, readers.encoder.encode_query), output)


def _print(records: Iterable[dict[str, Any]], output: Path | None) -> None:
    from sitegraph.actions.export_records import open_target

    with open_target(output) as out:
        for record in records:
            out.write((to_json(record, sort_keys=True) + "\n").encode())


def _rows_of(
    index: "Index", what: What, counts: Mapping[str, Any], *, generation: int, source: str | None
) -> int:
    """How many parts an export has; of the graph they are pages of rows. 0: not known beforehand."""
    if what == "graph":
        from sitegraph.actions.export_graph import PAGE

        return sum(-(-sum(counts.get(table, {}).values()) // PAGE) for table in ("nodes", "edges"))
    if what in ("documents", "warc"):
        return len(index.ledger.generations.live(generation, source=source))
    return sum(counts.get(what, {}).values())
