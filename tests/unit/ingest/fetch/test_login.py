"""Cookies go where a browser would send them; a lost login is got again once, whoever notices first."""

from collections.abc import Callable
from http.cookiejar import MozillaCookieJar
from pathlib import Path

import pytest

from ingest.fetch.login import LoginData, SiteLogin, build_jar, cookie_header, cookie_host
from schemas.errors import GuardRefused
from schemas.fetch import FetchResult, FetchStatus
from tests.fakes.fetching import fetch, fetch_one, session_for
from tests.fakes.site_server import Ask, Reply, Site, serve

_SECRET = "s3same-0pen"
_JAR = """# Netscape HTTP Cookie File
.example.org\tTRUE\t/\tFALSE\t0\twide\tw
docs.example.org\tFALSE\t/\tFALSE\t0\town\to
#HttpOnly_.example.org\tTRUE\t/\tTRUE\t4102444800\tsecure\ts
docs.example.org\tFALSE\t/guide\tFALSE\t\tpath\tp
.example.org\tTRUE\t/\tFALSE\t1000000000\tover\tx
example.org\tFALSE\t/\tFALSE\t0\tapex\ta
localhost.local\tFALSE\t/\tFALSE\t0\thome\th
127.0.0.1\tFALSE\t/\tFALSE\t0\taddress\ti
[::1].local\tFALSE\t/\tFALSE\t0\tsix\tv
"""


def _login(folder: Path, **options: object) -> SiteLogin:
    (folder / "jar.txt").write_text(_JAR)
    jar = MozillaCookieJar(folder / "jar.txt")
    jar.load(ignore_discard=True, ignore_expires=True)
    for cookie in jar:
        cookie.expires = cookie.expires or None
    return SiteLogin(LoginData(cookies=tuple(jar)), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("https://docs.example.org/", {"wide", "own", "secure"}),
        ("http://docs.example.org/", {"wide", "own"}),  # what is Secure is not said in the clear
        ("https://docs.example.org/guide/a?b=1", {"wide", "own", "secure", "path"}),
        ("https://docs.example.org/guidebook", {"wide", "own", "secure"}),
        ("https://api.docs.example.org/", {"wide", "secure"}),
        ("https://example.org/", {"wide", "secure", "apex"}),
        ("https://docs.example.org:8443/", {"wide", "own", "secure"}),  # RFC 6265, 8.5: ports are one
        ("https://docs.example.org.evil.test/", set()),
        ("https://evilexample.org/", set()),
        ("https://example.com/", set()),
        ("http://localhost:8000/", {"home"}),
        ("http://127.0.0.1:8000/", {"address"}),
        ("http://127.0.0.2:8000/", set()),
        ("http://[::1]:8000/", {"six"}),
    ],
)
def test_a_cookie_goes_to_its_domain_and_path_and_nowhere_else(
    url: str, names: set[str], tmp_path: Path
) -> None:
    sent = b"; ".join(value for name, value in _login(tmp_path).headers_for(url) if name == b"Cookie")
    assert {pair.partition("=")[0] for pair in sent.decode().split("; ") if pair} == names


@pytest.mark.parametrize(
    ("set_by", "line", "sent_to", "is_sent"),
    [
        ("https://docs.example.org/", "a=1", "https://docs.example.org/b", True),
        ("https://docs.example.org/", "a=1", "https://api.docs.example.org/", False),
        ("https://docs.example.org/", "a=1; Domain=example.org", "https://www.example.org/", True),
        ("https://docs.example.org/", "a=1; Domain=example.com", "https://example.com/", False),
        ("https://docs.example.org/", "a=1; Domain=org", "https://other.org/", False),
        ("https://docs.example.co.uk/", "a=1; Domain=co.uk", "https://other.co.uk/", False),
        ("https://alice.github.io/", "a=1; Domain=github.io", "https://bob.github.io/", False),
        ("https://alice.github.io/", "a=1; Domain=alice.github.io", "https://www.alice.github.io/", True),
        ("https://example.org/", "a=1; Domain=example.org", "https://docs.example.org/", True),
        ("http://a.wiki.internal/", "a=1; Domain=wiki.internal", "http://b.wiki.internal/", True),
        ("https://docs.example.org/", "a=1; Secure", "http://docs.example.org/", False),
        ("https://docs.example.org/", "a=1; Path=/x", "https://docs.example.org/y", False),
        ("https://docs.example.org/", "a=1; Max-Age=0", "https://docs.example.org/", False),
        ("http://127.0.0.1:80/", "a=1", "http://127.0.0.1:81/", True),
    ],
)
def test_what_an_answer_sets_is_known_to_the_session_alone(
    set_by: str, line: str, sent_to: str, is_sent: bool
) -> None:
    login = SiteLogin(LoginData())
    login.take_cookies(set_by, [(b"Set-Cookie", line.encode()), (b"Server", b"x")])
    assert (login.headers_for(sent_to) == ((b"Cookie", b"a=1"),)) is is_sent
    without = SiteLogin()
    without.take_cookies(set_by, [(b"Set-Cookie", line.encode())])
    assert without.headers_for(set_by) == ()


def test_a_session_that_the_site_renews_goes_on_and_no_redirect_takes_a_cookie_to_another_host() -> None:
    def page(ask: Ask) -> Reply:
        number = int(ask.headers["cookie"].partition("=")[2])
        return Reply(b"<p>page</p>", headers={"Set-Cookie": f"n={number + 1}; HttpOnly"})

    with serve(Site({"/": Reply(b"<p>theirs</p>")}), host="127.0.0.2") as other:
        away = Reply(b"", 302, {"Location": other.url("/")})
        with serve(Site({"/a": page, "/b": page, "/away": away})) as site:
            jar = build_jar(())
            login = SiteLogin(LoginData(cookies=tuple(jar)))
            login.take_cookies(site.url("/"), [(b"Set-Cookie", b"n=1")])
            with session_for(site, other, login=login) as session:
                fetch(session, site.url("/a"), site.url("/b"), site.url("/away"), other.url("/"))
            pages = [ask.headers.get("cookie") for ask in site.log if ask.path in site.paths()]
            assert pages == ["n=1", "n=2", "n=3"]
            assert {ask.headers.get("cookie") for ask in other.log} == {None}


def test_of_the_cookies_that_a_site_sets_the_newest_fifty_are_kept_beside_those_of_the_login() -> None:
    url = "https://docs.example.org/"
    login = SiteLogin(LoginData(cookies=tuple(build_jar(()))))
    for number in range(200):
        login.take_cookies(url, [(b"Set-Cookie", b"seen_%d=1" % number)])
    ((_, sent),) = login.headers_for(url)
    assert sent.decode().split("; ") == [f"seen_{number}=1" for number in range(150, 200)]


def _renewal(jar_of: str, calls: list[int]) -> Callable[[], LoginData]:
    def renew() -> LoginData:
        calls.append(1)
        fresh = SiteLogin(LoginData())
        fresh.take_cookies(jar_of, [(b"Set-Cookie", b"n=good")])
        return LoginData(cookies=tuple(fresh._jar))

    return renew


def _says_login(result: FetchResult) -> str | None:
    return "says so" if b"LOGIN" in (result.body or b"") else None


@pytest.mark.parametrize("status", [200, 401])
def test_pages_that_come_side_by_side_without_a_login_have_it_got_again_once(status: int) -> None:
    def page(ask: Ask) -> Reply:
        known = ask.headers.get("cookie") == "n=good"
        return Reply(b"<p>page</p>") if known else Reply(b"<p>LOGIN</p>", status)

    calls: list[int] = []
    with serve(Site({f"/{n}": page for n in range(6)})) as site:
        login = SiteLogin(LoginData(), sign=_says_login, renew=_renewal(site.url("/"), calls))
        with session_for(site, login=login, concurrency=6) as session:
            found = fetch(session, *(site.url(f"/{n}") for n in range(6)))
        assert {result.body for result in found.values()} == {b"<p>page</p>"}
        assert calls == [1]


def test_a_page_that_goes_on_to_answer_401_fails_by_itself_and_a_lost_login_ends_the_wave() -> None:
    calls: list[int] = []
    with serve(Site({"/admin": Reply(b"", 401), "/a": Reply(b"<p>LOGIN</p>")})) as site:
        login = SiteLogin(
            LoginData(),
            sign=_says_login,
            renew=_renewal(site.url("/"), calls),
            source="docs",
            remedy="log in",
        )
        with session_for(site, login=login) as session:
            assert fetch_one(session, site.url("/admin")).status is FetchStatus.FAILED
            with pytest.raises(
                GuardRefused, match=r"docs: its login is lost, also once .*/a says so; log in"
            ):
                fetch_one(session, site.url("/a"))
        assert calls == [1]


def test_nothing_shows_a_cookie(tmp_path: Path) -> None:
    login = SiteLogin(LoginData())
    login.take_cookies("https://docs.example.org/", [(b"Set-Cookie", f"a={_SECRET}".encode())])
    data = LoginData(cookies=tuple(login._jar), storage={"https://docs.example.org": {"token": _SECRET}})
    assert _SECRET not in repr(data) + repr(SiteLogin(data))


def test_an_answer_keeps_no_cookie_in_its_headers() -> None:
    reply = Reply(b"<p>page</p>", headers={"Set-Cookie": f"a={_SECRET}"})
    with serve(Site({"/a": reply})) as site, session_for(site, login=SiteLogin(LoginData())) as session:
        assert _SECRET not in repr(fetch_one(session, site.url("/a")))
        assert cookie_header(session.login._jar, site.url("/a")) == f"a={_SECRET}"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://docs.example.org/a", "docs.example.org"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("http://localhost:80/", "localhost.local"),
        ("http://[::1]:80/", "[::1].local"),
    ],
)
def test_hosts_are_named_as_jars_name_them(url: str, host: str) -> None:
    assert cookie_host(url) == host
