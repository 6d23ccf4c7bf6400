"""A source file (YAML) becomes a Source; errors name the key and its line."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, cast

import yaml
from pydantic import AfterValidator, create_model

from ingest.fetch.files import read_local_file
from ingest.parse.tools.file import MAX_BYTES, parse_tools
from ingest.sources.registry import OURS, kind_named, kind_names
from runtime.source_keys import join_family, source_keys
from runtime.yaml_files import KnownKeys, check_yaml, read_user_text
from schemas.documents import LiveDocument
from schemas.errors import ConfigError, FetchRefused, ParseError
from schemas.fragment import GraphFragment
from schemas.ids import canonical_json, sha256_hex
from schemas.nodes import Tool
from schemas.records import to_record
from schemas.redaction import to_json
from schemas.source import Source, ToolFile
from schemas.source_kinds import SHARED_KEYS


@cache
def _file_model(kind: Any) -> type[KnownKeys]:
    """What a source file of a kind may say: the common keys, and those of the kind.

    Raises: ConfigError: the kind does not load, or has a key with the name of a common one.
    """
    common = source_keys()
    if kind not in kind_names():
        return common
    keys = kind_named(kind).keys
    if taken := sorted(keys.model_fields.keys() & common.model_fields.keys()):
        raise ConfigError(f"has {taken[0]} among its keys, which all kinds have", subject=f"kind {kind}")
    model: type[KnownKeys] = create_model("Source", __base__=cast(Any, (common, keys)))
    return model


def _type_of(values: Mapping[str, Any]) -> Any:
    kind = values.get("kind")
    model = _file_model(kind if isinstance(kind, str) else None)
    steps = (_tools_once, _to_source, _starts_somewhere, _says_what_its_kind_has)
    return Annotated[model, *map(AfterValidator, steps)]


def _tools_once(file: Any) -> Any:
    paths = [tool.path for tool in file.tools]
    if twice := next((path for number, path in enumerate(paths) if path in paths[:number]), None):
        raise ValueError(f"tools names {twice} twice")
    return file


def _to_source(file: Any) -> Source:
    own = set(kind_named(file.kind).keys.model_fields)
    values = {key: value for key, value in file if key not in own}
    family = join_family(values.pop("family"), values.pop("version"), file.metadata.version)
    kind_keys = to_json(file.model_dump(mode="json", include=own), sort_keys=True) if own else ""
    return Source(**values, family=family, kind_keys=kind_keys)


def _starts_somewhere(source: Source) -> Source:
    has = kind_named(source.kind).shared
    for key, other in (("seeds", "roots"), ("roots", "seeds")):
        if key in has and (not getattr(source, key) or getattr(source, other)):
            raise ValueError(f"a source of kind {source.kind} needs {key} (and has no {other})")
    return source


def _says_what_its_kind_has(source: Source) -> Source:
    defaults = {field.name: field.default for field in fields(Source)}
    for key in SHARED_KEYS:
        if key not in kind_named(source.kind).shared and getattr(source, key) != defaults[key]:
            kinds = " or ".join(name for name in OURS if key in kind_named(name).shared)
            raise ValueError(f"{key.removesuffix('_env')} is for sources of kind {kinds}")
    if source.proxy is not None and source.proxy_env is not None:
        raise ValueError("has proxy and proxy_env; give one of them")
    return source


def load_source(path: Path) -> Source:
    """Read and check a source file; relative roots are taken from the file's folder.

    Raises: ConfigError: the file is missing, is not YAML, or a key is unknown or wrong.
    """
    return parse_source(read_user_text(path), subject=str(path), folder=path.resolve().parent)


def values_in(path: Path) -> Any:
    """Return what a file of YAML says, right or wrong; None where it cannot be read."""
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None


def name_in(path: Path) -> str | None:
    """The name that a source file gives, whatever else is wrong with it."""
    values = values_in(path)
    name = values.get("name") if isinstance(values, dict) else None
    return name if isinstance(name, str) and name else None


def parse_source(text: str, *, subject: str, folder: Path) -> Source:
    """Check the text of a source file; *subject* names it in errors."""
    shape = "a source file is a mapping with name, kind and seeds or roots"
    source, _ = check_yaml(text, _type_of, subject=subject, shape=shape, context={"folder": folder})
    return cast(Source, source)


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
        data = read_local_file(path.resolve().parent, tool_file.path, max_bytes=MAX_BYTES)
        return parse_tools(data, source=source, path=tool_file.path, tool_format=tool_file.tool_format)
    except (FetchRefused, ParseError) as error:
        raise ConfigError(f"{key}: {tool_file.path}: {error.message}", subject=str(path)) from error
