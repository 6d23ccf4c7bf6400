"""Vectors by text that processes without a common disk share."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from indexes.embed.shared_cache import SharedVectorCache
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from indexes.places import index_place
from indexes.stores.raw import FileRawStore
from indexes.wiring import open_shared_vectors
from tests.fakes.encoder import HashEncoder

ENCODER = HashEncoder()


def opened(folder: Path, *, model_key: str = "m", token_dim: int = 0) -> SharedVectorCache:
    """A cache as a process of its own would open it."""
    keys, vectors = (FileRawStore(folder / name) for name in ("keys", "vectors"))
    return SharedVectorCache(keys, vectors, model_key=model_key, token_dim=token_dim)


def put(cache: SharedVectorCache, *texts: str) -> None:
    """Keep what the encoder gives."""
    cache.put(texts, ENCODER.encode_documents(texts))


def test_what_one_process_puts_another_that_has_looked_before_finds(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    put(one, "first")
    assert other.missing(["first", "second"]) == ("second",)

    put(one, "second")

    assert other.missing(["first", "second"]) == ()
    assert np.array_equal(other.get(["second"])["second"], ENCODER.encode_documents(("second",))[0])


def test_writers_at_once_keep_everything(tmp_path: Path) -> None:
    caches = [opened(tmp_path) for _ in range(4)]
    names = [[f"{writer}-{number}" for number in range(20)] for writer in range(4)]

    def keep(writer: int) -> None:
        for name in names[writer]:
            put(caches[writer], name, "common")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(keep, range(4)))

    assert opened(tmp_path).missing([name for some in names for name in some] + ["common"]) == ()


def test_a_damaged_file_counts_as_missing_and_is_made_again(tmp_path: Path) -> None:
    put(opened(tmp_path), "kept")
    (file,) = (path for path in (tmp_path / "vectors").rglob("*.zst"))
    file.write_bytes(b"rot")

    assert opened(tmp_path).missing(["kept"]) == ("kept",)
    put(opened(tmp_path), "kept")

    assert opened(tmp_path).missing(["kept"]) == ()


def test_a_writer_that_dies_between_its_two_files_leaves_what_was_there(tmp_path: Path) -> None:
    put(opened(tmp_path), "kept")
    put(opened(tmp_path), "lost")
    newest = max((tmp_path / "keys").rglob("*.zst"), key=lambda path: path.stat().st_mtime_ns)
    newest.unlink()

    assert opened(tmp_path).missing(["kept", "lost"]) == ("lost",)


def test_texts_encoded_without_token_vectors_lack_them(tmp_path: Path) -> None:
    put(opened(tmp_path), "text")
    cache, encoded = opened(tmp_path, token_dim=32), ENCODER.encode_with_tokens(("text",))
    assert cache.missing(["text"]) == ("text",)

    cache.put(["text"], encoded.vectors, encoded.tokens)

    assert opened(tmp_path, token_dim=32).missing(["text"]) == ()
    assert np.array_equal(opened(tmp_path).get(["text"])["text"], encoded.vectors[0])


def test_an_index_in_a_bucket_has_what_workers_share_under_its_own_prefix(bucket_url: str) -> None:
    model = ModelManifest(name="m", sha256="0" * 64, dim=ENCODER.dim, max_tokens=256)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    layouts = [IndexLayout(index_place(f"{bucket_url}/index")) for _ in range(2)]
    one, other = (open_shared_vectors(layout, manifest, model_key="m", token_dim=0) for layout in layouts)

    put(one, "first")

    assert other.missing(["first", "second"]) == ("second",)
    assert any(layouts[1].shared_vectors.rglob("*.zst"))
