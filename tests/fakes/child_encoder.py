"""An encoder for child processes that fails on request."""

import os
import time
from collections.abc import Collection

from indexes.embed.routes import EncodingRoute, RouteCheck
from indexes.embed.weights import ModelSpec
from indexes.ports import Vector
from schemas.errors import SchemaMismatch
from tests.fakes.encoder import HashEncoder

RAISE, DIE, WAIT = "raise an error", "die at once", "wait a second"


class FailingEncoder(HashEncoder):
    """HashEncoder, but for three texts: one raises, one kills the process, one takes its time."""

    @property
    def route_check(self) -> RouteCheck:
        return RouteCheck(route=EncodingRoute.FP32, reason=f"process {os.getpid()}")

    def encode_documents(self, texts: Collection[str]) -> Vector:
        if RAISE in texts:
            raise SchemaMismatch("refused", subject=RAISE)
        if DIE in texts:
            os._exit(1)
        if WAIT in texts:
            time.sleep(1.0)
        return super().encode_documents(texts)


def build_failing_encoder(spec: ModelSpec) -> FailingEncoder:
    """Make one as wide as *spec* says."""
    return FailingEncoder(spec.dim)


def write_file(path: str, *, content: str = "") -> None:
    """Write a file, or fail as writing does."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{content}{os.getpid()}")
