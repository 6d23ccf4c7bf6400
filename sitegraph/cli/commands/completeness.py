"""`sitegraph completeness`: which named addresses are not indexed, and what likely nothing names."""

from collections.abc import Iterator
from contextlib import closing
from typing import Annotated, Any

import typer

from retrieval.bundle.render import show_line
from schemas.completeness import AddressReason
from sitegraph.cli.options import FormatOption, IndexOption, complete_source, print_result
from sitegraph.cli.reading import read_shown_settings
from sitegraph.cli.run_text import told_completeness


def completeness(
    source: Annotated[
        str | None,
        typer.Argument(help="Name of a source (default: all).", autocompletion=complete_source),
    ] = None,
    index: IndexOption = None,
    reason: Annotated[
        list[AddressReason] | None,
        typer.Option("--reason", help="Only addresses that are not indexed for this reason. Repeatable."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List the addresses that are indexed, too.")] = False,
    output: FormatOption = "text",
) -> None:
    """List the addresses that something names and that are not indexed, each with its reason.

    Says as well how many pages there likely are that neither a sitemap nor a link or any other list names.
    Sends no request: everything is as the last run saw it.

    Examples:

      sitegraph completeness handbook --index ./index

      sitegraph completeness --reason failed --reason disallowed

      sitegraph completeness handbook --all --format json
    """
    from flows.run.opening import open_described
    from sitegraph.actions.completeness import describe_completeness

    with closing(open_described(read_shown_settings(index))) as opened:
        record = describe_completeness(opened, source, reasons=reason or (), every=every)
    print_result(output, record, _lines(record))


def _lines(record: dict[str, Any]) -> Iterator[str]:
    if not record["sources"]:
        yield "no run has read a source yet"
    for name, found in record["sources"].items():
        addresses = found.pop("addresses")
        told = tuple(told_completeness(found))
        yield name if told else f"{name}: nothing of it is indexed yet"
        yield from (f"  {line}" for line in told)
        for one in addresses:
            why = ": ".join(part for part in (one["reason"] or "indexed", one["detail"]) if part)
            named = ", ".join(one["ways"]) or "named by nothing now"
            yield show_line(f"    {one['uri']}  {why}  ({named})")
