"""What programs write of cookies is read as they mean it; when a login ends is told from the right cookie."""

import json
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.fetch.login import SiteLogin
from runtime.logins import check_login, login_state, read_login, told_login
from schemas.errors import ConfigError, GuardRefused
from schemas.source import LoginRecipe, Source
from tests.fakes.site_server import Reply, Site, serve

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
_SEED = "https://docs.example.org/guide/"
_HEAD = "# Netscape HTTP Cookie File\n\n"


def _source(seed: str = _SEED, **recipe: object) -> Source:
    return Source(name="docs", kind="web", seeds=(seed,), login=LoginRecipe(**recipe))  # type: ignore[arg-type]


def _sent(source: Source, url: str = _SEED) -> str:
    headers = dict(SiteLogin(read_login(source, now=NOW)).headers_for(url))
    return headers.get(b"Cookie", b"").decode()


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        (_HEAD + ".example.org\tTRUE\t/\tTRUE\t0\ta\t1\n", "a=1"),  # yt-dlp: 0 lasts as long as the session
        (_HEAD + "docs.example.org\tFALSE\t/\tTRUE\t\ta\t1\n", "a=1"),  # the standard library: empty
        (_HEAD + "#HttpOnly_docs.example.org\tFALSE\t/\tTRUE\t4102444800\ta\t1\n", "a=1"),
        ("# HTTP Cookie File\ndocs.example.org\tFALSE\t/\tTRUE\t0\ta\tx=y\n", "a=x=y"),
        (_HEAD + "docs.example.org\tFALSE\t/\tTRUE\t0\t\tbare\n", "bare"),
        (
            _HEAD + "docs.example.org\tFALSE\t/\tTRUE\t0\ta\t1\nads.test\tFALSE\t/\tFALSE\t0\tb\t2\n",
            "a=1",
        ),
    ],
)
def test_a_file_of_cookies_is_read_as_programs_write_it(text: str, sent: str, tmp_path: Path) -> None:
    (tmp_path / "jar.txt").write_text(text)
    assert _sent(_source(cookies=str(tmp_path / "jar.txt"))) == sent


def test_a_jar_that_curl_wrote_opens_the_site_it_is_of(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    jar = tmp_path / "jar.txt"
    given = {"Set-Cookie": "session=s3same; HttpOnly; Path=/"}
    with serve(Site({"/login": Reply(b"in", headers=given)})) as site:
        subprocess.run(["curl", "-s", "-c", str(jar), site.url("/login")], check=True, capture_output=True)
        assert _sent(_source(site.url("/"), cookies=str(jar)), site.url("/a")) == "session=s3same"


def test_what_playwright_saves_has_cookies_and_local_storage(tmp_path: Path) -> None:
    cookie = {"name": "a", "value": "1", "domain": "docs.example.org", "path": "/", "expires": -1}
    wide = {"name": "b", "value": "2", "domain": ".example.org", "path": "/", "expires": 4102444800.5}
    kept = {"origin": "https://docs.example.org", "localStorage": [{"name": "token", "value": "s3same"}]}
    rest = {"httpOnly": True, "secure": True, "sameSite": "Lax"}
    state = {"cookies": [cookie | rest, wide | rest], "origins": [kept]}
    (tmp_path / "state.json").write_text(json.dumps(state))
    source = _source(storage_state=str(tmp_path / "state.json"))
    data = read_login(source, now=NOW)
    assert data is not None
    assert data.storage == {"https://docs.example.org": {"token": "s3same"}}
    assert _sent(source) == "a=1; b=2"
    assert _sent(source, "https://www.example.org/") == "b=2"
    assert check_login(source, now=NOW).expires_at == "2100-01-01T00:00:00+00:00"


@pytest.mark.parametrize("ends", ["-1", "1999999999000", "13370000000000000", "253402300800"])
@pytest.mark.parametrize("dot", ["", "."])
def test_a_jar_is_read_as_curl_reads_it_whatever_its_end(tmp_path: Path, ends: str, dot: str) -> None:
    jar = tmp_path / "jar.txt"
    jar.write_text(f"{_HEAD}#HttpOnly_{dot}example.org\tTRUE\t/\tFALSE\t{ends}\ta\t1\n")
    source = _source(cookies=str(jar))
    assert _sent(source, "https://docs.example.org/") == "a=1"
    assert check_login(source, now=NOW).expires_at is None


@pytest.mark.parametrize("changed", [{"value": "b\r\nX: y"}, {"expires": float("inf")}])
def test_a_state_that_no_browser_saved_is_an_error_of_the_file(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    cookie = {"name": "a", "value": "1", "domain": "docs.example.org", "path": "/", "expires": -1} | changed
    (tmp_path / "state.json").write_text(json.dumps({"cookies": [cookie], "origins": []}))
    with pytest.raises(ConfigError, match="is no storage state as Playwright saves it"):
        read_login(_source(storage_state=str(tmp_path / "state.json")), now=NOW)


def _jar(folder: Path, *cookies: tuple[str, timedelta | None, bool]) -> Source:
    lines = [
        f"{'#HttpOnly_' * hidden}docs.example.org\tFALSE\t/\tTRUE\t"
        f"{0 if ends is None else int((NOW + ends).timestamp())}\t{name}\t1\n"
        for name, ends, hidden in cookies
    ]
    (folder / "jar.txt").write_text(_HEAD + "".join(lines))
    return _source(cookies=str(folder / "jar.txt"))


_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("cookies", "named", "ends", "soon"),
    [
        ([("s", 9 * _DAY, True)], None, 9 * _DAY, False),
        ([("s", 3 * _DAY, True)], None, 3 * _DAY, True),
        ([("s", 9 * _DAY, True), ("visits", _HOUR, False)], None, 9 * _DAY, False),
        ([("s", 9 * _DAY, False), ("visits", _HOUR, False)], None, _HOUR, True),
        ([("s", 9 * _DAY, True), ("t", 2 * _DAY, True)], None, 2 * _DAY, True),
        ([("s", 9 * _DAY, True), ("t", 2 * _DAY, True)], "s", 9 * _DAY, False),
        ([("s", None, True), ("t", 2 * _DAY, True)], "s", None, False),
        ([("s", None, True)], None, None, False),
        ([("s", 9 * _DAY, True), ("old", -_DAY, True)], None, 9 * _DAY, False),
        ([("s", -_HOUR, True), ("old", -_DAY, True)], None, -_HOUR, True),
        ([("s", -_HOUR, True), ("t", _DAY, True)], "s", -_HOUR, True),
    ],
)
def test_the_end_of_a_login_is_that_of_the_cookie_that_matters(
    cookies: list[tuple[str, timedelta | None, bool]],
    named: str | None,
    ends: timedelta | None,
    soon: bool,
    tmp_path: Path,
) -> None:
    source = _jar(tmp_path, *cookies)
    source = replace(source, login=replace(source.login, session_cookie=named))
    state = login_state(source, now=NOW)
    assert state.expires_at == (None if ends is None else (NOW + ends).isoformat(timespec="seconds"))
    assert (state.expires_soon, told_login(source, state, now=NOW) is not None) == (soon, soon)
    if ends is not None and ends < timedelta():
        with pytest.raises(
            GuardRefused, match=r"its login expired at 2026-01-05T11.*; log in with a browser"
        ):
            read_login(source, now=NOW)
    else:
        assert read_login(source, now=NOW) is not None


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (2 * _DAY, "in 2 days"),
        (47 * _HOUR, "in 47.0 hours"),
        (_HOUR / 2, "in 0.5 hours"),
        (-_HOUR, "expired at"),
    ],
)
def test_people_are_told_how_long_is_left(ends: timedelta, told: str, tmp_path: Path) -> None:
    source = _jar(tmp_path, ("s", ends, True))
    assert told in str(told_login(source, login_state(source, now=NOW), now=NOW))


@pytest.mark.parametrize(
    ("text", "recipe", "said"),
    [
        (None, "cookies", "cannot be read (No such file or directory)"),
        ("", "cookies", "is no file of cookies in Netscape's format"),
        ('{"cookies": []}', "cookies", "is no file of cookies in Netscape's format"),
        (
            _HEAD + "docs.example.org\tnonsense s3same\n",
            "cookies",
            "is no file of cookies in Netscape's format",
        ),
        (_HEAD, "cookies", "holds no cookie for docs.example.org"),
        (
            _HEAD + "example.com\tFALSE\t/\tTRUE\t0\ta\ts3same\n",
            "cookies",
            "holds no cookie for docs.example.org",
        ),
        (_HEAD + "docs.example.org\tFALSE\t/\tTRUE\t0\ta\ts3same\n", "named", "holds no cookie session"),
        (_HEAD, "storage_state", "is no storage state as Playwright saves it"),
        ("[]", "storage_state", "is no storage state as Playwright saves it"),
        ('{"cookies": [{"name": "s3same"}], "origins": []}', "storage_state", "is no storage state"),
        ("\udcff", "cookies", "it is not a UTF-8 text"),
    ],
)
def test_a_file_of_no_use_is_named_and_nothing_of_it_told(
    text: str | None, recipe: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "login"
    if text is not None:
        path.write_bytes(text.encode(errors="surrogateescape"))
    keys = {"cookies": str(path), "session_cookie": "session"} if recipe == "named" else {recipe: str(path)}
    with pytest.raises(ConfigError) as caught:
        read_login(_source(**keys), now=NOW)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert "s3same" not in str(caught.value)


def _program(folder: Path, text: str) -> str:
    path = folder / "log-in"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_the_headers_of_a_command_go_to_the_site_and_its_cookies_to_the_hosts_of_the_seeds(
    tmp_path: Path,
) -> None:
    program = _program(tmp_path, "echo 'Authorization: Bearer t'; echo; echo \"Cookie: a=$1; b=2\"")
    login = SiteLogin(read_login(_source(command=(program, "1 x")), now=NOW))
    both = ((b"Authorization", b"Bearer t"), (b"Cookie", b"a=1 x; b=2"))
    assert login.headers_for(_SEED) == both
    assert login.headers_for("https://www.example.org/") == both[:1]
    assert login.headers_for("http://docs.example.org/") == ()
    assert login.headers_for("https://example.com/") == ()


def test_a_program_that_is_not_there_is_a_wrong_setting(tmp_path: Path) -> None:
    source = _source(command=(str(tmp_path / "log-in"),))
    for look in (read_login, check_login):
        with pytest.raises(ConfigError, match="login of docs: "):
            look(source, now=NOW)
