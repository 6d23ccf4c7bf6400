"""The login of a source as its recipe has it: files of cookies, the state of a browser, a command.

What they hold is read when it is needed, and kept nowhere. Errors name files and programs, never values.
Source: curl, "Netscape cookie file format"; Playwright, `BrowserContext.storage_state`.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from http.cookiejar import Cookie
from pathlib import Path
from typing import Any

from ingest.fetch.login import LoginData, cookie_host
from ingest.fetch.proxies import build_credentials, is_sendable, name_refusal
from ingest.plan.scope import seed_urls
from ingest.urls import host_port
from runtime.settings import naming_file
from schemas.errors import ConfigError, GuardRefused, SitegraphError
from schemas.report import LoginState
from schemas.source import LoginRecipe, Source

HOURS_TOLD = 48
"""From here on a time is told in days."""

YEAR_10000 = 253_402_300_800
"""Seconds since 1970, of which no date is later; exporters that write milliseconds lie beyond it."""


_HEAD = re.compile(r"# (?:Netscape )?HTTP Cookie File")
_HIDDEN = "#HttpOnly_"
_COOKIE = re.compile(rf"{_HIDDEN}|\s*[^#$\s]")


def read_login(source: Source, *, now: datetime) -> LoginData | None:
    """Return the login of a source, None where it names none; a command is run.

    Raises: ConfigError: a file or a command is not there, or gives nothing of use; GuardRefused: the login
    has expired, or the command failed.
    """
    recipe = source.login
    if recipe == LoginRecipe():
        return None
    if recipe.command:
        return _run_command(source)
    data = _read_files(source)
    state = _state_of(source, data.cookies, now=now)
    if state.expires_at is not None and datetime.fromisoformat(state.expires_at) <= now:
        raise GuardRefused(f"{told_login(source, state, now=now)}; nothing was changed", subject=source.name)
    return data


def check_login(source: Source, *, now: datetime) -> LoginState:
    """Return when the login ends, as far as a cookie of it says so; no command is run.

    Raises: ConfigError: the file or the program is not there, or gives nothing of use.
    """
    recipe = source.login
    if recipe.command and shutil.which(recipe.command[0]) is None:
        raise ConfigError(f"{recipe.command[0]} is no program", subject=f"login of {source.name}")
    if recipe.cookies or recipe.storage_state:
        return _state_of(source, _read_files(source).cookies, now=now)
    return LoginState()


def login_state(source: Source, *, now: datetime) -> LoginState:
    """Return what `check_login` does; where it raises, nothing is known."""
    with suppress(SitegraphError):
        return check_login(source, now=now)
    return LoginState()


def told_login(source: Source, state: LoginState, *, now: datetime) -> str | None:
    """Say that a login ends soon, or has ended, and what to do; None where it does not, or nobody knows."""
    if state.expires_at is None or not state.expires_soon:
        return None
    hours = (datetime.fromisoformat(state.expires_at) - now).total_seconds() / 3600
    left = f"{hours / 24:.0f} days" if hours >= HOURS_TOLD else f"{max(hours, 0):.1f} hours"
    when = f"expires in {left}, at" if hours > 0 else "expired at"
    return f"its login {when} {state.expires_at}; {remedy_of(source.login)}"


def remedy_of(recipe: LoginRecipe) -> str:
    """Say what a person does about a login that is lost."""
    if recipe.command:
        return f"see what {recipe.command[0]} gives"
    what = "the cookies" if recipe.cookies else "the storage state"
    return f"log in with a browser and save {what} to {recipe.cookies or recipe.storage_state} again"


def _read_files(source: Source) -> LoginData:
    recipe = source.login
    if recipe.cookies:
        return LoginData(cookies=_read_jar(Path(recipe.cookies)))
    return _read_storage(Path(recipe.storage_state or ""))


def _read_jar(path: Path) -> tuple[Cookie, ...]:
    with naming_file(path, "cannot be read"):
        first, *lines = path.read_text(encoding="utf-8").split("\n")
    try:
        if _HEAD.match(first) is None:
            raise ValueError(first)
        return tuple(_cookie_of(line) for line in lines if _COOKIE.match(line))
    except (ValueError, OverflowError):  # whose text has the line, and so a value
        raise ConfigError(
            "is no file of cookies in Netscape's format, which begins with # Netscape HTTP Cookie File",
            subject=str(path),
        ) from None


def _cookie_of(line: str) -> Cookie:
    """Take the second field for whether a domain has hosts, as curl does, with a dot before or without."""
    start, has_hosts, path, secure, ends, name, value = line.split("\t")
    domain = "." * (has_hosts == "TRUE") + start.removeprefix(_HIDDEN).removeprefix(".")
    marks = secure == "TRUE", start.startswith(_HIDDEN), float(ends or 0)
    return _build_cookie(name or value, value if name else None, domain, path, *marks)


def _read_storage(path: Path) -> LoginData:
    with naming_file(path, "cannot be read"):
        text = path.read_text(encoding="utf-8")
    try:
        state = json.loads(text)
        cookies = tuple(map(_cookie, state["cookies"]))
        storage = {
            one["origin"]: {str(item["name"]): str(item["value"]) for item in one["localStorage"]}
            for one in state["origins"]
        }
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
        raise ConfigError("is no storage state as Playwright saves it", subject=str(path)) from None
    return LoginData(cookies=cookies, storage=storage)


def _cookie(saved: Mapping[str, Any]) -> Cookie:
    name, value, domain, path = (str(saved[key]) for key in ("name", "value", "domain", "path"))
    if not is_sendable(f"{name}{value}"):
        raise ValueError("no header can carry it")
    marks = bool(saved.get("secure")), bool(saved.get("httpOnly")), float(saved.get("expires", -1))
    return _build_cookie(name, value, domain, path, *marks)


def _build_cookie(
    name: str, value: str | None, domain: str, path: str, secure: bool, hidden: bool = False, ends: float = 0
) -> Cookie:
    """Return a cookie; one whose domain has no dot in front is for that host alone.

    Many programs write 0 or -1 where a cookie lasts as long as its session, or no seconds at all.
    """
    dotted = domain.startswith(".")
    host = domain if "." in domain else f"{domain}.local"  # as the standard library names such hosts
    place = (None, False, host, dotted, dotted, path, True)
    until = int(ends) if 0 < int(ends) < YEAR_10000 else None
    rest = {"HTTPOnly": ""} if hidden else {}
    return Cookie(0, name, value, *place, secure, until, until is None, None, None, rest)


def _state_of(source: Source, cookies: Iterable[Cookie], *, now: datetime) -> LoginState:
    """Return when the login ends: with the cookie that the source names, else with the first that matters.

    That is one which scripts cannot read, where there is any: those that count visitors end sooner, and those
    that are over are of no use to anybody.
    Raises: ConfigError: no cookie is for the site, or has the name.
    """
    recipe, seeds = source.login, seed_urls(source)
    own = [one for one in cookies if any(_is_for(one, cookie_host(seed)) for seed in seeds)]
    named = [one for one in own if recipe.session_cookie in (None, one.name)]
    if not named and (own or recipe.cookies):
        what = f"cookie {recipe.session_cookie}" if own else f"cookie for {host_port(seeds[0])[0]}"
        raise ConfigError(f"holds no {what}", subject=recipe.cookies or recipe.storage_state or "")
    live = [one for one in named if one.expires is None or one.expires > now.timestamp()]
    ends = [one.expires for one in (_hidden(live) or live or named) if one.expires is not None]
    if not ends:
        return LoginState()
    # Of those that are over, the one that lasted longest tells since when nobody is logged in.
    at = datetime.fromtimestamp(min(ends) if live else max(ends), UTC)
    soon = (at - now).total_seconds() <= recipe.warn_before
    return LoginState(expires_at=at.isoformat(timespec="seconds"), expires_soon=soon)


def _hidden(cookies: Iterable[Cookie]) -> list[Cookie]:
    return [one for one in cookies if one.has_nonstandard_attr("HTTPOnly")]


def _is_for(cookie: Cookie, host: str) -> bool:
    domain = cookie.domain
    return host == domain or (domain.startswith(".") and f".{host}".endswith(domain))


def _run_command(source: Source) -> LoginData:
    command, subject, seeds = source.login.command, f"login of {source.name}", seed_urls(source)
    try:
        code, out = _ended(command, seconds=source.login.seconds)
    except subprocess.TimeoutExpired as error:
        message = f"{command[0]} did not end within {source.login.seconds:g} s; nothing was changed"
        raise GuardRefused(message, subject=subject) from error
    except OSError as error:
        raise ConfigError(f"{command[0]} cannot be run ({error.strerror})", subject=subject) from error
    if code:
        message = (
            f"{command[0]} failed with exit code {code}; run it yourself to see why; nothing was changed"
        )
        raise GuardRefused(message, subject=subject)
    pairs = tuple(_header_lines(out, subject=f"{subject}: {command[0]}"))
    if not pairs:
        raise ConfigError(f"{command[0]} printed no header", subject=subject)
    headers = {name: value for name, value in pairs if name.lower() != "cookie"}
    cookies = [value for name, value in pairs if name.lower() == "cookie"]
    own = build_credentials(headers, seeds=seeds)
    return LoginData(headers=own, cookies=tuple(_sent_cookies(cookies, seeds)))


def _ended(command: Sequence[str], *, seconds: float) -> tuple[int, bytes]:
    """Run a command to its end; give its exit code and what it wrote. Whatever it started ends with it.

    What it says on stderr is dropped: traces of shells and of curl hold the very secrets that it fetches.
    """
    null = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=null, stdout=subprocess.PIPE, stderr=null, start_new_session=True
    ) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode, out


def _header_lines(stdout: bytes, *, subject: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(stdout.decode("utf-8", "replace").splitlines(), start=1):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not line.strip():
            continue
        wrong = "it is no `Name: value`" if not colon or not is_sendable(value) else None
        if name.lower() != "cookie":
            wrong = wrong or name_refusal(name)
        if wrong:
            raise ConfigError(f"line {number} of what it printed cannot be sent: {wrong}", subject=subject)
        yield name, value


def _sent_cookies(headers: Iterable[str], seeds: Sequence[str]) -> Iterator[Cookie]:
    """Cookies of a header `Cookie`, which does not say for whom: for the hosts of the seeds alone."""
    for pair in (one for header in headers for one in header.split(";")):
        name, _, value = (part.strip() for part in pair.partition("="))
        for seed in seeds:
            yield _build_cookie(name, value, cookie_host(seed), "/", seed.startswith("https:"))
