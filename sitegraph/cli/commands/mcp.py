"""`sitegraph mcp`: the index as tools of an agent, over stdin and stdout."""

import sys
import time
from pathlib import Path

from sitegraph.cli.options import AllowOption, GroupsOption, IndexOption
from sitegraph.cli.reading import read_shown_settings, tell


def mcp(index: IndexOption = None, groups: GroupsOption = None, allow: AllowOption = None) -> None:
    """Serve the index to an agent over stdin and stdout, read-only, by the Model Context Protocol.

    A client such as Claude Desktop starts this command; over HTTP, `sitegraph serve` answers at /mcp.
    Needs the extra sitegraph[mcp]. Ctrl-C ends it.

    Examples:

      sitegraph mcp --index ./index

      claude mcp add handbook -- sitegraph mcp --index /srv/handbook-index

      sitegraph mcp --index ./index --groups staff
    """
    from indexes.copies.cache import follow_copy
    from indexes.layout import IndexLayout, load_manifest

    settings = read_shown_settings(index, groups, allow)
    with follow_copy(settings, now=time.time, say=tell) as local:
        load_manifest(IndexLayout(Path(local.index)))
        from sitegraph.service.mcp_.stdio import serve_stdio

        if sys.stdin.isatty():
            print(
                "sitegraph: waiting for an MCP client on stdin; Ctrl-C ends it", file=sys.stderr, flush=True
            )
        serve_stdio(local)
