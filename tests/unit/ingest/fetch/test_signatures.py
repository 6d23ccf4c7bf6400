"""Signed requests, held against an independent implementation and the examples of the standards."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import InvalidSignature

from ingest.fetch.client import FetchSession
from ingest.fetch.signatures import LIFETIME, RequestSigner, key_directory, key_thumbprint
from schemas.fetch import FetchStatus
from tests.fakes.fetching import fetch, session_for
from tests.fakes.signature_gate import Gate
from tests.fakes.site_server import Reply, Site, serve

AGENT = "https://crawler.example.org"
_PUBLIC = bytes.fromhex("26b40b8f93fff3d897112f7ebc582b232dbd72517d082fe83cfb30ddce43d1bb")
_PRIVATE = Ed25519PrivateKey.from_private_bytes(
    bytes.fromhex("9f8362f87a484a954e6e740c5b4c0e84229139a20aa8ab56ff66586f6a7d29c5")
)
"""test-key-ed25519 of RFC 9421, B.1.4."""

DIRECTORY = key_directory([_PUBLIC])
_PAGE = Reply(b"<p>page</p>")


def _signer(now: datetime | None = None) -> RequestSigner:
    count = iter(range(1_000))
    return RequestSigner(
        agent=AGENT,
        public_key=_PUBLIC,
        sign=_PRIVATE.sign,
        now=lambda: now or datetime.now(UTC),
        nonce=lambda: next(count).to_bytes(32, "big"),
    )


@contextmanager
def _guarded(signer: RequestSigner | None) -> Iterator[tuple[Gate, Site, FetchSession]]:
    gate, site = Gate(DIRECTORY), Site()
    with serve(site), session_for(site, signer=signer) as session:
        gate.origin = site.origin
        listed = f"<urlset><url><loc>{site.url('/a')}</loc></url></urlset>".encode()
        replies = {
            "/robots.txt": Reply(f"Sitemap: {site.url('/map.xml')}".encode(), content_type="text/plain"),
            "/map.xml": Reply(listed, content_type="text/xml"),
            "/a": _PAGE,
            "/b?x=1&y=%C3%A4": _PAGE,
            "/moved": Reply(b"", 301, {"Location": "/a"}),
        }
        site.pages = {path: gate.guards(reply) for path, reply in replies.items()}
        yield gate, site, session


def test_every_request_is_signed_anew_and_passes_once() -> None:
    with _guarded(_signer()) as (gate, site, session):
        assert site.url("/a") in {entry.url for entry in session.sitemaps((site.url("/"),))}
        asked = [site.url(path) for path in ("/a", "/b?x=1&y=%C3%A4", "/moved")]
        assert {one.status for one in fetch(session, *asked).values()} == {
            FetchStatus.OK,
            FetchStatus.REDIRECTED,
        }
        assert gate.refused == []
        assert len(gate.nonces) == 5
        assert {"signature", "signature-input", "signature-agent"} <= site.log[0].headers.keys()
        assert {ask.headers["signature-agent"] for ask in site.log} == {f'sig1="{AGENT}"'}


def test_without_a_key_nothing_is_signed() -> None:
    with _guarded(None) as (gate, site, session):
        assert fetch(session, site.url("/a"))[site.url("/a")].http_status == 403
        assert len(gate.refused) == len(site.log)
        assert not any("signature" in name for ask in site.log for name in ask.headers)


def test_a_signature_is_good_once_for_its_host_until_it_expires() -> None:
    headers = {name.decode(): value.decode() for name, value in _signer().headers_for("docs.example.org")}
    gate = Gate(DIRECTORY, "https://docs.example.org")
    gate.check("/a", headers)
    with pytest.raises(InvalidSignature, match="seen before"):
        gate.check("/a", headers)
    with pytest.raises(InvalidSignature):
        Gate(DIRECTORY, "https://www.example.org").check("/a", headers)
    with pytest.raises(InvalidSignature):
        Gate(DIRECTORY, "https://docs.example.org").check(
            "/a", headers | {"Signature-Agent": 'sig1="https://evil.test"'}
        )
    old = _signer(datetime.now(UTC) - timedelta(seconds=LIFETIME + 60)).headers_for("docs.example.org")
    with pytest.raises(InvalidSignature):
        Gate(DIRECTORY, "https://docs.example.org").check(
            "/a", {name.decode(): value.decode() for name, value in old}
        )


def test_equal_requests_at_one_time_with_one_nonce_have_one_signature() -> None:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    assert _signer(at).headers_for("h.test:81") == _signer(at).headers_for("h.test:81")


def test_a_key_is_named_by_its_thumbprint() -> None:
    # RFC 8037, A.3
    key = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    assert key_thumbprint(key) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
    assert key_thumbprint(_PUBLIC) == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
    assert len(key_directory([_PUBLIC, key, _PUBLIC])["keys"]) == 2


def test_nothing_shows_the_key() -> None:
    assert "Ed25519PrivateKey" not in repr(_signer())
