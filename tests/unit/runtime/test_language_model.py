"""The model that the settings name, within its budget."""

from collections.abc import Iterator

import pytest

from runtime.language_model import open_model
from schemas.errors import BudgetExceeded, ConfigError
from schemas.settings import Settings
from tests.fakes.llm_server import MESSAGES, LlmServer, say, serve_llm


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serve_llm() as running:
        yield running


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(llm_url="http://127.0.0.1:1/v1"), "SITEGRAPH_LLM_MODEL: names no model; set it"),
        (Settings(llm_url="nowhere", llm_model="small"), "nowhere: is no URL"),
    ],
)
def test_a_model_that_cannot_be_asked_at_all_is_named(settings: Settings, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        open_model(settings, budgeted=True)
    assert str(raised.value).startswith(said)


def test_without_a_url_there_is_no_model() -> None:
    assert open_model(Settings(llm_model="small"), budgeted=True) is None


def test_a_question_may_cost_so_many_calls_and_a_run_any_number(server: LlmServer) -> None:
    server.script(say("{}"))
    settings = Settings(llm_url=server.url, llm_model="small", llm_calls=1, llm_key="s3cret")
    asked, run = (open_model(settings, budgeted=budgeted) for budgeted in (True, False))
    assert asked is not None
    assert run is not None
    assert [asked(MESSAGES, None), run(MESSAGES, None), run(MESSAGES, None)] == ["{}"] * 3
    with pytest.raises(BudgetExceeded, match="1 calls for the model is used up"):
        asked(MESSAGES, None)
    assert server.asked[0].headers["Authorization"] == "Bearer s3cret"
