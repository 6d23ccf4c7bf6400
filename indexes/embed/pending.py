"""Encode what has no vector yet, saving as it goes, so that a kill wastes at most one batch."""

from collections.abc import Callable, Collection, Iterable

from indexes.ports import Encoder, TokenEncoder, VectorCache
from schemas.errors import ConfigError, Stopped
from schemas.hashing import sha256_hex

BATCH = 256
CHARACTERS = 64_000
"""Texts saved together, and their characters: 64 of the longest ones are 3 s in fp32 on two cores, so a stop
is soon obeyed. Of short ones more go together, or handing them to another process would take its share."""

LONG_TEXT = CHARACTERS // 64
"""Characters of such a long one: what encodes many texts at once is given as many of these."""


def encode_missing(
    texts: Iterable[str],
    *,
    cache: VectorCache,
    encoder: Encoder,
    on_progress: Callable[[int, int], None],
    should_stop: Callable[[], bool],
    batch: int = BATCH,
    characters: int = CHARACTERS,
    with_tokens: bool = False,
) -> int:
    """Encode the distinct texts that *cache* lacks, and give their number.

    Args: on_progress: called with (texts done, texts to do) before the first batch and after each. batch,
    characters: most that are saved together. with_tokens: keep their token vectors, too.
    Raises: ConfigError: the encoder gives none; Stopped: *should_stop* said so between two batches; what was
    encoded is kept.
    """
    pending = plan_batches(cache.missing(texts), batch, characters)
    total = sum(len(part) for part in pending)
    done = 0
    on_progress(done, total)
    for part in pending:
        if should_stop():
            raise Stopped(f"stopped after {done} of {total} texts; run again to continue", subject="embed")
        _encode(part, cache, encoder, with_tokens=with_tokens)
        done += len(part)
        on_progress(done, total)
    return done


def _encode(texts: Collection[str], cache: VectorCache, encoder: Encoder, *, with_tokens: bool) -> None:
    if not with_tokens:
        cache.put(texts, encoder.encode_documents(texts))
        return
    if not isinstance(encoder, TokenEncoder):
        raise ConfigError(
            "this encoder has no token vectors; turn it off", subject="SITEGRAPH_LATE_INTERACTION"
        )
    found = encoder.encode_with_tokens(texts)
    cache.put(texts, found.vectors, found.tokens)


def plan_batches(
    texts: Iterable[str], batch: int, characters: int = CHARACTERS
) -> tuple[tuple[str, ...], ...]:
    """Cut texts into batches of like length, of at most *batch* texts and *characters*, and mix the batches.

    Texts of like length need little padding.

    Mixed (by hash, so always the same way), the pace is even, and progress tells the time that is left.
    """
    ordered = sorted(texts, key=lambda text: (len(text), text))
    batches: list[tuple[str, ...]] = []
    while ordered:
        # The longest first: it decides how many go with it.
        size = max(1, min(batch, characters // max(1, len(ordered[-1]))))
        batches.append(tuple(ordered[-size:]))
        del ordered[-size:]
    return tuple(sorted(batches, key=lambda part: sha256_hex(part[0])))
