"""The files beside a source file that describe its tools."""

from collections.abc import Iterable
from pathlib import Path

from ingest.fetch.files import read_file
from ingest.parse.tools.file import MAX_BYTES, parse_tools
from schemas.documents import LiveDocument
from schemas.errors import ConfigError, FetchRefused, ParseError
from schemas.fragment import GraphFragment
from schemas.hashing import canonical_json, sha256_hex
from schemas.nodes import Tool
from schemas.records import to_record
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


def tools_documents(fragments: Iterable[GraphFragment]) -> tuple[LiveDocument, ...]:
    """Return files of tools as a generation contains documents."""
    return tuple(
        LiveDocument(
            doc=fragment.doc,
            source=node.source,
            uri=fragment.uri,
            fragment_sha=sha256_hex(tools_record(fragment)),
            content_hash=fragment.content_hash,
        )
        for fragment in fragments
        for node in fragment.nodes[:1]
        if isinstance(node, Tool)
    )


def tools_record(fragment: GraphFragment) -> bytes:
    """Return the bytes under which a file of tools is kept."""
    return canonical_json(to_record(fragment)).encode()


def _load(source: str, path: Path, key: str, tool_file: ToolFile) -> GraphFragment:
    try:
        data = read_file(path.resolve().parent, tool_file.path, max_bytes=MAX_BYTES)
        return parse_tools(data, source=source, path=tool_file.path, tool_format=tool_file.tool_format)
    except (FetchRefused, ParseError) as error:
        raise ConfigError(f"{key}: {tool_file.path}: {error.message}", subject=str(path)) from error
