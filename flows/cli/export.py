"""`sitegraph export`: every row of a generation, in id order."""

import json
import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.options import IndexOption, choose_generation
from flows.cli.reading import warn
from flows.settings import read_settings

if TYPE_CHECKING:
    from flows.wiring import Index


class What(StrEnum):
    """Which rows to export."""

    DOCUMENTS = "documents"
    NODES = "nodes"
    EDGES = "edges"
    CHUNKS = "chunks"
    LINKS = "links"


class ExportFormat(StrEnum):
    """Formats of an export."""

    JSONL = "jsonl"


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
    output: Annotated[
        ExportFormat, typer.Option("--format", help="One JSON object a line.")
    ] = ExportFormat.JSONL,
) -> None:
    """Print every row with its public fields, one JSON object a line.

    Two exports with --stable are equal exactly when the indexes hold the same.

    Examples:

      sitegraph export --index ./index --what chunks > chunks.jsonl

      sitegraph export --what edges --source handbook --stable | sha256sum
    """
    from flows.exporting import rows
    from flows.opening import open_existing

    opened = open_existing(read_settings(index))
    try:
        number = choose_generation(opened, generation)
        _warn_of_unknown(opened, source, generation=number)
        _print(rows(opened, what.value, generation=number, source=source, stable=stable, vectors=vectors))
    finally:
        opened.close()


def _print(records: Iterable[dict[str, Any]]) -> None:
    for record in records:
        sys.stdout.write(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n")


def _warn_of_unknown(index: "Index", source: str | None, *, generation: int) -> None:
    """Say that a source has no rows because there is none of that name: a typing error looks just so."""
    from indexes.publish.generation import load_generation

    known = {*index.ledger.documents.states(), *load_generation(index.layout, generation).sources} - {""}
    if source is not None and source not in known:
        warn(f"{source}: no such source; this index has: {', '.join(sorted(known)) or 'none'}")
