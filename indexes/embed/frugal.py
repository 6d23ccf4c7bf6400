"""Choose the encoder by how much there is to encode."""

from collections.abc import Collection

from indexes.ports import Encoded, TokenEncoder, Vector

LIGHT_CHARACTERS = 300_000
"""About 600 chunks: what the exported model encodes while torch is still being imported and checked."""


class FrugalEncoder:
    """Keeps the port TokenEncoder with two of the same model: one quick to start, one quick to run.

    Documents go to the light one until more than *light_characters* have come or were said to come, then to
    the heavy one, which a run with few changes so never starts. Both are within 1e-5 of each other, or
    within the cosine that the heavy one's route was checked for. Queries always go to the light one.
    """

    def __init__(
        self, light: TokenEncoder, heavy: TokenEncoder, *, light_characters: int = LIGHT_CHARACTERS
    ) -> None:
        self._light = light
        self._heavy = heavy
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
        return self._light if few else self._heavy

    def count_tokens(self, text: str) -> int:
        return self._light.count_tokens(text)
