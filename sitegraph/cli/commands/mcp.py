"""`sitegraph mcp`: the index as tools of an agent, over stdin and stdout."""

import sys
import time
from pathlib import Path

from runtime.settings import read_settings
from sitegraph.cli.options import IndexOption
from sitegraph.cli.reading import tell


def mcp(index: IndexOption = None) -> None:
    """Serve the index to an agent over stdin and stdout, read-only, by the Model Context Protocol.

    A client such as Claude Desktop starts this command; over HTTP, `sitegraph serve` answers at /mcp.
    Needs the extra sitegraph[mcp]. Ctrl-C ends it.

    Examples:

      sitegraph mcp --index ./index

      claude mcp add handbook -- sitegraph mcp --index /srv/handbook-index
    """
    from indexes.copies.cache import followed
    from indexes.layout import IndexLayout
    from indexes.manifest import load_manifest

    settings = read_settings(index)
    with followed(settings, now=time.time, say=tell) as local:
        load_manifest(IndexLayout(Path(local.index)))
        from sitegraph.service.mcp_.stdio import serve_stdio

        if sys.stdin.isatty():
            print(
                "sitegraph: waiting for an MCP client at stdin; Ctrl-C ends it", file=sys.stderr, flush=True
            )
        serve_stdio(local)
