"""Step 5: every text of the changed documents that has no vector yet gets one.

Encoding takes most of a first run, so it goes on in the background from the first parsed document on, and
ends where vectors are first needed, in step 7.
"""

import logging
from collections.abc import Iterable, Sequence

from flows.run.fragments import load_fragment
from flows.run.pipeline import Pipeline
from indexes.embed.texts import vector_texts
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk

_log = logging.getLogger(__name__)


def embed_ahead(pipeline: Pipeline, fragment_sha: str, fragment: GraphFragment) -> None:
    """Hand over what a new document says while others are being parsed; without room it waits for step 5."""
    if pipeline.encoding.offer(_texts(fragment.chunks)):
        pipeline.embedded_ahead.add(fragment_sha)


def embed_fragments(pipeline: Pipeline, fragment_shas: Sequence[str]) -> int:
    """Have what the fragments' chunks say encoded; give how many texts were new."""
    before = pipeline.encoding.taken
    for sha in fragment_shas:
        if sha not in pipeline.embedded_ahead:
            embed_chunks(pipeline, load_fragment(pipeline, sha).chunks)
    return pipeline.encoding.taken - before


def embed_chunks(pipeline: Pipeline, chunks: Iterable[Chunk]) -> None:
    """Have the texts of chunks encoded that have no vector yet."""
    pipeline.encoding.put(_texts(chunks))


def wait_for_encoding(pipeline: Pipeline) -> int:
    """Wait until every text has its vector; give how many were encoded."""
    encoding, before = pipeline.encoding, pipeline.seconds_waited()
    if left := encoding.taken - encoding.encoded:
        _log.info("waiting for the encoder: %d of %d texts are left", left, encoding.taken)
    encoding.wait()
    waited = pipeline.seconds_waited() - before
    _log.info("embedded %d texts, of which the run waited %.1f s for the last", encoding.encoded, waited)
    return encoding.encoded


def _texts(chunks: Iterable[Chunk]) -> set[str]:
    return {text for chunk in chunks for text in vector_texts(chunk)}
