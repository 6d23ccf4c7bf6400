"""The proxy of a source: as its file says, else as the environment does."""

from collections.abc import Mapping

from ingest.fetch.proxies import ProxyRules, parse_proxy, read_proxies
from schemas.errors import ConfigError
from schemas.source import Source


def proxies_of(source: Source, environ: Mapping[str, str]) -> ProxyRules:
    """Give what the requests of a source go through.

    Raises: ConfigError: a variable holds no proxy that is spoken to, or is not set; its value is not told.
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
