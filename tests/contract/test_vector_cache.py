"""What the port VectorCache promises, over every cache that ships."""

from pathlib import Path

import numpy as np
import pytest

from indexes.embed.cache import SqliteVectorCache
from indexes.embed.shared_cache import SharedVectorCache
from indexes.ports import VectorCache
from indexes.stores.raw import FileRawStore
from schemas.errors import SchemaMismatch
from tests.fakes.encoder import HashEncoder
from tests.fakes.memory_stores import MemoryVectorCache

ENCODER = HashEncoder()
KINDS = ["memory", "sqlite", "shared"]


def shared(folder: Path, *, token_dim: int = 0) -> SharedVectorCache:
    """One of the caches that share a folder."""
    keys, vectors = (FileRawStore(folder / name) for name in ("keys", "vectors"))
    return SharedVectorCache(keys, vectors, model_key="model-a", token_dim=token_dim)


@pytest.fixture(params=KINDS)
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> VectorCache:
    """An empty cache."""
    if request.param == "memory":
        return MemoryVectorCache()
    if request.param == "shared":
        return shared(tmp_path)
    return SqliteVectorCache(tmp_path / "cache" / "vectors.sqlite", model_key="model-a")


@pytest.fixture(params=KINDS)
def token_cache(request: pytest.FixtureRequest, tmp_path: Path) -> VectorCache:
    """An empty cache that also keeps token vectors."""
    if request.param == "memory":
        return MemoryVectorCache(token_dim=32)
    if request.param == "shared":
        return shared(tmp_path, token_dim=32)
    return SqliteVectorCache(tmp_path / "cache" / "vectors.sqlite", model_key="model-a", token_dim=32)


def test_every_distinct_text_is_missing_at_first_in_order(cache: VectorCache) -> None:
    assert cache.missing(["pear", "apple", "pear", "Äpfel"]) == ("apple", "pear", "Äpfel")


def test_no_texts_are_no_work(cache: VectorCache) -> None:
    cache.put((), np.zeros((0, 32), np.float32))

    assert cache.missing(()) == ()
    assert cache.get(()) == {}


def test_kept_vectors_come_back_bit_by_bit(cache: VectorCache) -> None:
    texts = ("apple", "", "line one\nline two", "日本語")
    vectors = ENCODER.encode_documents(texts)

    cache.put(texts, vectors)

    found = cache.get(texts)
    assert set(found) == set(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert found[text].dtype == np.float32
        assert np.array_equal(found[text], vector)
    assert cache.missing((*texts, "new")) == ("new",)


def test_texts_that_differ_in_one_character_are_different_texts(cache: VectorCache) -> None:
    cache.put(("apple",), ENCODER.encode_documents(("apple",)))

    assert cache.missing(("apple ", "Apple", "apple")) == ("Apple", "apple ")


def test_the_first_vector_of_a_text_stays(cache: VectorCache) -> None:
    first, second = ENCODER.encode_documents(("one", "two"))
    cache.put(("text",), first[None])

    cache.put(("text",), second[None])

    assert np.array_equal(cache.get(("text",))["text"], first)


def test_thousands_of_texts_take_one_call(cache: VectorCache) -> None:
    texts = tuple(f"text {number:05}" for number in range(3_001))
    cache.put(texts[:-1], ENCODER.encode_documents(texts[:-1]))

    assert cache.missing(texts) == (texts[-1],)
    assert len(cache.get(texts[:-1])) == 3_000


def test_a_text_without_vector_is_a_key_error_that_names_it(cache: VectorCache) -> None:
    with pytest.raises(KeyError, match="unknown"):
        cache.get(("unknown",))


@pytest.mark.parametrize(
    "vectors",
    [np.zeros((1, 32), np.float32), np.zeros(32, np.float32), np.full((2, 32), np.nan, np.float32)],
    ids=["one row too few", "one dimension", "not a number"],
)
def test_vectors_that_no_reader_could_use_are_refused(cache: VectorCache, vectors: np.ndarray) -> None:
    with pytest.raises(SchemaMismatch):
        cache.put(("one", "two"), vectors)

    assert cache.missing(("one", "two")) == ("one", "two")


def test_token_vectors_come_back_bit_by_bit(token_cache: VectorCache) -> None:
    texts = ("one", "ten words are not too many for more than a vector")
    encoded = ENCODER.encode_with_tokens(texts)

    token_cache.put(texts, encoded.vectors, encoded.tokens)

    found = token_cache.tokens(texts)
    assert [len(tokens) for tokens in encoded.tokens] == [1, 2]
    for text, tokens in zip(texts, encoded.tokens, strict=True):
        assert found[text].dtype == np.float16
        assert np.array_equal(found[text], tokens)
    assert token_cache.missing((*texts, "new")) == ("new",)
    assert np.array_equal(token_cache.get(texts)["one"], encoded.vectors[0])


def test_a_text_without_token_vectors_is_a_key_error_that_names_it(token_cache: VectorCache) -> None:
    with pytest.raises(KeyError, match="unknown"):
        token_cache.tokens(("unknown",))


@pytest.mark.parametrize(
    "tokens", [(), (np.ones((1, 3), np.float16),), (np.full((1, 32), np.nan, np.float16),)]
)
def test_token_vectors_that_no_reader_could_use_are_refused(
    token_cache: VectorCache, tokens: tuple[np.ndarray, ...]
) -> None:
    with pytest.raises(SchemaMismatch):
        token_cache.put(("one",), ENCODER.encode_documents(("one",)), tokens)

    assert token_cache.missing(("one",)) == ("one",)


def test_texts_encoded_without_token_vectors_lack_them_and_keep_their_vector(tmp_path: Path) -> None:
    path, encoded = tmp_path / "vectors.sqlite", ENCODER.encode_with_tokens(("text",))
    SqliteVectorCache(path, model_key="m").put(("text",), encoded.vectors)
    cache = SqliteVectorCache(path, model_key="m", token_dim=32)

    assert cache.missing(("text",)) == ("text",)
    cache.put(("text",), ENCODER.encode_documents(("other",)), encoded.tokens)

    assert cache.missing(("text",)) == ()
    assert np.array_equal(cache.get(("text",))["text"], encoded.vectors[0])
    assert SqliteVectorCache(path, model_key="m").missing(("text",)) == ()
