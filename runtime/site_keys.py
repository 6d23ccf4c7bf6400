"""What the keys of a source file may hold that say how a site is reached: addresses, proxies, logins."""

import re
from pathlib import Path

from pydantic import ValidationInfo

from ingest.fetch.proxies import parse_proxy
from ingest.urls import canonical_url
from schemas.errors import ConfigError
from schemas.secrets import find_secrets
from schemas.source import Auth, LoggedOut, LoginRecipe


def seed_key_refusal(seed: str) -> str | None:
    """Say why a seed is no address to start from."""
    is_web = re.match(r"https?://", seed, re.IGNORECASE) and canonical_url(seed) is not None
    return None if is_web else "is not an http or https URL (without user name and password)"


def private_key_refusal(entry: str) -> str | None:
    """Say why an entry of `allow_private` is none."""
    from ingest.fetch.gate import parse_allowed

    try:
        parse_allowed(entry)
    except ConfigError as error:
        return error.message
    return None


def proxy_key_refusal(url: str) -> str | None:
    """Say why a text is no URL of a proxy that may stand in a file."""
    try:
        proxy = parse_proxy(url, subject="proxy") if url else None
    except ConfigError:
        return "is not the URL of an http or https proxy, nor false"
    if proxy is not None and proxy.authorization is not None:
        return "holds a user or password; put the URL into a variable and name that with proxy_env"
    return None


def as_proxy(value: object) -> object:
    """Keep `false`, which is no proxy at all, as the empty text."""
    if value is False:
        return ""
    if value == "" or value is True:
        raise ValueError("should be the URL of a proxy, or false")
    return value


def named_once(auth: Auth) -> Auth:
    """Refuse an `auth` that names nothing, or one header twice."""
    names = [name.lower() for name, _ in auth.headers_env]
    if auth.bearer_env is not None:
        names.append("authorization")
    if not names:
        raise ValueError("names no environment variable; known: bearer_env, headers_env")
    if len(set(names)) < len(names):
        raise ValueError("sets one header twice")
    return auth


def one_recipe(login: LoginRecipe) -> LoginRecipe:
    """Refuse a `login` of no recipe or of several, and keys that its recipe has no use for."""
    if sum(map(bool, (login.cookies, login.storage_state, login.command))) != 1:
        raise ValueError("needs exactly one of cookies, storage_state and command")
    if login.command and login.session_cookie:
        raise ValueError("session_cookie is for cookies and storage_state")
    return login


def program_beside(command: tuple[str, ...], so_far: ValidationInfo) -> tuple[str, ...]:
    """Take the path of a program from the folder of the source file, and refuse arguments with secrets."""
    if find_secrets(" ".join(command)):
        raise ValueError("holds a secret; let the program read it from a file or the environment")
    program, *arguments = command
    if "/" in program:
        program = str(((so_far.context or {})["folder"] / Path(program)).resolve())
    return program, *arguments


def some_sign(sign: LoggedOut) -> LoggedOut:
    """Refuse a `logged_out` that says nothing."""
    if sign == LoggedOut():
        raise ValueError("names no sign; known: selector, address, text")
    return sign
