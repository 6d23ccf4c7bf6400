"""An encoder for child processes that fails on request."""

import os
from collections.abc import Collection

from indexes.embed.routes import Route, RouteCheck
from indexes.embed.weights import ModelSpec
from indexes.ports import Vector
from schemas.errors import SchemaMismatch
from tests.fakes.encoder import HashEncoder

RAISE, DIE = "raise an error", "die at once"


class FailingEncoder(HashEncoder):
    """HashEncoder, but for two texts: one raises, the other kills the process."""

    @property
    def route_check(self) -> RouteCheck:
        return RouteCheck(route=Route.FP32, reason=f"process {os.getpid()}")

    def encode_documents(self, texts: Collection[str]) -> Vector:
        if RAISE in texts:
            raise SchemaMismatch("refused", subject=RAISE)
        if DIE in texts:
            os._exit(1)
        return super().encode_documents(texts)


def build_failing_encoder(spec: ModelSpec) -> FailingEncoder:
    """Make one as wide as *spec* says."""
    return FailingEncoder(spec.dim)


def write_file(path: str, *, content: str = "") -> None:
    """Write a file, or fail as writing does."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{content}{os.getpid()}")
