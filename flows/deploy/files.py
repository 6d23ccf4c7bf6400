"""The source files that a command names: files, and folders with all source files in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from flows.deploy.deployments import SourceFile
from runtime.file_errors import os_error_reason
from runtime.source_file import load_source
from schemas.errors import ConfigError

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFiles:
    """What was found: source files, the folders that were named, and what in them is no source file."""

    files: tuple[SourceFile, ...]
    folders: tuple[Path, ...] = ()
    passed_over: tuple[Path, ...] = ()


def read_files(named: Sequence[Path]) -> NamedFiles:
    """Read every source file that is named, or lies in a folder that is (not in folders below it).

    In a folder, YAML without the key `kind` is no source file and passed over. Raises: ConfigError: a source
    file is wrong or missing, two have one name, or there is none.
    """
    folders = tuple(dict.fromkeys(path.resolve() for path in named if path.is_dir()))
    inside = [path for folder in folders for path in _yaml_in(folder)]
    others = tuple(path for path in inside if not _is_source(path))
    # A link keeps its name, as in a folder: Kubernetes mounts files as links into a folder that changes.
    paths = [path.parent.resolve() / path.name for path in named if not path.is_dir()]
    paths += [path for path in inside if path not in others]
    files = tuple(SourceFile(source=load_source(path), path=path) for path in dict.fromkeys(paths))
    _check_names(files)
    if not files and not folders:
        raise ConfigError("no source file is named", subject="deploy")
    return NamedFiles(files=files, folders=folders, passed_over=others)


def _yaml_in(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    except OSError as error:
        raise ConfigError(f"cannot be read ({os_error_reason(error)})", subject=str(folder)) from error


def _is_source(path: Path) -> bool:
    """Whether a file is meant as a source file; one that cannot be read is, so that its error is told."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return True
    return isinstance(values, dict) and "kind" in values


def _check_names(files: Iterable[SourceFile]) -> None:
    seen: dict[str, Path] = {}
    for file in files:
        if (other := seen.setdefault(file.source.name, file.path)) != file.path:
            raise ConfigError(
                f"has the name {file.source.name} of {other}; each source needs its own",
                subject=str(file.path),
            )
