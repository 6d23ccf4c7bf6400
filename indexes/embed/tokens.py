"""Tokens of a text as the model sees them, without torch or transformers."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from schemas.errors import DamageFound

_WORD = re.compile(r"[^ \t\n\r]+")
_REMEMBERED = 65_536
_LONGEST = 64
"""Words whose counts are kept, and their most characters: prose repeats its words, hashes do not return."""


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
        self._by_words = _splits_at_spaces(tokenizer)
        self._known = lru_cache(maxsize=_REMEMBERED)(self._count)

    def count(self, text: str) -> int:
        """Tokens of *text* without the special ones.

        BERT's tokenizers cut at white space before anything else, so that words can be counted one by one,
        and a word met before for nothing: ten times as fast on prose.
        """
        if not self._by_words:
            return self._count(text)
        words = _WORD.findall(text)
        if max(map(len, words), default=0) <= _LONGEST:
            return sum(map(self._known, words))
        return sum(self._known(word) if len(word) <= _LONGEST else self._count(word) for word in words)

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Token ids of each text with the special tokens, cut to *max_tokens* in all."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        for encoding in encodings:
            encoding.truncate(max_tokens - self._special)
        return [self._tokenizer.post_process(encoding).ids for encoding in encodings]


def _splits_at_spaces(tokenizer: Any) -> bool:
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    return (
        isinstance(tokenizer.model, WordPiece)
        and isinstance(tokenizer.normalizer, BertNormalizer)
        and isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
    )
