"""Hashes that other programs can recompute."""

import pytest

from schemas.ids import canonical_json, record_sha256, sha256_hex


def test_text_is_hashed_as_utf_8() -> None:
    assert sha256_hex("é") == sha256_hex(b"\xc3\xa9")
    # FIPS 180-2, appendix B.1
    assert sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_the_canonical_form_is_sorted_tight_and_unescaped() -> None:
    assert canonical_json({"b": [1, None], "a": "é"}) == '{"a":"é","b":[1,null]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"score": value})


def test_another_value_has_another_hash() -> None:
    assert record_sha256({"a": 1}) != record_sha256({"a": 2}) != record_sha256({"a": "2"})
