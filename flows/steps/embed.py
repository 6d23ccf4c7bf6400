"""Step 5: every text of the changed documents that has no vector yet gets one."""

import json
from collections.abc import Sequence

from prefect import task

from flows.active import active
from flows.wiring import Pipeline
from indexes.embed.pending import encode_missing
from indexes.embed.texts import vector_texts
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk
from schemas.records import from_record


def load_fragment(pipeline: Pipeline, sha256: str) -> GraphFragment:
    """Read a parsed document back by hash."""
    return from_record(GraphFragment, json.loads(pipeline.index.fragments.get(sha256)))


def embed_fragments(pipeline: Pipeline, fragment_shas: Sequence[str]) -> int:
    """Encode what the fragments' chunks say; give how many texts were new."""
    fragments = (load_fragment(pipeline, sha) for sha in fragment_shas)
    return embed_chunks(pipeline, [chunk for fragment in fragments for chunk in fragment.chunks])


def embed_chunks(pipeline: Pipeline, chunks: Sequence[Chunk]) -> int:
    """Encode the texts of chunks that have no vector yet; give their number."""
    texts = {text for chunk in chunks for text in vector_texts(chunk)}
    shown = 0

    def show(done: int, total: int) -> None:
        nonlocal shown
        if done == 0:
            pipeline.progress.expect("embed", total)
        pipeline.progress.advance("embed", done - shown)
        shown = done
        pipeline.crash_point("embed.saved")

    return encode_missing(
        texts,
        cache=pipeline.vectors,
        encoder=pipeline.encoder,
        on_progress=show,
        should_stop=pipeline.stop.is_set,
    )


@task(task_run_name="embed")
def embed_task(run_id: str, fragment_shas: list[str]) -> int:
    """Encode one batch of documents."""
    return embed_fragments(active(run_id), fragment_shas)
