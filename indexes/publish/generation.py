"""`generations/N.json`: what a generation contains, as readers and `verify` are told, and who signed it."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes.lattice_hash import LatticeHash
from indexes.layout import IndexLayout, IndexManifest, VectorSpace, remedy
from indexes.places import write_durably
from indexes.ports import StoreState
from indexes.publish.current import read_pointer
from schemas.changes import Counts, add_counts
from schemas.errors import ConfigError, DamageFound, GuardRefused
from schemas.families import SourceFamily
from schemas.ids import LATER, sha256_hex
from schemas.records import from_record, to_record
from schemas.settings import install_line

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationManifest:
    """One published generation. `sources` counts documents, chunks, nodes and edges of each source.

    `stores` contains, by table, the counts per kind, the digest of all rows with the lanes that the next one
    is made from (none in what an earlier version published), and the store's version.
    `space` is where its vectors are; None: where those of the first generation are. `files` are those that
    readers open, with size and hash; none in what an earlier version published. `encoder` are those of the
    query encoder, and `pdfs` the hash of the bytes of each PDF whose pages are shown, by node id: what copies
    of the index need, too. `index` repeats `index.json`. `families` says which sources have versions of one
    manual. `pages` is the hash of what the pages of each PDF gave, by node id: a ledger that was lost has it
    from here.
    """

    generation: int
    base: int
    as_of: str
    source: str
    run_id: str
    plan_sha: str
    sources: Mapping[str, Counts] = field(default_factory=dict)
    stores: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    space: VectorSpace | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    encoder: Mapping[str, str] = field(default_factory=dict)
    pdfs: Mapping[str, str] = field(default_factory=dict)
    index: IndexManifest | None = None
    families: tuple[SourceFamily, ...] = field(default=(), metadata=LATER)
    pages: Mapping[str, str] = field(default_factory=dict, metadata=LATER)

    def totals(self) -> dict[str, dict[str, int]]:
        """Rows by table and kind over all sources."""
        total: dict[str, dict[str, int]] = {}
        for counts in self.sources.values():
            total = add_counts(total, counts)
        return total

    @property
    def passages(self) -> int:
        """How many chunks readers see, of all sources."""
        return sum(self.totals().get("chunks", {}).values())


EMPTY = GenerationManifest(
    generation=0, base=0, as_of="1970-01-01T00:00:00+00:00", source="", run_id="", plan_sha=""
)
"""Generation 0: an index in which nothing has been published."""


def load_generation(layout: IndexLayout, number: int) -> GenerationManifest:
    """Read one generation's manifest.

    Raises: DamageFound: the file is missing or unreadable, or is not the one that `CURRENT` was written for.
    """
    if number == 0:
        return EMPTY
    path = layout.generation(number)
    try:
        data = path.read_bytes()
        found = read_generation(data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamageFound(f"cannot be read; {remedy(layout.root)}", subject=str(path)) from error
    if found.generation != number or _differs_from_current(layout, number, data):
        raise DamageFound(f"is damaged; {remedy(layout.root)}", subject=str(path))
    return found


def read_generation(data: bytes) -> GenerationManifest:
    """Read a manifest from its bytes.

    Raises: ValueError, KeyError, TypeError, AttributeError: it is none.
    """
    return from_record(GenerationManifest, json.loads(data))


def _differs_from_current(layout: IndexLayout, number: int, data: bytes) -> bool:
    try:
        pointer = read_pointer(layout.root)
    except (ConfigError, DamageFound):  # told where it is read for its number
        return False
    return pointer.generation == number and pointer.manifest_sha256 not in (None, sha256_hex(data))


def space_of(layout: IndexLayout, manifest: IndexManifest, number: int) -> VectorSpace:
    """Where a generation has its vectors; one that is pruned, or cannot be read, has them nowhere else."""
    try:
        space = load_generation(layout, number).space
    except DamageFound:
        space = None
    return space or VectorSpace(model=manifest.model)


def generation_numbers(layout: IndexLayout) -> tuple[int, ...]:
    """Numbers of the generations that have a manifest, ascending."""
    found = (path.stem for path in layout.generation(0).parent.glob("*.json"))
    return tuple(sorted(int(name) for name in found if name.isdecimal()))


def published_line(layout: IndexLayout, current: int) -> tuple[GenerationManifest, ...]:
    """Return the generations that readers saw and that are kept, oldest first, up to *current*.

    What a rollback took back has a higher number, until the next publish removes it.
    """
    numbers = (number for number in generation_numbers(layout) if number <= current)
    return tuple(load_generation(layout, number) for number in numbers)


def dump_generation(layout: IndexLayout, manifest: GenerationManifest) -> None:
    """Write one generation's manifest, durably."""
    write_durably(layout.generation(manifest.generation), generation_text(manifest))


def generation_text(manifest: GenerationManifest) -> str:
    """Return the text of one generation's manifest."""
    return json.dumps(to_record(manifest), indent=2, sort_keys=True) + "\n"


def store_record(state: StoreState) -> dict[str, object]:
    """What the manifest keeps of a store's state."""
    return {
        "counts": dict(state.counts),
        "digest": state.digest,
        "lanes": state.rows.to_text(),
        "version": state.version,
    }


def store_state(record: Mapping[str, Any]) -> StoreState | None:
    """Return the state that a manifest keeps of a store; None where it keeps too little, or not the same."""
    try:
        rows = LatticeHash.from_text(record["lanes"])
        state = StoreState(counts=dict(record["counts"]), rows=rows, version=record["version"])
        return state if state.digest == record["digest"] else None
    except (LookupError, TypeError, ValueError):
        return None


SIGNING_KEY, TRUST = "SITEGRAPH_SIGNING_KEY", "SITEGRAPH_TRUST"
SIGNATURE_BYTES = 64

_PUBLIC = re.compile(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)
_MAKE = (
    "make one with: openssl genpkey -algorithm ed25519 -out KEY.pem, and its public half with: openssl pkey "
    "-in KEY.pem -pubout -out TRUST.pem"
)


def signature_of(layout: IndexLayout, generation: int) -> Path:
    """Return where the signature of a generation is."""
    manifest = layout.generation(generation)
    return manifest.with_name(f"{manifest.name}.sig")


class Signer:
    """Signs manifests, or requests, with a private key."""

    def __init__(self, key_file: Path, *, setting: str = SIGNING_KEY) -> None:
        """Read the key, which *setting* names.

        Raises: ConfigError: it cannot be read, has a password, or is not an Ed25519 key; no cryptography.
        """
        self._key = _private_key(key_file, setting)

    @property
    def public_bytes(self) -> bytes:
        """Its public half, 32 bytes (RFC 8032, 5.1.5)."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """Return the signature of bytes; equal ones have equal signatures."""
        return self._key.sign(data)


class PublisherKeys:
    """The public keys of those who are trusted to publish."""

    def __init__(self, key_file: Path) -> None:
        """Read the keys, any number in one file, so that a key can be replaced.

        Raises: ConfigError: as `Signer`.
        """
        self._keys = _public_keys(key_file)
        self._file = key_file

    def require(self, manifest: bytes, signature: bytes | None, *, subject: str) -> None:
        """Raise GuardRefused unless one of the keys signed these bytes."""
        if signature is None:
            raise GuardRefused(
                f"has no signature, and {TRUST} asks for one; publish it with {SIGNING_KEY}", subject=subject
            )
        if not any(_has_signed(key, manifest, signature) for key in self._keys):
            raise GuardRefused(f"is not signed with a key of {self._file}; it is not read", subject=subject)


def open_trust(file: str | None) -> PublisherKeys | None:
    """Read the keys that a setting names; None where everything is believed."""
    return PublisherKeys(Path(file)) if file else None


def read_signature(layout: IndexLayout, generation: int) -> bytes | None:
    """Return the signature of a generation, None where it has none."""
    try:
        return signature_of(layout, generation).read_bytes()
    except OSError:
        return None


def _has_signed(key: "Ed25519PublicKey", manifest: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, manifest)
    except InvalidSignature:
        return False
    return True


def read_public_keys(file: Path) -> tuple[bytes, ...]:
    """Return the public keys of a file, 32 bytes each. Raises: ConfigError: as `PublisherKeys`."""
    return tuple(key.public_bytes_raw() for key in _public_keys(file, "--also"))


def _private_key(file: Path, setting: str) -> "Ed25519PrivateKey":
    data = _read(file, setting)
    serialization = _serialization(setting)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    with suppress(ValueError, TypeError):
        key = serialization.load_pem_private_key(data, password=None)
        if isinstance(key, Ed25519PrivateKey):
            return key
    raise ConfigError(f"is not an Ed25519 private key in PEM without a password; {_MAKE}", subject=str(file))


def _public_keys(file: Path, setting: str = TRUST) -> "tuple[Ed25519PublicKey, ...]":
    data = _read(file, setting)
    serialization = _serialization(setting)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    found = []
    for block in _PUBLIC.findall(data):
        with suppress(ValueError, TypeError):
            found.append(serialization.load_pem_public_key(block))
    keys = tuple(key for key in found if isinstance(key, Ed25519PublicKey))
    if not keys or len(keys) != len(_PUBLIC.findall(data)):
        raise ConfigError(f"is not made of Ed25519 public keys in PEM; {_MAKE}", subject=str(file))
    return keys


def _read(file: Path, setting: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror}); {setting} names it", subject=str(file)
        ) from error


def _serialization(setting: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a module
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError as error:
        raise ConfigError(f"needs cryptography; run: {install_line('sign')}", subject=setting) from error
    return serialization
