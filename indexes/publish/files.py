"""The files that a generation rests on, with sizes and hashes: taken at its publish, compared when it is
read.

LanceDB reads a flipped bit back without a word, in rows and in search indexes alike, so what answers rest on
is compared here, file by file. A published file never changes; a later generation has others.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from indexes.embed.manifest import MANIFEST_FILE, load_manifest
from indexes.embed.weights import file_sha256
from indexes.layout import IndexLayout
from indexes.manifest import IndexManifest, VectorSpace
from indexes.places import bucket_of, is_in_bucket
from indexes.table_files import files_of
from schemas.errors import SitegraphError

Stamps = Mapping[str, str]
"""`size:sha256` by path relative to the index folder."""

Damage = tuple[str, str]
"""What is damaged, and how."""

_DOWNLOADS = 8
"""Objects that are read side by side for their hashes."""

HASHED_BYTES = 64 << 20
"""What a single query, and the start of a run, reads to compare hashes: about 50 ms, smallest files first.
Sizes are always compared; `verify`, `run --repair` and readers that live long compare all hashes.
"""


def files_of_generation(
    layout: IndexLayout, manifest: IndexManifest, generation: int, space: VectorSpace
) -> tuple[str, ...]:
    """Return the files in the index folder that readers of a generation open, but for the encoder's.

    Raises: DamageFound: a table cannot be read.
    """
    folders = table_folders(layout, manifest, space)
    found = [folder / name for folder in folders for name in files_of(folder, generation)]
    return tuple(
        path.relative_to(layout.root).as_posix() for path in (*found, layout.authority_of(generation))
    )


def table_folders(layout: IndexLayout, manifest: IndexManifest, space: VectorSpace) -> tuple[Path, ...]:
    """Return the folders of the tables that readers of a generation open."""
    tables = (space.table, *(("nodes", "edges") if manifest.graph == "lance" else ()))
    return tuple(layout.lance / f"{table}.lance" for table in tables)


def stamp_files(root: Path, paths: Iterable[str], *, known: Stamps) -> dict[str, str]:
    """Take size and hash of each file; of one that an earlier generation has, what was taken then stays."""
    wanted = sorted(paths)
    fresh = [path for path in wanted if not known.get(path)]
    if is_in_bucket(root):
        with ThreadPoolExecutor(_DOWNLOADS) as pool:
            taken = dict(zip(fresh, pool.map(lambda path: _stamp(root / path), fresh), strict=True))
    else:
        taken = {path: _stamp(root / path) for path in fresh}
    return {path: known.get(path) or taken[path] for path in wanted}


def stamp_encoder(root: Path, folder: str) -> dict[str, str]:
    """Take size and hash of each file of an exported encoder, of most of them as `encoder.json` has it.

    None where there is no encoder, as in an index that is held in memory.
    """
    try:
        hashes = load_manifest(root / folder).hashes()
        sizes = {name: (root / folder / name).stat().st_size for name in hashes}
        own = _stamp(root / folder / MANIFEST_FILE)
    except (SitegraphError, OSError):
        return {}
    stamps = {f"{folder}/{name}": f"{sizes[name]}:{sha256}" for name, sha256 in hashes.items()}
    return {f"{folder}/{MANIFEST_FILE}": own, **stamps}


def _stamp(path: Path) -> str:
    if not is_in_bucket(path):
        return f"{path.stat().st_size}:{file_sha256(path)}"
    with path.open("rb") as file:  # a copy: one request gives both
        return f"{os.fstat(file.fileno()).st_size}:{hashlib.file_digest(file, 'sha256').hexdigest()}"


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Compares files with their stamps.

    Args: most_bytes: what may be read for hashes, None for all; in a bucket, whose server keeps checksums of
    its own, all or none. seen: what was found whole before, by path, time and place on the disk; a reader
    that lives long reads no file twice. listed: sizes of objects, by folder; each is listed once.
    """

    root: Path
    most_bytes: int | None = None
    seen: set[tuple[object, ...]] = field(default_factory=set)
    listed: dict[str, Mapping[str, int]] = field(default_factory=dict)

    def damaged(self, stamps: Stamps) -> tuple[Damage, ...]:
        """Return the files that are missing or differ, by path."""
        return tuple(sorted(self._damaged(stamps)))

    def _damaged(self, stamps: Stamps) -> Iterator[Damage]:
        left = 0 if self.most_bytes is not None and is_in_bucket(self.root) else self.most_bytes
        sized = sorted((int(stamp.partition(":")[0]), path) for path, stamp in stamps.items())
        for size, path in sized:
            try:
                found, *where = self._look(path)
            except OSError:
                yield path, "is missing"
                continue
            mark = (path, stamps[path], *where)
            if found != size:
                yield path, f"is damaged: {found} bytes instead of {size}"
            elif mark not in self.seen and (left is None or size <= left):
                left = left if left is None else left - size
                if fault := self._fault(path, stamps[path]):
                    yield path, fault
                else:
                    self.seen.add(mark)

    def _look(self, path: str) -> tuple[int, ...]:
        """Size of a file, and on a disk what tells it from another that was there before."""
        bucket = bucket_of(self.root / path.partition("/")[0])
        if bucket is None:
            status = (self.root / path).stat()
            return status.st_size, status.st_mtime_ns, status.st_ino
        if bucket.name not in self.listed:
            self.listed[bucket.name] = bucket.sizes()
        try:
            return (self.listed[bucket.name][path.partition("/")[2]],)
        except KeyError as error:
            raise FileNotFoundError(path) from error

    def _fault(self, path: str, stamp: str) -> str | None:
        try:
            whole = _stamp(self.root / path) == stamp
        except OSError as error:  # a bad sector; or it was pruned since it was looked at
            return f"cannot be read ({error.strerror})"
        return None if whole else "is damaged: it no longer matches its hash"
