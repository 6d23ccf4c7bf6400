"""Encode what has no vector yet, saving as it goes, so that a kill wastes at most one batch."""

from collections.abc import Callable, Iterable

from indexes.ports import Encoder, VectorCache
from schemas.errors import Stopped
from schemas.hashing import sha256_hex

BATCH = 64
"""Texts saved together: 3 s of the longest ones in fp32 on two cores, so a stop is soon obeyed. More would
not be faster, since batches are cut from texts in order of length."""


def encode_missing(
    texts: Iterable[str],
    *,
    cache: VectorCache,
    encoder: Encoder,
    on_progress: Callable[[int, int], None],
    should_stop: Callable[[], bool],
    batch: int = BATCH,
) -> int:
    """Encode the distinct texts that *cache* lacks, and give their number.

    Args: on_progress: called with (texts done, texts to do) before the first batch and after each.
    Raises: Stopped: *should_stop* said so between two batches; what was encoded is kept.
    """
    pending = plan_batches(cache.missing(texts), batch)
    total = sum(len(part) for part in pending)
    done = 0
    on_progress(done, total)
    for part in pending:
        if should_stop():
            raise Stopped(f"stopped after {done} of {total} texts; run again to go on", subject="embed")
        cache.put(part, encoder.encode_documents(part))
        done += len(part)
        on_progress(done, total)
    return done


def plan_batches(texts: Iterable[str], batch: int) -> tuple[tuple[str, ...], ...]:
    """Cut texts into batches of like length, so that little is padded, and mix the batches.

    Mixed (by hash, so always the same way), the pace is even, and progress tells the time that is left.
    """
    ordered = sorted(texts, key=lambda text: (len(text), text))
    batches = [tuple(ordered[i : i + batch]) for i in range(0, len(ordered), batch)]
    return tuple(sorted(batches, key=lambda part: sha256_hex(part[0])))
