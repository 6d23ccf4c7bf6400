"""The files that a copy needs: fetched, compared with their hashes, removed when unneeded."""

import hashlib
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from indexes.copies.places import IndexPlace, iter_chunks
from indexes.embed.manifest import MANIFEST_FILE as ENCODER_JSON
from indexes.embed.manifest import EncoderManifest
from indexes.layout import FILES, IndexLayout, IndexManifest, VectorSpace, load_manifest
from indexes.markers import CopyMarker, write_marker
from indexes.publish.current import read_current
from indexes.publish.generation import GenerationManifest, generation_numbers, load_generation, signature_of
from indexes.stores.raw import place_by_hash
from schemas.errors import ConfigError, DamageFound, GuardRefused, Stopped, StoreUnavailable, telling_no_room

MANIFEST_BYTES = 256 << 20
"""Of `generations/N.json`: a line of 150 bytes for each file, and one for each PDF."""

CURRENT_BYTES = 256
INDEX_BYTES = 1 << 20

_PATH = re.compile(r"(?:lance|authority|encoder[\w-]*)(?:/[A-Za-z0-9_][A-Za-z0-9_.+=-]*)+")
"""No part begins with a dot, so none is `..`; no part is empty; nothing but what an index has there."""
_STAMP = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """A file of a copy by its path in the index.

    `size` is None where only its hash is known; of a `packed` one the hash is of what is packed in it.
    """

    path: str
    sha256: str
    size: int | None = None
    packed: bool = False


def wanted_files(
    manifest: GenerationManifest, index: IndexManifest, *, with_raw: bool, subject: str
) -> tuple[WantedFile, ...]:
    """Return the files that a copy of a generation needs, smallest first.

    Raises: DamageFound: the manifest names a place outside of a copy, or a size or hash that is none;
    ConfigError: it was published by a version that wrote no hashes.
    """
    if not manifest.files:
        raise ConfigError(
            "was published by a version that wrote no hashes; publish a generation with this one",
            subject=subject,
        )
    stamped = [*_stamped(manifest.files, subject), *_stamped(manifest.encoder, subject)]
    files = {file.path: file for file in stamped}
    if with_raw and index.raw == FILES:
        files |= {file.path: file for file in _raw(manifest.pdfs.values(), subject)}
    return tuple(sorted(files.values(), key=lambda file: (file.size or 0, file.path)))


def files_of_encoder(folder: str, manifest: EncoderManifest, *, subject: str) -> tuple[WantedFile, ...]:
    """Return the files of an encoder as `encoder.json` names them, where the generation does not."""
    names = {f"{folder}/{name}": sha256 for name, sha256 in manifest.hashes().items()}
    for path, sha256 in names.items():
        if not _PATH.fullmatch(path) or not _SHA256.fullmatch(sha256):
            raise _foreign(path, subject)
    return tuple(WantedFile(path=path, sha256=sha256) for path, sha256 in names.items())


def encoder_json(manifest: GenerationManifest, index: IndexManifest, *, subject: str) -> str:
    """Return the path of the encoder's description."""
    path = f"{(manifest.space or VectorSpace(model=index.model)).encoder}/{ENCODER_JSON}"
    if not _PATH.fullmatch(path):
        raise _foreign(path, subject)
    return path


def _stamped(stamps: Mapping[str, str], subject: str) -> Iterable[WantedFile]:
    for path, stamp in stamps.items():
        found = _STAMP.fullmatch(stamp) if isinstance(stamp, str) else None
        if found is None or not _PATH.fullmatch(path):
            raise _foreign(path, subject)
        yield WantedFile(path=path, size=int(found[1]), sha256=found[2])


def _raw(hashes: Iterable[str], subject: str) -> Iterable[WantedFile]:
    for sha256 in hashes:
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            raise _foreign(str(sha256), subject)
        yield WantedFile(path=raw_path(sha256), sha256=sha256, packed=True)


def raw_path(sha256: str) -> str:
    """Return where the bytes of a document are in an index."""
    return f"raw/{place_by_hash(sha256)}"


def _foreign(path: str, subject: str) -> DamageFound:
    return DamageFound(
        f"names a file that no index has ({path[:200]!r}); nothing is fetched", subject=subject
    )


def check_size(files: Iterable[WantedFile], *, most: int, setting: str, subject: str) -> int:
    """Return how many bytes files have, as far as that is known.

    Raises: ConfigError: more than *most*, which *setting* names.
    """
    total = sum(file.size or 0 for file in files)
    if total > most:
        raise ConfigError(
            f"has {total / 1e6:,.0f} MB, and {setting} allows {most / 1e6:,.0f}; raise it",
            subject=subject,
        )
    return total


def check_successor(
    manifest: GenerationManifest,
    index: IndexManifest,
    *,
    held: tuple[str, int] | None,
    may_go_back: bool,
    subject: str,
) -> None:
    """Refuse what must not follow what a copy holds.

    Args: held: id of the index that the copy is of, and its generation. may_go_back: an earlier generation is
    taken: without signatures whoever can rewrite `CURRENT` can rewrite everything; with them an old
    generation, rightly signed in its day, is what is left to an attacker.
    Raises: ConfigError: it is of another index; GuardRefused: an earlier generation.
    """
    if held is None:
        return
    index_id, generation = held
    if index_id != index.index_id:
        raise ConfigError("is another index than the copy is of; choose another folder", subject=subject)
    if manifest.generation < generation and not may_go_back:
        raise GuardRefused(
            f"went back from generation {generation} to {manifest.generation}: a rollback, or somebody "
            "replays what was signed once; the copy stays as it is. If it was a rollback: --accept-rollback",
            subject=subject,
        )


PARTS = ".part"
THREADS = 8
_ATTEMPTS = 3
_PAUSE_SECONDS = 0.5


def is_whole(root: Path, file: WantedFile, trusted: Mapping[str, str]) -> bool:
    """Whether a file is here as it should be; of one with a *trusted* stamp only the size is compared."""
    path = root / file.path
    try:
        size = path.stat().st_size
    except OSError:
        return False
    if file.size is not None and file.size != size:
        return False
    return trusted.get(file.path) == f"{size}:{file.sha256}" or matches(path, file)


def matches(path: Path, file: WantedFile) -> bool:
    """Whether the bytes of *path* are those of *file*."""
    from zstandard import ZstdDecompressor, ZstdError

    try:
        if file.size is not None and path.stat().st_size != file.size:
            return False
        with path.open("rb") as data:
            if not file.packed:
                return hashlib.file_digest(data, "sha256").hexdigest() == file.sha256
            with ZstdDecompressor().stream_reader(data) as unpacked:
                return hashlib.file_digest(unpacked, "sha256").hexdigest() == file.sha256
    except (OSError, ZstdError):
        return False


def part_file(root: Path, file: WantedFile) -> Path:
    """Return where the bytes of a file are until all of them are there."""
    return root / PARTS / f"{file.sha256}-{hashlib.sha256(file.path.encode()).hexdigest()[:8]}"


class Fetching:
    """Fetches files of an index into a copy, some at a time.

    Args: most: bytes of a file whose size nobody named. advance: told how many bytes are done.
    """

    def __init__(self, place: IndexPlace, root: Path, *, most: int, advance: Callable[[int], None]) -> None:
        self._place, self._root, self._most, self._advance = place, root, most, advance
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._fetched = 0

    def fetch_all(self, files: Sequence[WantedFile]) -> int:
        """Fetch *files*, and return how many bytes came.

        Raises: DamageFound: one is not what its hash says; FileNotFoundError; StoreUnavailable: the place;
        NoRoom: the disk of the copy is full.
        """
        if not files:
            return 0
        with ThreadPoolExecutor(THREADS, thread_name_prefix="pull") as pool:
            try:
                for _ in pool.map(self.fetch, files):
                    pass
            except BaseException:
                self._stopped.set()  # Ctrl-C does not wait for the rest of a large file
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return self._fetched

    def fetch(self, file: WantedFile) -> None:
        """Fetch one file, three times at most; raises as `fetch_all`."""
        with telling_no_room(str(self._root)):
            self._fetch(file)

    def _fetch(self, file: WantedFile) -> None:
        part = part_file(self._root, file)
        part.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(_ATTEMPTS):
            try:
                self._continue(part, file)
            except StoreUnavailable:
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(_PAUSE_SECONDS * 2**attempt)
                continue
            if matches(part, file):
                self._place_part(part, file)
                return
            part.unlink(
                missing_ok=True
            )  # of a server that sends something else once, or a part cut elsewhere
        raise DamageFound(
            "is not what its generation was published with; check it there with: sitegraph verify",
            subject=f"{self._place.url}/{file.path}",
        )

    def _continue(self, part: Path, file: WantedFile) -> None:
        """Fetch what is missing of a part; a byte more than there should be is enough to give it up."""
        done = part.stat().st_size if part.is_file() and file.size is not None else 0
        if done == file.size and part.is_file():
            return
        most = self._most if file.size is None else file.size
        with (
            self._place.opened(file.path, done) as (start, source),
            part.open("ab" if start else "wb") as target,
        ):
            for chunk in iter_chunks(source, most=most + 1 - start):
                target.write(chunk)
                self._count(len(chunk))
            _sync(target)

    def _count(self, more: int) -> None:
        if self._stopped.is_set():
            raise Stopped("another file could not be fetched, or a stop was asked for")
        with self._lock:
            self._fetched += more
            self._advance(more)

    def _place_part(self, part: Path, file: WantedFile) -> None:
        target = self._root / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        part.replace(target)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


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
