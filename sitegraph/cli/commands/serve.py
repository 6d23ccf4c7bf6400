"""`sitegraph serve`: the index over HTTP."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from runtime.settings import read_settings
from sitegraph.cli.options import IndexOption
from sitegraph.cli.reading import tell

WORKERS_MAX = 64


def serve(
    index: IndexOption = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but loopback needs SITEGRAPH_SERVE_TOKEN.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=WORKERS_MAX, help="Number of worker processes.")] = 2,
    wait: Annotated[
        bool, typer.Option("--wait", help="If there is no index yet, wait until a run has made one.")
    ] = False,
) -> None:
    """Serve the index over HTTP, read-only: pages for browsers, and an API for programs.

    Open the address that is printed to search. Programs ask POST /retrieve, GET /chunks/ID, /documents/ID and
    /changes; /openapi.json describes them. The request after a publish is answered from the new generation.
    With SITEGRAPH_SERVE_TOKEN, browsers sign in with it. Needs the extra sitegraph[serve].

    Examples:

      sitegraph serve --index ./index

      SITEGRAPH_SERVE_TOKEN=... sitegraph serve --index ./index --host 0.0.0.0 --port 8080 --workers 4
    """
    from indexes.copies.cache import followed
    from indexes.layout import IndexLayout
    from indexes.manifest import load_manifest

    settings = read_settings(index)
    if wait and "://" not in settings.index:
        wait_for_file(IndexLayout(Path(settings.index)).manifest)
    from sitegraph.service.running import serve as run
    from sitegraph.service.source import check_source_url

    check_source_url(settings.source_url)
    with followed(settings, now=time.time, say=tell) as local:
        load_manifest(IndexLayout(Path(local.index)))
        run(local, host=host, port=port, workers=workers)


def wait_for_file(path: Path, *, seconds: float = 1.0) -> None:
    """Come back once *path* is there; looks every so many *seconds*."""
    if not path.exists():
        print(f"sitegraph: waiting for {path}", file=sys.stderr, flush=True)
    while not path.exists():
        time.sleep(seconds)
