"""Signing what is published, where a key is set."""

from pathlib import Path

from flows.run.index import Index
from indexes.places import write_durably
from indexes.publish.signatures import Signer, read_signature, signature_of
from schemas.settings import Settings


def check_signing_key(settings: Settings) -> None:
    """Raise ConfigError at once where generations cannot be signed, and not when one is to be published."""
    if settings.signing_key:
        Signer(Path(settings.signing_key))


def sign(index: Index, generation: int) -> None:
    """Sign a generation before readers are led to it; one of a number used before loses its signature."""
    if not index.settings.signing_key:
        signature_of(index.layout, generation).unlink(missing_ok=True)
        return
    manifest = index.layout.generation(generation).read_bytes()
    signature = Signer(Path(index.settings.signing_key)).sign(manifest)
    write_durably(signature_of(index.layout, generation), signature)


def sign_current(index: Index) -> None:
    """Sign what readers see if it has no signature, and is what the ledger knows as published."""
    generation = index.current()
    if not index.settings.signing_key or not generation or read_signature(index.layout, generation):
        return
    if index.ledger.manifests.get(generation) == index.layout.generation(generation).read_text():
        sign(index, generation)
