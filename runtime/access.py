"""How a source is reached: its login from the environment, its proxy from its file or the environment."""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from ingest.fetch.proxies import (
    Credentials,
    ProxyRules,
    build_credentials,
    is_sendable,
    parse_proxy,
    read_proxies,
)
from ingest.plan.scope import seed_urls
from schemas.errors import ConfigError
from schemas.source import Source


def read_credentials(
    source: Source, environ: Mapping[str, str], *, seeds: Sequence[str] | None = None
) -> Credentials:
    """Return the headers that go with requests to the source's own site, that of *seeds* (None: its own).

    Raises: ConfigError: a variable is not set, or contains what no header can; names it, never its value.
    """
    headers = {name: _value(source, variable, environ) for name, variable in source.auth.headers_env}
    if source.auth.bearer_env is not None:
        headers["Authorization"] = f"Bearer {_value(source, source.auth.bearer_env, environ)}"
    own = seed_urls(source) if seeds is None else seeds
    return build_credentials(headers, seeds=own) if headers else Credentials()


def _value(source: Source, variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "")
    if not value:
        raise ConfigError(f"{variable} is not set in the environment", subject=f"auth of {source.name}")
    if not is_sendable(value):
        raise ConfigError(
            f"{variable} holds a line end, a space at an end or a character outside ASCII, "
            "which is not allowed in a header",
            subject=f"auth of {source.name}",
        )
    return value


_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_SOCKS = ("socks5://", "socks5h://")
_withheld: dict[str, str] = {}


@contextmanager
def without_unspoken(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Take out of *environ*, until the end of the block, the proxies that are not spoken to.

    Desktops set `all_proxy=socks://…` beside the others. Prefect's client does not start then, not even for
    a server on loopback, for which it needs no proxy (httpx, environment variables). Sources are told of
    them by `as_given`.
    """
    taken = {name: value for name, value in environ.items() if name.upper() in _VARIABLES and _is_odd(value)}
    for name in taken:
        del environ[name]
    _withheld.update(taken)
    try:
        yield
    finally:
        environ.update(taken)
        _withheld.clear()


def as_given(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return *environ* with what `without_unspoken` holds back."""
    return {**environ, **_withheld}


def _is_odd(value: str) -> bool:
    if value.strip().startswith(_SOCKS) and find_spec("socksio"):
        return False  # not spoken to by us, and yet by Prefect's client
    try:
        return bool(value.strip()) and parse_proxy(value.strip(), subject="") is None
    except ConfigError:
        return True


def proxies_of(source: Source, environ: Mapping[str, str]) -> ProxyRules:
    """Return what the requests of a source go through.

    Raises: ConfigError: a variable contains no proxy that is spoken to, or is not set; its value is not told.
    """
    if source.proxy == "":
        return ProxyRules()
    if source.proxy_env is not None and not environ.get(source.proxy_env):
        raise ConfigError(
            f"{source.proxy_env} is not set in the environment", subject=f"proxy_env of {source.name}"
        )
    if source.proxy is None and source.proxy_env is None:
        return read_proxies(environ)
    url = source.proxy or environ[source.proxy_env or ""]
    proxy = parse_proxy(url, subject=source.proxy_env or "proxy")
    return ProxyRules(http=proxy, https=proxy, everywhere=True)
