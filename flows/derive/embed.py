"""Every text without a vector gets one: of changed documents, and of all when the model changes.

Encoding takes most of a first run, so it goes on in the background from the first parsed document on.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence

from flows.run.contexts import CrawlContext, IndexContext, load_fragment
from indexes.embed.pending import BackgroundEncoder, vector_texts
from schemas.batches import batched
from schemas.changes import RowChanges
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk

_log = logging.getLogger(__name__)


def embed_ahead(run: CrawlContext, fragment_sha: str, fragment: GraphFragment) -> int:
    """Hand over what a new document says while others are being parsed; return how many texts are new.

    Where there is no room the document waits for `embed_fragments`.
    """
    taken = run.encoding().offer(_texts(fragment.chunks))
    if taken is None:
        return 0
    run.embedded_ahead.add(fragment_sha)
    return taken


def embed_fragments(run: IndexContext, fragment_shas: Sequence[str]) -> int:
    """Give the texts of documents their vectors; return how many texts were new, once all have theirs."""
    encoding, taken = run.encoding(), 0
    for sha in fragment_shas:
        run.raise_if_stopped()
        if sha not in run.embedded_ahead:
            taken += embed_chunks(encoding, load_fragment(run.index, sha).chunks)
    if left := encoding.taken - encoding.encoded:
        _log.info("waiting for the encoder: %d of %d texts are left", left, encoding.taken)
    before = encoding.seconds_waited
    encoding.wait()
    waited = encoding.seconds_waited - before
    _log.info("embedded %d texts, of which the stage waited %.1f s for the last", encoding.encoded, waited)
    return taken


def embed_chunks(encoding: BackgroundEncoder, chunks: Iterable[Chunk]) -> int:
    """Have the texts of chunks encoded that have no vector yet; return how many are new."""
    return encoding.put(_texts(chunks))


def _texts(chunks: Iterable[Chunk]) -> set[str]:
    return {text for chunk in chunks for text in vector_texts(chunk)}


CHUNKS_PER_PAYLOAD = 1_000


def carry_over(run: IndexContext, base: int, *, without: Collection[str]) -> Iterator[tuple[RowChanges, int]]:
    """Yield every chunk of the base generation but those *without*, to be encoded again, whatever source.

    With each payload comes how many of its texts had no vector.
    """
    kept = (chunk for chunk in run.index.chunks.at(base).scan() if chunk.id not in without)
    for chunks in batched(kept, CHUNKS_PER_PAYLOAD):
        run.raise_if_stopped()
        texts = embed_chunks(run.encoding(), chunks)
        yield RowChanges(chunks=tuple(chunks)), texts
