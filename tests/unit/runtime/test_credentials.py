"""Names of variables become headers; what is wrong with them is told without their values."""

import traceback

import pytest

from runtime.access import read_credentials
from schemas.errors import ConfigError
from schemas.records import to_record
from schemas.source import Auth, Source

_SEED = "https://docs.example.com/guide/"
_ENVIRON = {"DOCS_TOKEN": "tok-1", "DOCS_KEY": "key-2", "BROKEN": "tok\r\nHost: other", "EMPTY": ""}


def _source(**auth: object) -> Source:
    return Source(name="docs", kind="web", seeds=(_SEED,), auth=Auth(**auth))  # type: ignore[arg-type]


def test_a_bearer_token_and_headers_are_read_from_the_environment() -> None:
    source = _source(bearer_env="DOCS_TOKEN", headers_env=(("X-Api-Key", "DOCS_KEY"),))
    assert read_credentials(source, _ENVIRON).headers_for(_SEED) == (
        (b"Authorization", b"Bearer tok-1"),
        (b"X-Api-Key", b"key-2"),
    )
    assert "tok-1" not in repr(source) + str(to_record(source))


def test_a_source_without_a_login_reads_nothing() -> None:
    assert read_credentials(_source(), {}).headers_for(_SEED) == ()


@pytest.mark.parametrize("variable", ["DOCS_PASS", "EMPTY"])
def test_a_missing_variable_is_named(variable: str) -> None:
    with pytest.raises(ConfigError, match=f"auth of docs: {variable} is not set"):
        read_credentials(_source(bearer_env=variable), _ENVIRON)


def test_a_value_that_would_break_the_request_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="BROKEN") as caught:
        read_credentials(_source(headers_env=(("X-Api-Key", "BROKEN"),)), _ENVIRON)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert "Host: other" not in told
