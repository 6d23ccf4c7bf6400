"""Every text of the changed documents that has no vector yet gets one.

Encoding takes most of a first run, so it goes on in the background from the first parsed document on.
"""

import logging
from collections.abc import Iterable, Sequence

from flows.run.contexts import CrawlContext, DeriveContext
from flows.run.fragments import load_fragment
from indexes.embed.background import BackgroundEncoder
from indexes.embed.texts import vector_texts
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


def embed_fragments(run: DeriveContext, fragment_shas: Sequence[str]) -> int:
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
