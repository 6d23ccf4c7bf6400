"""Encoding what is missing, and stopping in the middle of it."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.embed.cache import SqliteVectorCache
from indexes.embed.pending import CHARACTERS, batches_by_length, encode_missing
from schemas.errors import ConfigError, Stopped
from tests.fakes.encoder import HashEncoder
from tests.fakes.memory_stores import MemoryVectorCache

TEXTS = tuple(f"text {'x' * (number % 7)} {number}" for number in range(25))


def _no_progress(_done: int, _total: int) -> None:
    return None


def test_each_distinct_text_is_encoded_once() -> None:
    cache, encoder = MemoryVectorCache(), HashEncoder()

    def encode() -> int:
        return encode_missing(
            TEXTS + TEXTS,
            cache=cache,
            encoder=encoder,
            batch=10,
            on_progress=_no_progress,
            should_stop=lambda: False,
        )

    assert encode() == 25
    assert encode() == 0
    assert encoder.encoded == 25
    assert cache.missing(TEXTS) == ()


def test_every_text_gets_its_own_vector() -> None:
    cache, encoder = MemoryVectorCache(), HashEncoder()

    encode_missing(
        TEXTS, cache=cache, encoder=encoder, batch=4, on_progress=_no_progress, should_stop=lambda: False
    )

    for text, vector in cache.get(TEXTS).items():
        assert (vector == encoder.encode_query(text)).all()


def test_progress_runs_from_nothing_to_all() -> None:
    calls: list[tuple[int, int]] = []

    encode_missing(
        TEXTS,
        cache=MemoryVectorCache(),
        encoder=HashEncoder(),
        batch=10,
        on_progress=lambda done, total: calls.append((done, total)),
        should_stop=lambda: False,
    )

    assert calls[0] == (0, 25)
    assert calls[-1] == (25, 25)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(calls) == 4


def test_a_stop_keeps_what_is_encoded_and_the_next_run_does_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    first, second = HashEncoder(), HashEncoder()
    answers = iter([False, True])

    with pytest.raises(Stopped, match=r"after (5|10) of 25 texts"):
        encode_missing(
            TEXTS,
            cache=SqliteVectorCache(path, model_key="m"),
            encoder=first,
            batch=10,
            on_progress=_no_progress,
            should_stop=lambda: next(answers),
        )
    encode_missing(
        TEXTS,
        cache=SqliteVectorCache(path, model_key="m"),
        encoder=second,
        batch=10,
        on_progress=_no_progress,
        should_stop=lambda: False,
    )

    assert 0 < first.encoded < 25
    assert first.encoded + second.encoded == 25


@given(st.lists(st.text(max_size=20), max_size=60), st.integers(1, 9))
def test_batches_hold_every_text_once_and_texts_of_like_length(texts: list[str], batch: int) -> None:
    batches = batches_by_length(set(texts), batch)

    assert sorted(text for part in batches for text in part) == sorted(set(texts))
    assert all(len(part) <= batch for part in batches)
    assert all(len(part) == 1 or sum(map(len, part)) <= CHARACTERS for part in batches)
    spans = sorted((len(part[0]), len(part[-1])) for part in batches)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert batches_by_length(sorted(set(texts), reverse=True), batch) == batches


def test_token_vectors_come_in_the_same_call_as_vectors() -> None:
    cache, encoder = MemoryVectorCache(token_dim=32), HashEncoder()

    def encode() -> int:
        return encode_missing(
            TEXTS,
            cache=cache,
            encoder=encoder,
            on_progress=_no_progress,
            should_stop=lambda: False,
            with_tokens=True,
        )

    assert encode() == 25
    assert encode() == 0
    assert encoder.encoded == 25
    assert cache.tokens(TEXTS).keys() == set(TEXTS)


def test_an_encoder_without_token_vectors_says_which_setting_asks_for_them() -> None:
    class Plain:
        dim, model_sha256 = 32, "0"
        encode_query = encode_documents = count_tokens = HashEncoder.encode_query

    with pytest.raises(ConfigError, match="SITEGRAPH_LATE_INTERACTION"):
        encode_missing(
            TEXTS,
            cache=MemoryVectorCache(token_dim=32),
            encoder=Plain(),  # type: ignore[arg-type]
            on_progress=_no_progress,
            should_stop=lambda: False,
            with_tokens=True,
        )
