"""A server's gate that knows an agent by its directory of keys, by a library that we did not write."""

from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, InvalidSignature, algorithms
from http_message_signatures.resolvers import HTTPSignatureKeyResolver

from tests.fakes.site_server import Ask, Reply, Script

MOST_SECONDS = 60


class _Directory(HTTPSignatureKeyResolver):
    def __init__(self, keys: Mapping[str, Any]) -> None:
        self._keys = {key["kid"]: urlsafe_b64decode(key["x"] + "=") for key in keys["keys"]}

    def resolve_public_key(self, key_id: str) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(self._keys[key_id])


@dataclass
class Gate:
    """Lets signed requests to `origin` pass, each once; `directory` is what their agent publishes."""

    directory: Mapping[str, Any]
    origin: str = ""
    nonces: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)

    def check(self, path: str, headers: Mapping[str, str]) -> None:
        """Raise InvalidSignature unless a request is signed, for here, now and for the first time."""
        message = SimpleNamespace(method="GET", url=self.origin + path, headers=headers)
        verifier = HTTPMessageVerifier(
            signature_algorithm=algorithms.ED25519, key_resolver=_Directory(self.directory)
        )
        (result,) = verifier.verify(
            message,
            max_age=timedelta(seconds=MOST_SECONDS),
            expect_tag="web-bot-auth",
            require_components=('"@authority"', '"signature-agent";key="sig1"'),
        )
        said: Any = result.parameters
        if said["nonce"] in self.nonces:
            raise InvalidSignature("seen before")
        self.nonces.add(said["nonce"])
        assert {"created", "expires", "keyid", "alg"} <= said.keys()

    def guards(self, script: Script) -> Script:
        """The answer for those who pass; others get 403."""

        def answer(ask: Ask) -> Reply:
            try:
                self.check(ask.path, ask.headers)
            except InvalidSignature as error:
                self.refused.append(f"{ask.path}: {error}")
                return Reply(b"", 403)
            assert not isinstance(script, list)
            return script if isinstance(script, Reply) else script(ask)

        return answer
