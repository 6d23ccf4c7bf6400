"""Choose the encoder by how much there is to encode."""

import math
from collections.abc import Collection

from indexes.embed.child import CheckedEncoder
from indexes.embed.routes import Dtype, EncodingRoute
from indexes.ports import Encoded, TokenEncoder, Vector

GPU_PAYS = 300_000
"""Characters, about 600 chunks: what the exported model encodes while torch is being imported and checked."""

BF16_PAYS = 1_500_000
"""The same where torch multiplies in bf16 on a CPU. Source: docs/decisions/0003-onnx-encoder.md."""


def light_characters(dtype: Dtype, *, on_gpu: bool, fast_bf16: bool, torch: bool) -> float:
    """Return how many characters the exported model encodes before torch takes over; infinite: all.

    In fp32 on a CPU torch is slower. What only torch gives is left to it even where it is not installed, so
    that the run ends with the line that installs it.
    """
    if dtype is Dtype.BF16 or (on_gpu and not torch):
        return 0
    if on_gpu:
        return GPU_PAYS
    return BF16_PAYS if torch and fast_bf16 and dtype is Dtype.AUTO else math.inf


class FrugalEncoder:
    """Keeps the port TokenEncoder with two of the same model: one quick to start, one quick to run.

    Documents go to the light one until more than *light_characters* have come or were said to come, then to
    the heavy one, which a run with few changes so never starts. With *pays_in_bf16* they come back once the
    heavy one's start check chose fp32: a processor that names bf16 may be slower in it. Both are within 1e-5
    of each other, or within the cosine that the heavy one's route was checked for. Queries always go to the
    light one.
    """

    def __init__(
        self,
        light: TokenEncoder,
        heavy: CheckedEncoder,
        *,
        light_characters: float = GPU_PAYS,
        pays_in_bf16: bool = False,
    ) -> None:
        self._light = light
        self._heavy = heavy
        self._pays_in_bf16 = pays_in_bf16
        self._light_characters = light_characters
        self._expected = self._encoded = 0

    @property
    def dim(self) -> int:
        return self._light.dim

    @property
    def model_sha256(self) -> str:
        return self._light.model_sha256

    def expect(self, texts: Collection[str]) -> None:
        """Say what is coming: there is no use in beginning with the light one where that is much."""
        self._expected += sum(len(text) for text in texts)

    def encode_query(self, text: str) -> Vector:
        return self._light.encode_query(text)

    def encode_documents(self, texts: Collection[str]) -> Vector:
        return self._chosen(texts).encode_documents(texts)

    def encode_query_tokens(self, text: str) -> Vector:
        return self._light.encode_query_tokens(text)

    def encode_with_tokens(self, texts: Collection[str]) -> Encoded:
        return self._chosen(texts).encode_with_tokens(texts)

    def _chosen(self, texts: Collection[str]) -> TokenEncoder:
        self._encoded += sum(len(text) for text in texts)
        few = max(self._encoded, self._expected) <= self._light_characters
        return self._light if few or self._found_not_to_pay() else self._heavy

    def _found_not_to_pay(self) -> bool:
        check = self._heavy.route_check
        return self._pays_in_bf16 and check is not None and check.route is EncodingRoute.FP32

    def count_tokens(self, text: str) -> int:
        return self._light.count_tokens(text)
