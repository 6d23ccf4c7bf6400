"""The key that signs requests, as the settings name it, and the directory in which others find it."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from secrets import token_bytes
from typing import Any

from indexes.publish.generation import Signer, read_public_keys
from ingest.fetch.signatures import RequestSigner, key_directory
from schemas.errors import ConfigError
from schemas.settings import Settings

KEY, AGENT = "SITEGRAPH_REQUEST_KEY", "SITEGRAPH_SIGNATURE_AGENT"

_ORIGIN = re.compile(r"https://[a-z0-9.-]+(:[0-9]{1,5})?")
_NONCE_BYTES = 32


def open_signer(settings: Settings, *, now: Callable[[], datetime]) -> RequestSigner | None:
    """Return what signs requests; None where no key is set: then nothing is signed.

    Raises: ConfigError: the key is none, is that of generations, or no address says where its public half is.
    """
    if settings.request_key is None and settings.signature_agent is None:
        return None
    key = _read_key(settings)
    if not _ORIGIN.fullmatch(settings.signature_agent or ""):
        raise ConfigError(
            f"must say where the directory of `sitegraph keys` is, as https://HOST; {KEY} needs it",
            subject=AGENT,
        )
    return RequestSigner(
        agent=settings.signature_agent or "",
        public_key=key.public_bytes,
        sign=key.sign,
        now=now,
        nonce=lambda: token_bytes(_NONCE_BYTES),
    )


def directory_of(settings: Settings, others: Sequence[Path]) -> dict[str, Any]:
    """Return the directory of the key of requests, and of the public keys in other files.

    Raises: ConfigError: no key is set, or a file has none.
    """
    keys = [_read_key(settings).public_bytes]
    return key_directory([*keys, *(one for file in others for one in read_public_keys(file))])


def _read_key(settings: Settings) -> Signer:
    if settings.request_key is None:
        raise ConfigError("must name a file with an Ed25519 private key in PEM", subject=KEY)
    file = Path(settings.request_key)
    if settings.signing_key and Path(settings.signing_key).resolve() == file.resolve():
        raise ConfigError("names the key that signs generations; make another for requests", subject=KEY)
    return Signer(file, setting=KEY)
