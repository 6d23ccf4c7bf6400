"""`sitegraph demo`: see it work on this project's own manual."""

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[
        Path, typer.Option("--dir", help="Folder for the demo: replaced if it exists, and kept afterwards.")
    ] = Path("demo"),
) -> None:
    """Serve the manual on a loopback port, crawl it, ask three questions, edit a page, crawl again.

    Needs a checkout of sitegraph: the manual is its docs/ folder. The second crawl is a Prefect flow run.

    Examples:

      sitegraph demo

      sitegraph demo --dir ./tour
    """
    from sitegraph.cli.commands.run import prepare_prefect
    from sitegraph.cli.demo_script import run_demo

    os.environ.setdefault("SITEGRAPH_CACHE", str(Path(".cache") / "models"))
    prepare_prefect(os.environ)
    import_module("prefect")  # of the extra that builds: where it is missing, the command says so
    run_demo(folder)
