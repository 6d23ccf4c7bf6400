"""No request reaches an address that is not public, however it is spelled or reached."""

import ipaddress
import socket
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from ingest.fetch.gate import AddressGate, is_blocked, parse_allowed
from schemas.errors import ConfigError, FetchRefused
from schemas.fetch import FetchStatus
from tests.fakes.fetching import fetch_one, session_for, short_limits
from tests.fakes.site_server import Reply, Site, serve

_NO_ROBOTS = Reply(b"", 404, {"Connection": "close"})


def _gate(*entries: str) -> AddressGate:
    return AddressGate([parse_allowed(entry) for entry in entries])


_PRIVATE = """
    0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.9.9.9 169.254.169.254 172.31.0.1 192.0.0.8
    192.0.2.1 192.88.99.1 192.168.0.1 198.19.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.9.9.9 255.255.255.255
    168.63.129.16 :: ::1 ::ffff:8.8.8.8 64:ff9b::1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::
    3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1
"""


@pytest.mark.parametrize("address", _PRIVATE.split())
def test_an_address_of_no_public_site_is_blocked(address: str) -> None:
    assert is_blocked(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "172.32.0.1", "2606:4700::1111"])
def test_a_public_address_passes(address: str) -> None:
    parsed = ipaddress.ip_address(address)
    assert not is_blocked(parsed)
    _gate().check("site.example", 443, [parsed])


def test_one_private_answer_among_public_ones_refuses_the_host() -> None:
    answers = [ipaddress.ip_address("8.8.8.8"), ipaddress.ip_address("10.0.0.1")]
    with pytest.raises(FetchRefused, match=r"10\.0\.0\.1"):
        _gate().check("site.example", 80, answers)


def test_an_allowed_target_is_one_port_of_one_host() -> None:
    loopback = [ipaddress.ip_address("127.0.0.1")]
    gate = _gate("127.0.0.1:8000")
    gate.check("127.0.0.1", 8000, loopback)
    gate.check("any.name", 8000, loopback)
    for host, port, addresses in [
        ("127.0.0.1", 8001, loopback),
        ("127.0.0.1", 80, loopback),
        ("127.0.0.2", 8000, [ipaddress.ip_address("127.0.0.2")]),
    ]:
        with pytest.raises(FetchRefused):
            gate.check(host, port, addresses)


def test_an_allowed_name_may_stand_for_private_addresses_but_never_for_metadata() -> None:
    gate = _gate("wiki.internal:8080")
    gate.check("WIKI.internal", 8080, [ipaddress.ip_address("192.168.1.5")])
    for address in ["169.254.169.254", "100.100.100.200", "fd00:ec2::254", "fe80::1", "0.0.0.0"]:
        with pytest.raises(FetchRefused):
            gate.check("wiki.internal", 8080, [ipaddress.ip_address(address)])


def test_a_public_site_on_an_unusual_port_needs_an_entry() -> None:
    public = [ipaddress.ip_address("8.8.8.8")]
    with pytest.raises(FetchRefused, match="port 8443"):
        _gate().check("site.example", 8443, public)
    _gate("site.example:8443").check("site.example", 8443, public)


@pytest.mark.parametrize(
    "entry",
    [
        "127.0.0.1",
        "127.0.0.1:",
        ":80",
        "h:0",
        "h:65536",
        "10.0.0.0/8:80",
        "h:²",
        "h:٨٠",
        f"h:{'1' * 5000}",
        "",
    ],
)
def test_an_entry_that_is_no_host_and_port_names_itself(entry: str) -> None:
    with pytest.raises(ConfigError, match="host:port"):
        parse_allowed(entry)


@pytest.mark.parametrize("entry", ["169.254.169.254:80", "[fd00:ec2::254]:80", "168.63.129.16:80"])
def test_a_metadata_address_can_never_be_allowed(entry: str) -> None:
    with pytest.raises(ConfigError, match="never"):
        parse_allowed(entry)


def test_ipv6_entries_are_read_in_brackets() -> None:
    target = parse_allowed("[::1]:8000")
    assert (target.host, target.port) == ("::1", 8000)


@pytest.mark.parametrize(
    "place",
    [
        "http://127.0.0.1:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f.1:{port}/",
        "http://127.1:{port}/",
        "http://0:{port}/",
        "http://localhost:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://１２７.０.０.１:{port}/",
        "http://127.0.0.1:1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/_x",
        "//127.0.0.1:{port}/",
        "http://user:pw@127.0.0.1:{port}/",
    ],
)
def test_a_redirect_trick_reaches_no_guarded_server(place: str) -> None:
    with serve(Site({"/": Reply(b"secret")})) as secret, serve(Site(), host="127.0.0.2") as front:
        port = secret.address.rpartition(":")[2]
        front.pages["/out"] = Reply(
            b"", 302, {"Location": place.format(port=port).encode().decode("latin-1")}
        )
        with session_for(front) as session:
            first = fetch_one(session, front.url("/out"))
            if first.status is FetchStatus.REDIRECTED:
                assert first.location is not None
                assert fetch_one(session, first.location).status is FetchStatus.REFUSED
            else:
                assert first.status is FetchStatus.REFUSED
        assert secret.log == []


def test_an_address_that_does_not_answer_gives_way_to_the_next(
    resolver: dict[str, Callable[[], list[str]]],
) -> None:
    resolver["two.example"] = lambda: ["127.0.0.2", "127.0.0.1"]
    with serve(Site({"/a": Reply(b"<p>page</p>")})) as site, ExitStack() as opened:
        port = int(site.address.rpartition(":")[2])
        deaf = opened.enter_context(socket.socket())
        deaf.bind(("127.0.0.2", port))
        deaf.listen(0)
        for _ in range(4):  # with its queue full, a socket that nobody accepts from answers no further call
            caller = opened.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(("127.0.0.2", port))
        limits = short_limits(0.5)
        with session_for(allow_private=(f"two.example:{port}",), limits=limits) as session:
            assert fetch_one(session, f"http://two.example:{port}/a").statuses == (200,)


def test_a_name_that_resolves_differently_the_second_time_is_refused(
    resolver: dict[str, Callable[[], list[str]]],
) -> None:
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    resolver["rebind.example"] = lambda: next(answers)
    with serve(Site({"/robots.txt": _NO_ROBOTS})) as site:
        port = int(site.address.rpartition(":")[2])
        with serve(Site({"/": Reply(b"secret")}), host="127.0.0.2", port=port) as secret:
            with session_for(site) as session:
                result = fetch_one(session, f"http://rebind.example:{port}/")
            assert (result.status, result.statuses) == (FetchStatus.REFUSED, ())
            assert [ask.path for ask in site.log] == ["/robots.txt"]
            assert secret.log == []


def test_a_name_with_one_allowed_and_one_private_answer_is_refused(
    resolver: dict[str, Callable[[], list[str]]],
) -> None:
    resolver["mixed.example"] = lambda: ["127.0.0.1", "127.0.0.2"]
    with serve(Site()) as site, session_for(site) as session:
        port = site.address.rpartition(":")[2]
        assert fetch_one(session, f"http://mixed.example:{port}/").status is FetchStatus.REFUSED
        assert site.log == []


def test_a_checked_name_is_asked_under_its_name(resolver: dict[str, Callable[[], list[str]]]) -> None:
    resolver["docs.example"] = lambda: ["127.0.0.1"]
    with serve(Site({"/": Reply(b"<p>fine")})) as site, session_for(site) as session:
        port = site.address.rpartition(":")[2]
        assert fetch_one(session, f"http://docs.example:{port}/").status is FetchStatus.OK
        assert {ask.headers["host"] for ask in site.log} == {f"docs.example:{port}"}


def test_a_host_label_too_long_for_dns_fails_without_an_exception() -> None:
    with session_for() as session:
        assert fetch_one(session, f"http://{'a' * 70}.example/").status is FetchStatus.FAILED
