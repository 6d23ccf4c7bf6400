"""A source's login: names in the source file, values in the environment."""

from collections.abc import Mapping, Sequence

from ingest.fetch.credentials import Credentials, build_credentials, is_sendable
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
