"""Sites that want a session: had from a browser's cookies or a command, lost in mid-run, and over one day."""

import http.cookiejar
import json
import stat
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes.chromium import chromium
from tests.fakes.login_site import PASSWORD, USER, LoginSite, serve_login_site
from tests.fakes.prefect_server import poll
from tests.fakes.sitegraph_runs import Sitegraph, outcomes, report_of

pytestmark = pytest.mark.server

ROOMS = {
    "": "The bell hangs in the north wing",
    "cellar": "Barrels of cider lie in rows",
    "attic": "Trunks of letters stand under the roof",
    "stable": "Two grey horses share one stall",
}
_SIGNS = {
    "leads": "{address: '*/login*'}",
    "shows": "{selector: 'form#login', text: 'never said'}",
    "sends": "{address: '*/authorize[?]*'}",
}


def _pages() -> dict[str, str]:
    links = "".join(f'<li><a href="/docs/{name}">{name}</a></li>' for name in ROOMS if name)
    return {
        name: f"<!doctype html><html><head><title>{name or 'house'}</title></head><body><main>"
        f"<h1>{name or 'house'}</h1><p>{said}, and the porter says so to whoever asks him.</p>"
        f"<ul>{links}</ul></main></body></html>"
        for name, said in ROOMS.items()
    }


@pytest.fixture(params=["leads", "shows", "sends"])
def house(request: pytest.FixtureRequest) -> Iterator[LoginSite]:
    with serve_login_site(LoginSite(mode=request.param, pages=_pages())) as site:
        yield site


def _write_source(folder: Path, house: LoginSite, recipe: str) -> Path:
    path = folder / "house.yaml"
    path.write_text(
        f"name: house\nkind: web\nseeds: ['{house.url('/docs/')}']\nrate: {{per_host_delay: 0}}\n"
        f"allow_private: ['{house.address}', '{house.other}']\n"
        f"login: {{{recipe}, logged_out: {_SIGNS[house.mode]}}}\n"
    )
    return path


def _log_in(house: LoginSite, jar: http.cookiejar.CookieJar) -> None:
    """Log in as a browser does: with the form, or by way of the other host."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    if house.mode == "sends":
        known = http.cookiejar.Cookie(
            0, "known", PASSWORD, None, False, "127.0.0.2", False, False, "/", True, False, None, True,
            None, None, {},
        )  # fmt: skip
        jar.set_cookie(known)
        browser.open(house.url("/docs/")).close()
    else:
        form = urllib.parse.urlencode({"user": USER, "word": PASSWORD}).encode()
        browser.open(house.url("/login"), data=form).close()


def _save_cookies(house: LoginSite, file: Path, *, expires: float | None = None) -> None:
    jar = http.cookiejar.MozillaCookieJar(file)
    _log_in(house, jar)
    for cookie in jar:
        cookie.expires = None if expires is None else int(expires)
    jar.save(ignore_discard=True, ignore_expires=True)


_PROGRAM = """#!{python}
import http.cookiejar, sys
sys.path.insert(0, {repo!r})
from tests.flows.test_session_login import _log_in
from tests.fakes.chromium import chromium
from tests.fakes.login_site import LoginSite
jar = http.cookiejar.CookieJar()
_log_in(LoginSite(mode={mode!r}, address={address!r}, other={other!r}), jar)
print("X-Client: sitegraph")
print("Cookie:", "; ".join(f"{{one.name}}={{one.value}}" for one in jar if one.domain == "127.0.0.1"))
"""


def _write_program(folder: Path, house: LoginSite, program: str = _PROGRAM) -> Path:
    path = folder / "log-in"
    repo = str(Path(__file__).parents[2])
    path.write_text(
        program.format(
            python=sys.executable, repo=repo, mode=house.mode, address=house.address, other=house.other
        )
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _texts(sitegraph: Sitegraph, index: Path) -> str:
    return " ".join(str(row["text"]) for row in sitegraph.export(index)["chunks"])


def _holders(secret: str, *folders: Path) -> list[str]:
    return [
        str(path)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]


def test_cookies_of_a_browser_open_a_site_until_its_session_ends_and_no_login_page_comes_in(
    sitegraph: Sitegraph, house: LoginSite, tmp_path: Path
) -> None:
    jar, index = tmp_path / "secrets" / "cookies.txt", tmp_path / "out" / "index"
    jar.parent.mkdir()
    _save_cookies(house, jar)
    source = _write_source(tmp_path, house, f"cookies: {jar}")

    first = sitegraph.run(source, index)
    assert outcomes(first) == {"added": 4}
    assert first["problems"] == []
    before = sitegraph.export(index)
    assert all(said in _texts(sitegraph, index) for said in ROOMS.values())

    house.session_pages = 2
    _save_cookies(house, jar)
    house.asked.clear()
    ended = datetime.now(UTC).replace(microsecond=0)  # of runs that begin in one second none is the last
    poll(lambda: datetime.now(UTC).replace(microsecond=0) > ended or None, timeout=5, what="the next second")
    done = sitegraph.call("run", str(source), "--index", str(index))
    assert done.returncode == 4
    assert "house: its login is lost" in done.stderr
    assert f"log in with a browser and save the cookies to {jar} again" in done.stderr
    assert sitegraph.export(index) == before
    assert len(house.asked) < len(ROOMS)  # nothing more was asked for once the login was seen to be lost
    status = sitegraph.call("status", "--index", str(index))
    assert "last run refused" in status.stdout
    assert "its login is lost" in status.stdout

    house.session_pages = None
    _save_cookies(house, jar)
    assert outcomes(sitegraph.run(source, index)) == {"unchanged": 4}
    assert "Sign in" not in _texts(sitegraph, index)
    (value,) = _values(jar)
    assert _holders(value, tmp_path / "out", Path(sitegraph.environment["PREFECT_HOME"])) == []


def _values(file: Path) -> list[str]:
    jar = http.cookiejar.MozillaCookieJar(file)
    jar.load(ignore_discard=True, ignore_expires=True)
    return [str(cookie.value) for cookie in jar if cookie.domain == "127.0.0.1"]


def test_a_command_gets_a_login_again_that_ends_in_mid_run_once(
    sitegraph: Sitegraph, house: LoginSite, tmp_path: Path
) -> None:
    house.session_pages = 3
    source = _write_source(tmp_path, house, f"command: ['{_write_program(tmp_path, house)}']")
    index = tmp_path / "index"

    report = sitegraph.run(source, index)
    assert outcomes(report) == {"added": 4}
    assert house.logins == 2
    assert all(said in _texts(sitegraph, index) for said in ROOMS.values())

    house.session_pages = 1
    done = sitegraph.call("run", str(source), "--index", str(index))
    assert done.returncode == 4
    assert "its login is lost, also once it was got again" in done.stderr
    assert house.logins == 4
    assert "Sign in" not in _texts(sitegraph, index)


def test_before_there_is_an_index_a_site_that_asks_for_a_login_makes_none(
    sitegraph: Sitegraph, house: LoginSite, tmp_path: Path
) -> None:
    jar, index = tmp_path / "cookies.txt", tmp_path / "index"
    house.session_pages = 1
    _save_cookies(house, jar)
    done = sitegraph.call(
        "run", str(_write_source(tmp_path, house, f"cookies: {jar}")), "--index", str(index)
    )
    assert (done.returncode, index.exists()) == (4, False)
    assert "its login is lost" in done.stderr


_KEPT = """<script>
const kept = localStorage.getItem('room')
const said = kept ? `The ${kept} is open to guests who were here before.` : 'Who are you?'
document.querySelector('main').append(said)
</script>"""


def test_the_state_of_a_browser_opens_a_site_whose_scripts_look_for_what_they_kept(
    sitegraph: Sitegraph, form_house: LoginSite, tmp_path: Path
) -> None:
    form_house.pages = {name: page.replace("</main>", f"</main>{_KEPT}") for name, page in _pages().items()}
    state, index = tmp_path / "state.json", tmp_path / "index"
    with chromium() as browser:
        context = browser.new_context()
        page = context.new_page()
        page.goto(form_house.url("/login"))
        page.fill("[name=user]", USER)
        page.fill("[name=word]", PASSWORD)
        page.evaluate("localStorage.setItem('room', 'garden behind the wall')")
        page.evaluate("document.forms[0].submit()")
        page.wait_for_url("**/docs/")
        context.storage_state(path=state)
    source = _write_source(tmp_path, form_house, f"storage_state: {state}")
    source.write_text(f"{source.read_text()}javascript: true\n")

    done = sitegraph.command("run", str(source), "--index", str(index), "--format", "json")
    assert outcomes(report_of(done)) == {"added": 4}
    said = _texts(sitegraph, index)
    assert "The garden behind the wall is open to guests" in said
    assert "Who are you?" not in said


@pytest.fixture
def form_house() -> Iterator[LoginSite]:
    with serve_login_site(LoginSite(mode="leads", pages=_pages())) as site:
        yield site


def test_the_end_of_a_login_is_told_before_it_comes_and_a_run_after_it_asks_for_nothing(
    sitegraph: Sitegraph, form_house: LoginSite, tmp_path: Path
) -> None:
    jar, index = tmp_path / "cookies.txt", tmp_path / "index"
    source = _write_source(tmp_path, form_house, f"cookies: {jar}, warn_before: 3d")
    _save_cookies(form_house, jar, expires=time.time() + 10 * 86_400)
    early = sitegraph.run(source, index)
    assert (early["login"]["expires_soon"], early["problems"]) == (False, [])

    _save_cookies(form_house, jar, expires=time.time() + 2.1 * 86_400)
    report = sitegraph.run(source, index)
    assert report["login"]["expires_soon"] is True
    assert [problem["url"] for problem in report["problems"]] == ["house"]
    for command in (("status",), ("doctor", str(source))):
        told = sitegraph.call(*command, "--index", str(index)).stdout
        assert "its login expires in 2 days, at " in told
        assert f"save the cookies to {jar} again" in told
    record = json.loads(sitegraph.call("status", "--index", str(index), "--format", "json").stdout)
    assert record["sources"]["house"]["login"]["expires_at"] == report["login"]["expires_at"]

    _save_cookies(form_house, jar, expires=time.time() - 60)
    form_house.asked.clear()
    done = sitegraph.call("run", str(source), "--index", str(index))
    assert (done.returncode, form_house.asked) == (4, [])
    assert "house: its login expired at " in done.stderr
    doctor = sitegraph.call("doctor", str(source), "--index", str(index))
    assert doctor.returncode == 2
    assert "its login expired at" in doctor.stdout


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        (
            "#!/bin/sh\necho 'Cookie: id=s3same-0pen'; echo 'wrong s3same-0pen word' >&2; exit 3",
            4,
            "exit code 3; run it yourself",
        ),
        ("#!/bin/sh\necho '<html>s3same-0pen'; echo 's3same-0pen' >&2; exit 3", 4, "exit code 3"),
        ("#!/bin/sh\nexit 0", 2, "printed no header"),
        (
            "#!/bin/sh\necho s3same-0pen",
            2,
            "line 1 of what it printed cannot be sent: it is no `Name: value`",
        ),
        ("#!/bin/sh\necho 'Host: s3same-0pen'", 2, "is set by sitegraph itself"),
        ("#!/bin/sh\nsleep 300; echo done", 4, "did not end within 1 s"),
    ],
)
def test_a_command_that_gives_no_login_says_why_and_repeats_no_secret(
    sitegraph: Sitegraph, form_house: LoginSite, tmp_path: Path, program: str, code: int, said: str
) -> None:
    path = _write_program(tmp_path, form_house, program)
    source = _write_source(tmp_path, form_house, f"command: ['{path}'], seconds: 1")
    done = sitegraph.call("run", str(source), "--index", str(tmp_path / "index"))
    assert (done.returncode, form_house.asked) == (code, [])
    assert said in done.stderr
    assert "s3same" not in done.stderr
