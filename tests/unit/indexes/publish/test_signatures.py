"""Signatures of generations, by keys that OpenSSL made."""

from pathlib import Path

import pytest

from indexes.publish.generation import PublisherKeys, Signer, open_trust
from schemas.errors import ConfigError, GuardRefused
from tests.fakes.signing_keys import make_keys, openssl_verifies


def test_openssl_and_we_take_the_same_signature(tmp_path: Path) -> None:
    keys, data = make_keys(tmp_path), b'{"generation": 1}\n'
    signature = Signer(keys.private).sign(data)
    (tmp_path / "data").write_bytes(data)
    (tmp_path / "sig").write_bytes(signature)
    assert openssl_verifies(keys, tmp_path / "data", tmp_path / "sig")
    PublisherKeys(keys.public).require(data, signature, subject="1.json")


@pytest.mark.parametrize("harm", ["data", "signature", "short", "none", "foreign"])
def test_what_nobody_trusted_signed_is_refused(tmp_path: Path, harm: str) -> None:
    keys, data = make_keys(tmp_path), b"manifest"
    signature: bytes | None = Signer(keys.private).sign(data)
    assert signature is not None
    if harm == "data":
        data = b"manifesto"
    elif harm == "signature":
        signature = bytes([signature[0] ^ 1]) + signature[1:]
    elif harm == "short":
        signature = signature[:-1]
    elif harm == "none":
        signature = None
    else:
        signature = Signer(make_keys(tmp_path, "foreign").private).sign(data)
    with pytest.raises(GuardRefused):
        PublisherKeys(keys.public).require(data, signature, subject="1.json")


def test_a_file_may_have_the_old_and_the_new_key(tmp_path: Path) -> None:
    old, new = make_keys(tmp_path, "old"), make_keys(tmp_path, "new")
    both = tmp_path / "both.pem"
    both.write_bytes(old.public.read_bytes() + new.public.read_bytes())
    for pair in (old, new):
        PublisherKeys(both).require(b"m", Signer(pair.private).sign(b"m"), subject="1.json")


def test_a_file_without_such_keys_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    keys, empty = make_keys(tmp_path), tmp_path / "empty.pem"
    empty.write_bytes(b"")
    for file in (empty, keys.private, tmp_path / "missing.pem"):
        with pytest.raises(ConfigError):
            PublisherKeys(file)
    for file in (empty, keys.public, tmp_path / "missing.pem"):
        with pytest.raises(ConfigError):
            Signer(file)
    assert open_trust(None) is None
