"""Signatures of generations: who holds the public key knows who published what it reads.

Signed are the bytes of `generations/N.json`, which has the hash of every file that its readers open. The
signature is 64 raw bytes in `generations/N.json.sig`, as `openssl pkeyutl -sign -rawin` makes it.

Source: RFC 8032 (Ed25519); RFC 8410 (its keys in PEM).
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.layout import IndexLayout
from schemas.errors import ConfigError, GuardRefused
from schemas.extras import install_line

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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
    """Signs manifests with a private key."""

    def __init__(self, key_file: Path) -> None:
        """Read the key.

        Raises: ConfigError: it cannot be read, has a password, or is not an Ed25519 key; no cryptography.
        """
        self._key = _private_key(key_file)

    def sign(self, manifest: bytes) -> bytes:
        """Return the signature of a manifest's bytes; equal bytes have equal signatures."""
        return self._key.sign(manifest)


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


def _private_key(file: Path) -> "Ed25519PrivateKey":
    data = _read(file, SIGNING_KEY)
    serialization = _serialization(SIGNING_KEY)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    with suppress(ValueError, TypeError):
        key = serialization.load_pem_private_key(data, password=None)
        if isinstance(key, Ed25519PrivateKey):
            return key
    raise ConfigError(f"is not an Ed25519 private key in PEM without a password; {_MAKE}", subject=str(file))


def _public_keys(file: Path) -> "tuple[Ed25519PublicKey, ...]":
    data = _read(file, TRUST)
    serialization = _serialization(TRUST)
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
