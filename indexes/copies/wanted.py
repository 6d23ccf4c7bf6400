"""What a copy of a generation consists of, and what of a manifest is refused: decided on plain data.

A manifest comes from elsewhere. Whatever it says, nothing is written outside the folder of the copy, nor more
than was agreed to.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from indexes.embed.manifest import MANIFEST_FILE as ENCODER_JSON
from indexes.embed.manifest import EncoderManifest
from indexes.manifest import FILES, IndexManifest, VectorSpace
from indexes.publish.generation import GenerationManifest
from indexes.stores.packing import place_of
from schemas.errors import ConfigError, DamageFound, GuardRefused

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
    return f"raw/{place_of(sha256)}"


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
