"""What reads entities besides the rules, as the settings have it."""

from pathlib import Path

import pytest

from flows.extractors import open_extractor
from indexes.stores.ledger.ledger import Ledger
from schemas.errors import ConfigError
from schemas.settings import Settings, load_settings


@pytest.fixture
def ledger_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.sqlite'}"


def test_without_a_url_rules_read_alone(ledger: Ledger) -> None:
    assert open_extractor(Settings(llm_model="small"), ledger, run_id="run-1") is None


def test_a_url_without_a_model_is_an_error(ledger: Ledger) -> None:
    with pytest.raises(ConfigError, match="names no model"):
        open_extractor(Settings(llm_url="http://127.0.0.1:1/v1"), ledger, run_id="run-1")


def test_another_model_has_answers_of_its_own(ledger: Ledger) -> None:
    url = "http://127.0.0.1:1/v1"
    keys = set()
    for name in ("small", "large", "small"):
        extractor = open_extractor(Settings(llm_url=url, llm_model=name), ledger, run_id="run-1")
        assert extractor is not None
        keys.add(extractor.key)
    assert len(keys) == 2


def test_the_key_of_the_model_is_not_printed() -> None:
    settings = load_settings({"SITEGRAPH_LLM_KEY": "s3cret", "SITEGRAPH_LLM_URL": "http://h.test/v1"})
    assert settings.llm_key == "s3cret"
    assert "s3cret" not in repr(settings)
