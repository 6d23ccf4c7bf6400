"""Which arithmetic encodes documents in bulk: fp32, or bf16 where the chip is faster and exact enough.

Autocast to bf16 keeps weights, sums and normalisation in fp32 and multiplies matrices in bf16: two to
three times as fast on chips with AMX or AVX512-BF16, at a cosine of .99997 to fp32. Weights in bf16 are
no faster and lose ten times as much, so they are not offered.
"""

from dataclasses import dataclass
from enum import StrEnum

LEAST_COSINE = 0.9999
"""What a route may differ from fp32; also what "incremental equals rebuild" allows.

Source: docs/decisions/0003-onnx-encoder.md.
"""

_PASSAGE = """
the queue keeps every message until a worker confirms it, and a message that nobody confirms comes back after
the visibility timeout; set retry_limit=5 in worker.toml (default 3) or pass --retries on the command line.
Version 2.14 reads § 7.3 of the manual differently: names are case folded, naïve paths like
/srv/data_01/Zürich are kept, and SELECT count(*) FROM jobs WHERE state <> 'done' shows what is left. Nothing
is lost when a node stops.
"""

_WORDS = _PASSAGE.split()

CHECK_TEXTS = tuple(" ".join(_WORDS[(11 * i + j) % len(_WORDS)] for j in range(3 + 6 * i)) for i in range(32))
"""32 fixed texts of 3 tokens to more than the window of 256, on which a route must agree with fp32."""

EXPORT_TEXTS = (*CHECK_TEXTS[:2], *CHECK_TEXTS[7::8])
"""Six of them, from the shortest to the longest: a wrong graph differs on any text, and the other 26 cost a
first run 8 CPU seconds.
"""


class Dtype(StrEnum):
    """Which arithmetic is asked for: the faster exact-enough one, always fp32, or bf16 if exact enough."""

    AUTO = "auto"
    FP32 = "fp32"
    BF16 = "bf16"


class EncodingRoute(StrEnum):
    """How documents are encoded in bulk."""

    FP32 = "fp32"
    BF16_AUTOCAST = "bf16-autocast"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCheck:
    """What the start check found; goes into the run report.

    `cosine` is the smallest to fp32 over CHECK_TEXTS, `speedup` is seconds of fp32 by seconds of bf16;
    both are None where the chip has no bf16.
    """

    route: EncodingRoute
    reason: str
    cosine: float | None = None
    speedup: float | None = None


def choose_route(
    *, cosine: float, seconds: tuple[tuple[float, float], ...], dtype: Dtype = Dtype.AUTO
) -> RouteCheck:
    """Take bf16 where it is both exact enough and faster, or exact enough and asked for.

    Args: seconds: of fp32 and bf16, several times in turn; the least of each counts, since whatever
    else runs on the machine can only add to them.
    """
    speedup = min(fp32 for fp32, _ in seconds) / max(min(bf16 for _, bf16 in seconds), 1e-9)
    if not cosine >= LEAST_COSINE:
        route, reason = (
            EncodingRoute.FP32,
            f"bf16 differs too much (cosine {cosine:.6f}, least {LEAST_COSINE})",
        )
    elif speedup <= 1.0 and dtype is not Dtype.BF16:
        route, reason = EncodingRoute.FP32, f"bf16 is not faster here ({speedup:.2f}x)"
    else:
        route, reason = EncodingRoute.BF16_AUTOCAST, f"bf16 is {speedup:.1f}x as fast, cosine {cosine:.6f}"
    return RouteCheck(route=route, reason=reason, cosine=cosine, speedup=speedup)
