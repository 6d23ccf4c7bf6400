"""Requests that prove who sends them: HTTP message signatures with an Ed25519 key.

Source: RFC 9421; draft-ietf-webbotauth-httpsig-protocol, "Generating HTTP Message Signature" and
"Signature-Agent"; RFC 7638 with RFC 8037, A.3 (names of keys).
"""

import hashlib
import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

DIRECTORY = ".well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"

LIFETIME = 60
"""Seconds that a signature is good for, which is how long somebody who saw it could send it again."""

_LABEL = "sig1"
_COMPONENTS = f'("@authority" "signature-agent";key="{_LABEL}")'


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSigner:
    """Signs requests. *agent* is the https URL whose directory has the public key; *nonce* is never twice."""

    agent: str
    public_key: bytes
    sign: Callable[[bytes], bytes] = field(repr=False)
    now: Callable[[], datetime]
    nonce: Callable[[], bytes]

    def headers_for(self, authority: str) -> tuple[tuple[bytes, bytes], ...]:
        """Return what one request to *authority* (as in `Host`) carries; each has its own."""
        created = int(self.now().timestamp())
        parameters = (
            f"{_COMPONENTS};created={created};expires={created + LIFETIME}"
            f';keyid="{key_thumbprint(self.public_key)}";alg="ed25519"'
            f';nonce="{b64encode(self.nonce()).decode()}";tag="web-bot-auth"'
        )
        base = (
            f'"@authority": {authority}\n"signature-agent";key="{_LABEL}": "{self.agent}"\n'
            f'"@signature-params": {parameters}'
        )
        signature = b64encode(self.sign(base.encode())).decode()
        return (
            (b"Signature-Agent", f'{_LABEL}="{self.agent}"'.encode()),
            (b"Signature-Input", f"{_LABEL}={parameters}".encode()),
            (b"Signature", f"{_LABEL}=:{signature}:".encode()),
        )


def key_directory(public_keys: Iterable[bytes]) -> dict[str, Any]:
    """Return the directory of keys, each once, in the order given."""
    keys = [
        {**_jwk(key), "kid": key_thumbprint(key), "alg": "EdDSA", "use": "sig"}
        for key in dict.fromkeys(public_keys)
    ]
    return {"keys": keys}


def key_thumbprint(public_key: bytes) -> str:
    """Name a key by its SHA-256 thumbprint."""
    plain = json.dumps(_jwk(public_key), sort_keys=True, separators=(",", ":"))
    return _base64url(hashlib.sha256(plain.encode()).digest())


def _jwk(public_key: bytes) -> Mapping[str, str]:
    return {"kty": "OKP", "crv": "Ed25519", "x": _base64url(public_key)}


def _base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
