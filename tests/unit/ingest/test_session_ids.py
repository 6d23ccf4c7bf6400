"""Names under which sites keep sessions, taken out of addresses and told apart from others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.urls import canonical_url, path_of_variant, without_session

SITE = "https://shop.example.org"


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("/p?sid=1", "/p"),
        ("/p?PHPSESSID=1&a=2", "/p?a=2"),
        ("/p?a=2&jsessionid=1&b=3", "/p?a=2&b=3"),
        ("/p;jsessionid=AB12.node1?a=2", "/p?a=2"),
        ("/p;JSESSIONID=AB12", "/p"),
        ("/p?ASPSESSIONIDQABC=1", "/p"),
        ("/p?CFID=1&CFTOKEN=2", "/p"),
        ("/.;jsessionid=1", "/"),
        ("/a/..;jsessionid=1?b=1", "/?b=1"),
        ("/#/p?id=heading", "/#/p"),
        ("/#!/p?id=2&b=3", "/#!/p?b=3"),
        ("/p?id=2", None),
        ("/p", None),
        ("/p?a=2", None),
        ("/p?inside=1", None),
        ("/p?residence=1", None),
        ("/p;v=1", None),
        ("/a;jsessionid=1/b", None),
        ("/sid=1", None),
        ("/p?", None),
        ("/?sid=1#/guide", "/#/guide"),
    ],
)
def test_a_session_id_is_taken_out_and_nothing_else(address: str, plain: str | None) -> None:
    assert without_session(SITE + address) == (None if plain is None else SITE + plain)


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/p?a=1", "/p"),
        ("/p?", "/p"),
        ("/p;sid=3?a=1", "/p"),
        ("/p;sid=3", "/p"),
        ("/p", None),
        ("/p;v=1", None),
        ("/p?lang=en#/guide", "/p#/guide"),
        ("/#/guide?id=a", "/#/guide"),
        ("/#/guide", None),
    ],
)
def test_variants_share_what_stands_before_query_and_session(address: str, path: str | None) -> None:
    assert path_of_variant(SITE + address) == (None if path is None else SITE + path)


@given(st.text(alphabet="ab=&?;sid/.%2e1", max_size=20))
def test_what_is_left_of_a_canonical_address_is_canonical(rest: str) -> None:
    address = canonical_url(f"{SITE}/{rest}")
    assert address is not None
    plain = without_session(address)
    assert plain is None or canonical_url(plain) == plain


@given(st.text(alphabet="ab=&?;sid/1", max_size=20))
def test_without_a_session_there_is_none_to_take_out(rest: str) -> None:
    plain = without_session(f"{SITE}/{rest}")
    assert plain is None or without_session(plain) is None or ";" in plain
