"""Remove from a copy what no generation needs that it keeps."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from indexes.copies.fetching import PARTS
from indexes.copies.marker import CopyMarker, write_marker
from indexes.copies.wanted import encoder_json, wanted_files
from indexes.layout import IndexLayout
from indexes.manifest import load_manifest
from indexes.publish.current import read_current
from indexes.publish.generation import generation_numbers, load_generation
from indexes.publish.signatures import signature_of
from schemas.errors import DamageFound

_OURS = ("lance", "authority", "encoder*", "raw")


def kept_in_copy(
    current: int, replaced: Mapping[str, float], *, now: float, grace_seconds: float
) -> frozenset[int]:
    """Return the generations that a copy keeps: the current one, and those that readers may still hold."""
    young = {int(number) for number, at in replaced.items() if now - at < grace_seconds}
    return frozenset({current, *young})


def clear(layout: IndexLayout, marker: CopyMarker, *, now: float, grace_seconds: float) -> int:
    """Remove generations that were replaced long ago, and files that none of the others names; count them."""
    kept = kept_in_copy(read_current(layout.root), marker.replaced, now=now, grace_seconds=grace_seconds)
    for number in set(generation_numbers(layout)) - kept:
        layout.generation(number).unlink()
        signature_of(layout, number).unlink(missing_ok=True)
    replaced = {number: at for number, at in marker.replaced.items() if int(number) in kept}
    if len(replaced) < len(marker.replaced):
        write_marker(layout.root, CopyMarker(url=marker.url, raw=marker.raw, replaced=replaced))
    shutil.rmtree(layout.root / PARTS, ignore_errors=True)
    named, folders = _named(layout, set(generation_numbers(layout)), with_raw=marker.raw)
    removed = [path for path in _files(layout.root) if not _is_named(path, layout.root, named, folders)]
    for path in removed:
        path.unlink(missing_ok=True)
    _remove_empty(layout.root)
    return len(removed)


def _named(
    layout: IndexLayout, generations: Iterable[int], *, with_raw: bool
) -> tuple[frozenset[str], frozenset[str]]:
    """Return files that generations name, and folders of encoders of which they name no files."""
    index, named, folders = load_manifest(layout), set[str](), set[str]()
    for number in generations:
        manifest = load_generation(layout, number)
        files = wanted_files(manifest, index, with_raw=with_raw, subject=str(layout.root))
        named |= {file.path for file in files}
        if not manifest.encoder:
            folders.add(encoder_json(manifest, index, subject=str(layout.root)).rpartition("/")[0])
    if not named:
        raise DamageFound("names no files", subject=str(layout.current))
    return frozenset(named), frozenset(folders)


def _files(root: Path) -> Iterator[Path]:
    for folder in (folder for pattern in _OURS for folder in sorted(root.glob(pattern))):
        yield from (path for path in sorted(folder.rglob("*")) if not path.is_dir())


def _is_named(path: Path, root: Path, named: frozenset[str], folders: frozenset[str]) -> bool:
    relative = path.relative_to(root)
    return relative.as_posix() in named or relative.parts[0] in folders


def _remove_empty(root: Path) -> None:
    for pattern in _OURS:
        for folder in sorted((path for path in root.glob(f"{pattern}/**/") if path.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
