"""Which documents are derived again from their bytes, and which cannot be."""

from collections.abc import Collection, Iterable

from schemas.documents import KnownDocument, LiveDocument
from schemas.hashing import sha256_hex

OTHER_BYTES = "the bytes kept are not those that readers see: newer ones came and were not published"
NO_BYTES = "its bytes are not kept"
WITHHELD = "its bytes are not kept, for the secrets in them"
OTHER_VERSION = "another version of the pipeline parsed it; the next run of its source parses it again"
NO_SOURCE = "the ledger does not know its source; a run of the source adds it"


def choose_sample(docs: Iterable[str], *, count: int, generation: int, seed: int) -> tuple[str, ...]:
    """Choose *count* documents by the hash of seed, generation and node id, in id order.

    The same index and seed give the same sample; another generation gives another, so that in time all are
    looked at.
    """
    ranked = sorted(docs, key=lambda doc: sha256_hex(f"{seed}:{generation}:{doc}"))
    return tuple(sorted(ranked[:count]))


def why_not_derived(
    live: LiveDocument, known: KnownDocument | None, *, versions: Collection[str] | None
) -> str | None:
    """Say why a document cannot be derived from bytes; None where it can be.

    *versions* are those that this program would parse its source with, None where the source is unknown.
    """
    if versions is None:
        return NO_SOURCE
    if known is None or known.raw_sha is None:
        return NO_BYTES
    if known.is_withheld:
        return WITHHELD
    if known.fragment_sha != live.fragment_sha or known.parsed_sha != known.raw_sha:
        return OTHER_BYTES
    return None if known.pipeline_version in versions else OTHER_VERSION
