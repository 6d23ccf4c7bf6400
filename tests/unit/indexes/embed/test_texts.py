"""What each vector of a chunk says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from indexes.embed.pending import (
    anchor_inputs,
    caption_inputs,
    chunk_vectors,
    heading_input,
    text_input,
    vector_texts,
)
from schemas.nodes import Chunk, DocumentKind
from tests.fakes.encoder import HashEncoder

CHUNK = Chunk(
    id="chunk:1",
    kind=DocumentKind.HTML,
    source="docs",
    doc="page:1",
    text="Run the server as its own user.",
    content_hash="0" * 64,
    ordinal=0,
    offsets=(0, 31),
    token_count=8,
    heading_path=("Install", "Users"),
    section="Users",
    anchor_texts=("own user", "the server user"),
    captions=("Table 1. Users",),
)
ENCODER = HashEncoder()


def test_a_passage_is_encoded_with_its_headings() -> None:
    assert text_input(CHUNK) == "Install > Users\nRun the server as its own user."
    assert text_input(replace(CHUNK, heading_path=())) == "Run the server as its own user."


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Install > Users"),
        ({"breadcrumbs": ("Manual", "Setup")}, "Install > Users"),
        ({"heading_path": (), "breadcrumbs": ("Manual",)}, "Run the server as its own user."),
    ],
)
def test_a_heading_never_says_the_trail_of_the_site(changes: dict[str, Any], expected: str) -> None:
    assert heading_input(replace(CHUNK, **changes)) == expected


def test_chunks_of_one_heading_share_its_text() -> None:
    other = replace(CHUNK, id="chunk:2", text="Never as root.")

    assert heading_input(other) == heading_input(CHUNK)
    assert text_input(other) != text_input(CHUNK)


def test_blank_anchors_and_captions_say_nothing() -> None:
    chunk = replace(CHUNK, anchor_texts=("", " ", "user"), captions=("\n",))

    assert anchor_inputs(chunk) == ("user",)
    assert caption_inputs(chunk) == ()


def test_every_text_is_asked_for_once() -> None:
    chunk = replace(CHUNK, anchor_texts=("Install > Users", "own user"), captions=("own user",))

    assert vector_texts(chunk) == (text_input(chunk), "Install > Users", "own user")


def test_vectors_are_gathered_in_the_order_of_the_texts() -> None:
    texts = vector_texts(CHUNK)
    lookup = dict(zip(texts, ENCODER.encode_documents(texts), strict=True))

    vectors = chunk_vectors(CHUNK, lookup, ENCODER.dim)

    assert np.array_equal(vectors.text, lookup[text_input(CHUNK)])
    assert np.array_equal(vectors.heading, lookup["Install > Users"])
    assert np.array_equal(vectors.anchors, ENCODER.encode_documents(CHUNK.anchor_texts))
    assert np.array_equal(vectors.captions, ENCODER.encode_documents(CHUNK.captions))


def test_a_chunk_without_anchors_and_captions_has_none_of_their_vectors() -> None:
    chunk = replace(CHUNK, anchor_texts=(), captions=())
    texts = vector_texts(chunk)

    vectors = chunk_vectors(chunk, dict(zip(texts, ENCODER.encode_documents(texts), strict=True)), 32)

    assert vectors.anchors.shape == vectors.captions.shape == (0, 32)
    assert vectors.anchors.dtype == np.float32


def test_a_text_that_was_not_encoded_is_an_error() -> None:
    with pytest.raises(KeyError, match="Install"):
        chunk_vectors(CHUNK, {}, 32)
