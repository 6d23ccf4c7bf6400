"""`sitegraph inspect`: what the parser makes of one document."""

from pathlib import Path
from typing import Annotated

import typer

from runtime.settings import naming_file, read_settings
from schemas.errors import ConfigError
from sitegraph.cli.failures import require_folder
from sitegraph.cli.options import AllowPrivateOption, FormatOption, IndexOption, print_json
from sitegraph.cli.reading import terminal_width


def inspect(
    target: Annotated[str, typer.Argument(metavar="URL|FILE", help="An http(s) URL or a file.")],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="OUT", help="Write an HTML report to this file.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="SOURCE", help="Clean the page as this source file says."),
    ] = None,
    allow_private: AllowPrivateOption = None,
    index: IndexOption = None,
    output: FormatOption = "text",
) -> None:
    """Show how one document is parsed: tree, chunks, links, which text is left out and why, what is lost.

    Needs no index and writes to none. If there is one, its tokenizer counts the tokens. The report of --html
    marks all text as read or left out; for a PDF it shows the pages with their regions.

    Examples:

      sitegraph inspect https://docs.example.org/handbook/leave.html --html leave.html

      sitegraph inspect manual.pdf --html manual.html

      sitegraph inspect notes/backup.md --format json

      sitegraph inspect page.html --source handbook.yaml
    """
    from runtime.source_file import load_source
    from schemas.records import to_record
    from sitegraph.actions.inspect import inspect_target
    from sitegraph.actions.inspection_text import render_inspection, render_page

    settings = read_settings(index)
    _check_out(html, target)
    report, pictures = inspect_target(
        target,
        settings,
        allow_private=allow_private or (),
        draw=html is not None,
        cleaning=load_source(source).cleaning if source is not None else None,
    )
    if html is not None:
        with naming_file(html, "cannot be written"):
            html.write_text(render_page(report, pictures), encoding="utf-8")
    if output == "json":
        print_json(to_record(report))
    else:
        print(html or render_inspection(report, width=terminal_width()))


def _check_out(html: Path | None, target: str) -> None:
    """Say at once, not after a long parse, that there is no such folder, or that it would be overwritten."""
    if html is None:
        return
    require_folder(html)
    if html.resolve() == Path(target).resolve():
        raise ConfigError("is the document itself; choose another file for --html", subject=str(html))
