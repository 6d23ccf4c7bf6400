"""`sitegraph drop`: take a source out of the index."""

import os
from typing import Annotated, Any

import typer

from sitegraph.cli.completing import complete_source
from sitegraph.cli.options import FormatOption, IndexOption, OutputFormat, print_json


def drop(
    source: Annotated[str, typer.Argument(help="Name of the source.", autocompletion=complete_source)],
    index: IndexOption = None,
    output: FormatOption = OutputFormat.TEXT,
) -> None:
    """Remove a source, its rows and its crawl state, and publish that as a generation of its own.

    Earlier generations still have it, so this can be rolled back.

    Examples:

      sitegraph drop handbook --index ./index
    """
    from sitegraph.cli.commands.run import prepare_prefect

    prepare_prefect(os.environ)
    from flows.drop_source import drop_source

    record = drop_source(source, index=index)
    print_json(record) if output is OutputFormat.JSON else print_drop(record)


def print_drop(record: dict[str, Any]) -> None:
    """Print what went for a person; a source that readers did not see needed no generation."""
    if record["generation"] is None:
        print(f"{record['source']}: was never published; its ledger records were deleted")
    else:
        removed = f"{record['documents']} documents, {record['chunks']} chunks removed"
        print(f"{record['source']}: {removed} by generation {record['generation']}")
