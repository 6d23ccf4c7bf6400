"""`sitegraph export`: every row of a generation, in id order, or its graph for other tools."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.options import IndexOption, choose_generation
from flows.cli.reading import warn
from flows.settings import read_settings
from schemas.errors import ConfigError
from schemas.json_text import to_json

if TYPE_CHECKING:
    from flows.wiring import Index


class What(StrEnum):
    """Which rows to export."""

    DOCUMENTS = "documents"
    NODES = "nodes"
    EDGES = "edges"
    CHUNKS = "chunks"
    GRAPH = "graph"
    LINKS = "links"


class ExportFormat(StrEnum):
    """Formats of an export."""

    JSONL = "jsonl"
    GRAPHML = "graphml"
    PARQUET = "parquet"


_FORMATS: dict[What, tuple[ExportFormat, ...]] = {What.GRAPH: (ExportFormat.GRAPHML, ExportFormat.PARQUET)}
"""All else is rows, which are JSON lines."""


def export(
    what: Annotated[What, typer.Option("--what", help="Which rows.")],
    index: IndexOption = None,
    source: Annotated[str | None, typer.Option(help="Only this source's rows.")] = None,
    generation: Annotated[
        int | None, typer.Option(help="Another generation than the current one.", min=0)
    ] = None,
    stable: Annotated[
        bool, typer.Option("--stable", help="Leave out what depends on when it was observed.")
    ] = False,
    vectors: Annotated[bool, typer.Option("--vectors", help="Chunks with their vectors.")] = False,
    format_: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="jsonl for rows; graphml (the default) or parquet for the graph."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="A file instead of standard output; for parquet a folder."),
    ] = None,
) -> None:
    """Print every row with its public fields, one JSON object a line; or hand the graph to other tools.

    Two exports with --stable are equal exactly when the indexes hold the same. A file is whole or not there.

    Examples:

      sitegraph export --index ./index --what chunks > chunks.jsonl

      sitegraph export --what edges --source handbook --stable | sha256sum

      sitegraph export --what graph --format graphml --output handbook.graphml

      sitegraph export --what graph --format parquet --output handbook-graph
    """
    from flows.opening import open_described

    chosen = _choose_format(what, format_, output=output)
    if what is What.GRAPH and (stable or vectors):
        raise ConfigError("goes with rows, not with --what graph", subject="--stable, --vectors")
    opened = open_described(read_settings(index))
    try:
        number = choose_generation(opened, generation)
        _warn_of_unknown(opened, source, generation=number)
        if what is What.GRAPH:
            _hand_over(opened, chosen, generation=number, source=source, output=output)
        else:
            from flows.exporting import rows

            found = rows(opened, what.value, generation=number, source=source, stable=stable, vectors=vectors)
            _print(found, output)
    finally:
        opened.close()


def _choose_format(what: What, wanted: ExportFormat | None, *, output: Path | None) -> ExportFormat:
    possible = _FORMATS.get(what, (ExportFormat.JSONL,))
    chosen = wanted or possible[0]
    if chosen not in possible:
        raise ConfigError(f"for --what {what} must be {' or '.join(possible)}", subject="--format")
    if chosen is ExportFormat.PARQUET and output is None:
        raise ConfigError("is needed: Parquet is two files in a folder", subject="--output")
    return chosen


def _hand_over(
    index: "Index", form: ExportFormat, *, generation: int, source: str | None, output: Path | None
) -> None:
    from flows.graph_files.rows import graph_pages
    from flows.target import fill_folder, open_target

    pages = graph_pages(index.graph.at(generation), source=source) if generation else iter(())
    if form is ExportFormat.PARQUET and output is not None:
        from flows.graph_files.parquet import write_parquet

        with fill_folder(output) as folder:
            write_parquet(pages, folder)
        return
    from flows.graph_files.graphml import write_graphml

    with open_target(output) as out:
        write_graphml(pages, out)


def _print(records: Iterable[dict[str, Any]], output: Path | None) -> None:
    from flows.target import open_target

    with open_target(output) as out:
        for record in records:
            out.write((to_json(record, sort_keys=True) + "\n").encode())


def _warn_of_unknown(index: "Index", source: str | None, *, generation: int) -> None:
    """Say that a source has no rows because there is none of that name: a typing error looks just so."""
    from indexes.publish.generation import load_generation

    known = {*index.ledger.documents.states(), *load_generation(index.layout, generation).sources} - {""}
    if source is not None and source not in known:
        warn(f"{source}: no such source; this index has: {', '.join(sorted(known)) or 'none'}")
