"""Secrets in text: tokens of known forms, private keys, and values that a name calls secret."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from schemas.secret_formats import FORMATS, PRIVATE_KEY
from schemas.secret_values import entropy, find_values

HIGH_ENTROPY = "high_entropy"
"""Kind of a value that only its name and its looks give away."""

_SHORTEST = 20
"""Characters of the shortest token; a hundred marks are looked for in the words as long as that alone."""

_SAMPLE = re.compile(r"example|xxxx|your|\.\.\.|\*\*\*|1234567890?abcdef|0{8}", re.IGNORECASE)
_LEAST_BITS = 2.8
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
_KEY_CHARACTERS = 40
"""Least length of a private key; the shortest (Ed25519, RFC 8410) has 64, `...` between two lines none."""

_PIECE = re.compile(r"(?<!\S)[A-Za-z0-9+/=_.~%-]{12,}(?!\S)")


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that nobody may read, and what kind of secret it is; its repr tells the kind alone."""

    kind: str
    value: str = field(repr=False)

    @property
    def pieces(self) -> frozenset[str]:
        """The value, and the lines of one that has several: other texts may contain them one by one."""
        return frozenset((self.value, *_PIECE.findall(self.value)))


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the distinct secrets of *text*, those of known forms first."""
    values = (Secret(HIGH_ENTROPY, value) for value in find_values(text))
    return tuple({secret.value: secret for secret in (*values, *find_tokens(text))}.values())


def find_tokens(text: str) -> Iterator[Secret]:
    """Yield the secrets that their own form gives away, whatever stands around them."""
    long_words = " ".join({word for word in text.split() if len(word) >= _SHORTEST})  # markup repeats its own
    for form in FORMATS:
        if any(map(long_words.__contains__, form.marks)):
            for found in re.finditer(form.pattern, text):
                if _is_drawn(found[0]):
                    yield Secret(form.kind, found[0])
    if PRIVATE_KEY.marks[0] in text:
        for found in re.finditer(PRIVATE_KEY.pattern, text):
            if sum(map(len, _KEY_LINE.findall(found[0]))) >= _KEY_CHARACTERS:
                yield Secret(PRIVATE_KEY.kind, found[0])


def _is_drawn(token: str) -> bool:
    """Whether a token is more than the form of one: `ghp_xxxx…` and AWS's own `…EXAMPLE` are not."""
    return not _SAMPLE.search(token) and entropy(token) >= _LEAST_BITS
