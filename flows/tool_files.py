"""The files beside a source file that describe its tools."""

from pathlib import Path

from ingest.fetch.files import read_file
from ingest.parse.tools.file import MAX_BYTES, parse_tools
from schemas.errors import ConfigError, FetchRefused, ParseError
from schemas.fragment import GraphFragment
from schemas.source import Source, ToolFile


def load_tools(source: Source, path: Path) -> tuple[GraphFragment, ...]:
    """Read what the source file at *path* names under `tools`, under the rules for files under a root.

    Raises: ConfigError: a file is not there, lies outside the folder, or cannot be read as what it is said to
    be; it names the source file, the key and that file.
    """
    return tuple(
        _load(source.name, path, f"tools.{number}", tool_file)
        for number, tool_file in enumerate(source.tools)
    )


def _load(source: str, path: Path, key: str, tool_file: ToolFile) -> GraphFragment:
    try:
        data = read_file(path.resolve().parent, tool_file.path, max_bytes=MAX_BYTES)
        return parse_tools(data, source=source, path=tool_file.path, tool_format=tool_file.tool_format)
    except (FetchRefused, ParseError) as error:
        raise ConfigError(f"{key}: {tool_file.path}: {error.message}", subject=str(path)) from error
