"""Tokens of a text as the model sees them, without torch or transformers."""

from collections.abc import Sequence
from pathlib import Path

from schemas.errors import DamageFound


class TokenCounter:
    """Counts and cuts by a `tokenizer.json`; may be shared between threads."""

    def __init__(self, tokenizer_json: Path) -> None:
        """Load the tokenizer (about 20 ms).

        Raises: DamageFound: the file is missing or not a tokenizer.
        """
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(tokenizer_json))
        except Exception as error:  # the library has no class of its own
            raise DamageFound(
                f"cannot be read as a tokenizer: {error}", subject=str(tokenizer_json)
            ) from error
        # Files on the hub carry the padding and truncation of their last use.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._special = tokenizer.num_special_tokens_to_add(False)

    def count(self, text: str) -> int:
        """Tokens of *text* without the special ones."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Token ids of each text with the special tokens, cut to *max_tokens* in all."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        for encoding in encodings:
            encoding.truncate(max_tokens - self._special)
        return [self._tokenizer.post_process(encoding).ids for encoding in encodings]
