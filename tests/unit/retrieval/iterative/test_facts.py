"""Where names stand in a text."""

import pytest

from retrieval.iterative.facts import find_name


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Harper Lee", "It is by Harper Lee.", "Harper Lee"),
        ("harper  lee", "It is by HARPER\nLEE.", "HARPER\nLEE"),
        ("max_wal_size", "Set max_wal_size.", "max_wal_size"),
        ("Lee", "Leeds is a city.", None),
        ("Ada Quill", "Ada wrote. Quill did not.", None),
        ("...", "...", None),
        ("", "a", None),
    ],
)
def test_a_name_is_found_by_its_words(name: str, text: str, found: str | None) -> None:
    span = find_name(name, text)
    assert (text[slice(*span)] if span else None) == found
