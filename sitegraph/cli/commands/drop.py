"""`sitegraph drop`: take a source out of the index."""

import os
from typing import Annotated

import typer

from runtime.settings import read_settings
from sitegraph.cli.options import FormatOption, IndexOption, complete_source, print_result


def drop(
    source: Annotated[str, typer.Argument(help="Name of the source.", autocompletion=complete_source)],
    index: IndexOption = None,
    output: FormatOption = "text",
) -> None:
    """Remove a source, its rows and its crawl state, and publish that as a generation of its own.

    Earlier generations still have it, so this can be rolled back.

    Examples:

      sitegraph drop handbook --index ./index
    """
    from sitegraph.cli.commands.run import prepare_prefect

    prepare_prefect(os.environ)
    from flows.drop_source import drop_source

    record = drop_source(source, read_settings(index))
    told = "was never published; its ledger records were deleted"
    if record["generation"] is not None:
        removed = f"{record['documents']} documents, {record['chunks']} chunks removed"
        told = f"{removed} by generation {record['generation']}"
    print_result(output, record, [f"{record['source']}: {told}"])
