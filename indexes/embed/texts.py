"""What each vector of a chunk says. A vector is found again by exactly these texts."""

from collections.abc import Iterable, Mapping

import numpy as np

from indexes.ports import ChunkVectors, TokenVectors, Vector, no_tokens
from schemas.encoded import encoded_headings, encoded_text
from schemas.nodes import Chunk


def text_input(chunk: Chunk) -> str:
    """Headings from the top, then the text: a chunk out of its section often says too little."""
    return encoded_text(chunk.heading_path, chunk.text)


def heading_input(chunk: Chunk) -> str:
    """Headings from the top; where there are none, the text itself.

    Never the site's trail: a renamed site would encode everything again.
    """
    return encoded_headings(chunk.heading_path) or chunk.text


def anchor_inputs(chunk: Chunk) -> tuple[str, ...]:
    """Texts of links into the chunk, as found."""
    return tuple(text for text in chunk.anchor_texts if text.strip())


def caption_inputs(chunk: Chunk) -> tuple[str, ...]:
    """Captions of tables and figures in the chunk."""
    return tuple(text for text in chunk.captions if text.strip())


def vector_texts(chunk: Chunk) -> tuple[str, ...]:
    """Every distinct text that the chunk needs a vector of."""
    texts = (text_input(chunk), heading_input(chunk), *anchor_inputs(chunk), *caption_inputs(chunk))
    return tuple(dict.fromkeys(texts))


def chunk_vectors(
    chunk: Chunk, lookup: Mapping[str, Vector], dim: int, tokens: Mapping[str, TokenVectors] | None = None
) -> ChunkVectors:
    """Gather the chunk's vectors; *lookup* contains one of shape (dim,) for each of its `vector_texts`.

    Args: tokens: token vectors by text, of chunks that keep theirs.
    Raises: KeyError: a text has no vector yet.
    """
    return ChunkVectors(
        text=lookup[text_input(chunk)],
        heading=lookup[heading_input(chunk)],
        anchors=_stack((lookup[text] for text in anchor_inputs(chunk)), dim),
        captions=_stack((lookup[text] for text in caption_inputs(chunk)), dim),
        tokens=tokens[text_input(chunk)] if tokens else no_tokens(),
    )


def _stack(vectors: Iterable[Vector], dim: int) -> Vector:
    return np.array(list(vectors), np.float32).reshape(-1, dim)
