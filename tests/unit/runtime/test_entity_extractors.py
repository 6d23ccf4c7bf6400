"""What reads entities besides the rules, as the settings have it."""

from pathlib import Path

import pytest

from indexes.stores.ledger.ledger import Ledger
from runtime.language_model import check_extractor, open_extractor
from schemas.errors import ConfigError
from schemas.settings import Settings, load_settings


def _never() -> bool:
    return False


@pytest.fixture
def ledger_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.sqlite'}"


def test_without_a_url_rules_read_alone(ledger: Ledger) -> None:
    assert open_extractor(Settings(llm_model="small"), ledger, run_id="run-1", should_stop=_never) is None


def test_a_url_without_a_model_is_an_error(ledger: Ledger) -> None:
    with pytest.raises(ConfigError, match="names no model"):
        open_extractor(Settings(llm_url="http://127.0.0.1:1/v1"), ledger, run_id="run-1", should_stop=_never)


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "ftp://x/",
        "files://x/y",
        "http://[::1",
        "http://host:port",
        "http://exa mple/",
        "http://h.test/v1\n",
        "http://.../",
        f"http://{'a' * 64}.test/",
        "http://me:s3cret@h.test/v1",
    ],
)
def test_an_address_that_no_request_can_be_made_of_is_an_error(url: str) -> None:
    with pytest.raises(ConfigError, match=r"SITEGRAPH_LLM_URL: .* is not an http or https URL") as raised:
        check_extractor(Settings(llm_url=url, llm_model="small"))
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/v1", "http://[::1]:8000/v1", "http://my_llm:8000", "https://h.test./v1/"]
)
def test_an_address_of_a_server_is_taken(url: str) -> None:
    check_extractor(Settings(llm_url=url, llm_model="small", llm_key="k-3y"))


@pytest.mark.parametrize("key", ["kéy", "a\nb", "key "])
def test_a_key_that_no_header_can_carry_is_an_error_that_does_not_show_it(key: str) -> None:
    with pytest.raises(ConfigError, match="SITEGRAPH_LLM_KEY: holds a line end") as raised:
        check_extractor(Settings(llm_url="http://h.test/v1", llm_model="small", llm_key=key))
    assert key not in str(raised.value)


def test_a_url_beside_a_pipeline_is_an_error() -> None:
    with pytest.raises(ConfigError, match="SITEGRAPH_SPACY: cannot be combined with SITEGRAPH_LLM_URL"):
        check_extractor(Settings(llm_url="http://h.test/v1", llm_model="small", spacy="some_pipeline"))


@pytest.mark.parametrize("package", ["no_such_pipeline", "json", "no.such", ".", "a b"])
def test_a_pipeline_that_is_not_installed_is_an_error_before_it_is_needed(package: str) -> None:
    with pytest.raises(ConfigError, match="no spaCy pipeline of that name is installed"):
        check_extractor(Settings(spacy=package))


def test_another_model_has_answers_of_its_own(ledger: Ledger) -> None:
    url = "http://127.0.0.1:1/v1"
    keys = set()
    for name in ("small", "large", "small"):
        settings = Settings(llm_url=url, llm_model=name)
        extractor = open_extractor(settings, ledger, run_id="run-1", should_stop=_never)
        assert extractor is not None
        keys.add(extractor.key)
    assert len(keys) == 2


def test_the_key_of_the_model_is_not_printed() -> None:
    settings = load_settings({"SITEGRAPH_LLM_KEY": "s3cret", "SITEGRAPH_LLM_URL": "http://h.test/v1"})
    assert settings.llm_key == "s3cret"
    assert "s3cret" not in repr(settings)
