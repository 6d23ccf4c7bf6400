"""What single values of a source file may be: times, addresses, names, selectors."""

import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
)
from pydantic_core import PydanticKnownError

from ingest.parse.markdown.front_matter import STATED_KEYS
from ingest.sources.registry import kind_names
from ingest.urls import canonical_url
from runtime.clean_hooks import HookError, find_hook
from schemas.cleaning import Hook
from schemas.errors import ConfigError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}

CENTURY = 100 * 365.25 * 86400.0
"""No time may be longer: a date beyond the year 9999 cannot be kept."""


def _seconds(value: object) -> object:
    return seconds_of(value) if isinstance(value, str) else value


def seconds_of(text: str) -> float:
    """Read a time: a number of seconds, or a number with a unit.

    Raises: ValueError: it is neither.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw]?)\s*", text)
    if match is None:
        raise ValueError("write a number of seconds, or a number with one of the units s, m, h, d, w")
    return float(match[1]) * _UNITS[match[2]]


def duration(seconds: float) -> str:
    """A time as people write it: 90s, 15m, 6h, 2d."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"


def web_address(seed: str) -> str:
    if not re.match(r"https?://", seed, re.IGNORECASE) or canonical_url(seed) is None:
        raise ValueError("is not an http or https URL (without user name and password)")
    return seed


def exact_target(entry: str) -> str:
    from ingest.fetch.gate import parse_allowed

    try:
        parse_allowed(entry)
    except ConfigError as error:
        raise ValueError(error.message) from error
    return entry


def _proxy(value: object) -> object:
    """`false` is no proxy at all, kept as the empty text."""
    if value is False:
        return ""
    if value == "" or value is True:
        raise ValueError("should be the URL of a proxy, or false")
    return value


def _proxy_url(url: str) -> str:
    from ingest.fetch.proxies import parse_proxy

    if not url:
        return url
    try:
        proxy = parse_proxy(url, subject="proxy")
    except ConfigError as error:
        raise ValueError("is not the URL of an http or https proxy, nor false") from error
    if proxy.authorization is not None:
        raise ValueError("holds a user or password; put the URL into a variable and name that with proxy_env")
    return url


def _own_header(name: str) -> str:
    from ingest.fetch.credentials import name_refusal

    if reason := name_refusal(name):
        raise ValueError(reason)
    return name


# Strict: YAML's yes and on are no numbers.
Count = Annotated[int, Field(strict=True, ge=1)]
Seconds = Annotated[float, BeforeValidator(_seconds), Field(strict=True, ge=0, le=CENTURY)]


def _variable(name: str) -> str:
    # Capitals only, as POSIX has it: anything else is most likely the secret, in place of its name.
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        raise ValueError("should be the name of an environment variable, in capitals, not its value")
    return name


VariableName = Annotated[str, AfterValidator(_variable)]
ProxyValue = Annotated[str, BeforeValidator(_proxy), AfterValidator(_proxy_url)]
HeaderName = Annotated[str, AfterValidator(_own_header)]


def _languages(value: object) -> object:
    if isinstance(value, bool):
        return ("eng",) if value else ()
    return value


def _norwegian(value: object) -> object:
    return "no" if value is False else value  # YAML 1.1 reads the bare tag as a boolean


def _language_tag(tag: str) -> str:
    # RFC 5646, section 2.1: a language of two or three letters, then subtags.
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", tag):
        raise ValueError("should be the tag of a language, such as en, de or pt-BR")
    return tag


LanguageTag = Annotated[str, BeforeValidator(_norwegian), AfterValidator(_language_tag)]


def inner_path(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith(("/", "~")) or ".." in parts or "\\" in path:
        raise ValueError("should be the path of a file under the source file's folder")
    return PurePosixPath(path).as_posix()


def _relation(key: str) -> str:
    if key in STATED_KEYS:
        raise ValueError(f"{key!r} is read from all front matter and cannot be a relation of its own")
    return key


RelationKey = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]{0,63}$"), AfterValidator(_relation)]
_Language = Annotated[str, Field(pattern=r"^[a-z]{3}(_[A-Za-z]+)*$")]
Languages = Annotated[tuple[_Language, ...], BeforeValidator(_languages)]


def installed_kind(name: str) -> str:
    names = kind_names()
    if name not in names:
        *others, last = (f"'{one}'" for one in names)
        raise PydanticKnownError("literal_error", {"expected": f"{', '.join(others)} or {last}"})
    return name


def _selector(css: str) -> str:
    from ingest.parse.html.soup import selector_refusal

    if refusal := selector_refusal(css):
        raise ValueError(f"{css!r} is not a CSS selector: {refusal}")
    return css


def _one_or_several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Selector = Annotated[str, AfterValidator(_selector)]
Selectors = Annotated[tuple[Selector, ...], BeforeValidator(_one_or_several)]


def hook(value: object, so_far: ValidationInfo) -> Hook | None:
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", value):
        raise ValueError("should be the name of a function, as module:function")
    try:
        return find_hook(value, (so_far.context or {})["folder"])
    except HookError as error:
        raise ValueError(f"{value}: {error}") from error
