"""Which models give the same vectors, and what a change is called."""

from dataclasses import replace
from pathlib import Path

from flows.run.versions import is_same, manifest_of, names_of_change
from indexes.embed.routes import Dtype
from indexes.embed.weights import ModelSpec, encoder_key, model_key

SPEC = ModelSpec(name="tiny", path=Path("tiny"), sha256="0" * 64, dim=8, max_tokens=16)


def test_token_vectors_are_a_change_of_what_an_index_keeps() -> None:
    held, late = manifest_of(SPEC), replace(SPEC, token_vectors=True)

    assert is_same(held, SPEC)
    assert not is_same(held, late)
    assert is_same(manifest_of(late), late)
    assert names_of_change(held, late) == ("tiny (late interaction off)", "tiny (late interaction on)")


def test_what_differs_is_named_once_each() -> None:
    other = replace(SPEC, dtype=Dtype.FP32, token_vectors=True)

    assert names_of_change(manifest_of(SPEC), other) == (
        "tiny (auto, late interaction off)",
        "tiny (fp32, late interaction on)",
    )


def test_vectors_of_texts_are_shared_and_exports_are_not() -> None:
    late = replace(SPEC, token_vectors=True)

    assert model_key(late) == model_key(SPEC)
    assert encoder_key(late) != encoder_key(SPEC)
