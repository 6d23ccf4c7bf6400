"""`sitegraph demo`: see it work on this project's own manual."""

import os
from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[
        Path,
        typer.Option("--dir", help="Folder for the demo; replaced each time, left behind to play with."),
    ] = Path("demo"),
) -> None:
    """Serve the manual on a loopback port, crawl it, ask three questions, edit a page, crawl again.

    Needs a checkout of sitegraph, whose docs/ folder is the manual.

    Examples:

      sitegraph demo

      sitegraph demo --dir ./tour
    """
    from sitegraph.cli.commands.run import prepare_prefect

    os.environ.setdefault("SITEGRAPH_CACHE", str(Path(".cache") / "models"))
    prepare_prefect(os.environ)
    from flows.server.temporary import prefect_api

    with prefect_api():
        from sitegraph.cli.demo_script import run_demo

        run_demo(folder)
