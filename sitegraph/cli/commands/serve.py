"""`sitegraph serve`: the index over HTTP."""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from runtime.settings import read_settings
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.cli.options import AllowOption, GroupsOption, IndexOption
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
    groups: GroupsOption = None,
    allow: AllowOption = None,
) -> None:
    """Serve the index over HTTP, read-only: pages for browsers, and an API for programs.

    Open the address that is printed to search. Programs ask POST /retrieve, GET /chunks/ID, /documents/ID and
    /changes; /openapi.json describes them. The request after a publish is answered from the new generation.
    With SITEGRAPH_SERVE_TOKEN, browsers sign in with it. Needs the extra sitegraph[serve].

    If documents of the index have access groups, readers see what is public, or what --groups, or the groups
    of their token in the file SITEGRAPH_TOKENS, let them see; '*' is the whole index.

    Examples:

      sitegraph serve --index ./index

      SITEGRAPH_SERVE_TOKEN=... sitegraph serve --index ./index --host 0.0.0.0 --port 8080 --workers 4

      SITEGRAPH_TOKENS=tokens.yaml sitegraph serve --index ./index
    """
    from indexes.copies.cache import follow_copy
    from indexes.layout import IndexLayout, load_manifest

    settings = read_settings(index)
    settings = replace(settings, groups=settings.groups if groups is None else groups)
    if (settings.groups is not None or allow is not None) and settings.tokens:
        raise ConfigError(
            "cannot be combined with SITEGRAPH_TOKENS: tokens have groups of their own",
            subject="--allow" if settings.groups is None else "--groups",
        )
    if wait and "://" not in settings.index:
        wait_for_file(IndexLayout(Path(settings.index)).manifest)
    from sitegraph.service.running import serve as run
    from sitegraph.service.source import check_source_url

    check_source_url(settings.source_url)
    with follow_copy(settings, now=time.time, say=tell) as local:
        load_manifest(IndexLayout(Path(local.index)))
        run(served(local, allow=allow), host=host, port=port, workers=workers)


def served(settings: Settings, *, allow: str | None = None) -> Settings:
    """Return settings of what everybody is served who may ask: `public` where nothing else is said.

    *allow*: of that, what does not refuse these uses.
    Raises: ConfigError: there is no audience of the groups.
    """
    from indexes.markers import for_readers, has_audiences
    from schemas.access import PUBLIC, narrow_groups

    is_open = settings.tokens is None and settings.groups is None
    if is_open and has_audiences(Path(settings.index).resolve()):
        settings = replace(settings, groups=PUBLIC)
    narrowed = narrow_groups(settings.groups, allow, subject="--allow")
    return for_readers(replace(settings, groups=narrowed), subject="--allow" if allow else "--groups")


def wait_for_file(path: Path, *, seconds: float = 1.0) -> None:
    """Come back once *path* is there; looks every so many *seconds*."""
    if not path.exists():
        print(f"sitegraph: waiting for {path}", file=sys.stderr, flush=True)
    while not path.exists():
        time.sleep(seconds)
