"""Asking a server that speaks OpenAI's chat completions, well and badly."""

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ingest.fetch.completion import CompletionLimits, open_completion
from schemas.errors import (
    BudgetExceeded,
    ConfigError,
    FetchRefused,
    FetchTimeout,
    HostBusy,
    ParseError,
    SitegraphError,
)
from tests.fakes.llm_server import (
    MESSAGES,
    MISBEHAVIOURS,
    Asked,
    LlmServer,
    Reply,
    closed_url,
    refuse,
    say,
    serve_llm,
)

SCHEMA = {"type": "object"}
QUICK = CompletionLimits(seconds=20, tries=2, backoff=0.01)
IMPATIENT = replace(QUICK, seconds=0.4)
ERRORS: dict[str, tuple[type[SitegraphError], str, int]] = {
    "slow": (FetchTimeout, "no whole answer within 0.4 s", 1),
    "hanging": (FetchTimeout, "no whole answer within 0.4 s", 1),
    "cut off": (FetchTimeout, "does not answer", 2),
    "not HTTP": (FetchTimeout, "does not answer", 2),
    "empty": (ParseError, "something else than JSON", 1),
    "invalid JSON": (ParseError, "something else than JSON", 1),
    "JSON of another schema": (ParseError, "without a choice", 1),
    "deep JSON": (ParseError, "something else than JSON", 1),
    "empty choices": (ParseError, "without a choice", 1),
    "content that is no text": (ParseError, "without text", 1),
    "no content": (ParseError, "without text", 1),
    "refusal": (ParseError, "the model refuses: I cannot help with that", 1),
    "cut by its own limit": (ParseError, "is cut off", 1),
    "429": (HostBusy, "answers 429; try later", 2),
    "429 with Retry-After": (HostBusy, "answers 429; try later", 1),
    "500": (HostBusy, "answers 500; try later", 2),
    "401": (FetchRefused, "answers 401; check address, model and key", 1),
    "404": (FetchRefused, r"answers 404 \(no such model\); check address, model and key", 1),
    "huge": (ParseError, "is over 1000000 bytes", 1),
    "redirect": (FetchRefused, "answers 302", 1),
    "non-UTF-8": (ParseError, "something else than JSON", 1),
    "claims to be packed": (ParseError, r"is packed \(gzip\), unasked", 1),
}
"""What each way to answer badly becomes, what is said, and how often it was asked."""


@pytest.fixture(scope="module")
def server() -> Iterator[LlmServer]:
    with serve_llm() as running:
        yield running


def ask(server: LlmServer, limits: CompletionLimits = QUICK, key: str | None = None) -> str:
    return open_completion(server.url + "/", model="small", api_key=key, limits=limits)(MESSAGES, SCHEMA)


def test_the_question_goes_out_with_its_schema_and_the_answer_comes_back(server: LlmServer) -> None:
    server.script(say('{"entities": []}'))
    assert ask(server, key="s3cret") == '{"entities": []}'
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == "Bearer s3cret"
    assert (asked.body["model"], asked.body["temperature"]) == ("small", 0)
    assert asked.body["messages"] == list(MESSAGES)
    assert asked.body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_without_a_key_none_is_sent(server: LlmServer) -> None:
    server.script(say("{}"))
    ask(server)
    assert "Authorization" not in server.asked[0].headers


def test_without_a_schema_a_text_is_asked_for(server: LlmServer) -> None:
    server.script(say("Ada keeps it [S1]."))
    complete = open_completion(server.url, model="small", api_key=None, limits=QUICK)
    assert complete(MESSAGES, None) == "Ada keeps it [S1]."
    assert "response_format" not in server.asked[0].body


def test_every_way_to_answer_badly_has_its_error() -> None:
    assert set(ERRORS) == set(MISBEHAVIOURS)


@pytest.mark.parametrize("way", sorted(ERRORS))
def test_a_bad_answer_is_an_error_that_names_the_server(server: LlmServer, way: str) -> None:
    error, said, times = ERRORS[way]
    server.script(MISBEHAVIOURS[way])
    with pytest.raises(error, match=said) as raised:
        ask(server, IMPATIENT if way in {"slow", "hanging"} else QUICK, key="s3cret")
    assert raised.value.subject == f"{server.url}/chat/completions"
    assert "s3cret" not in str(raised.value)
    assert len(server.asked) == times


def test_a_server_that_is_not_there_is_one_to_try_later() -> None:
    with pytest.raises(FetchTimeout, match="does not answer"):
        open_completion(closed_url(), model="small", api_key=None, limits=QUICK)(MESSAGES, SCHEMA)


def test_what_passes_by_is_tried_again(server: LlmServer) -> None:
    server.script(refuse(429, Retry_After="0"), MISBEHAVIOURS["cut off"], say("{}"))
    assert ask(server, replace(QUICK, tries=3)) == "{}"
    assert len(server.asked) == 3


def test_a_wait_that_is_asked_for_in_bounds_is_kept(server: LlmServer) -> None:
    date = {"Date": "Sun, 01 Feb 2026 12:00:00 GMT", "Retry_After": "Sun, 01 Feb 2026 12:00:09 GMT"}
    server.script(refuse(503, **date), say("{}"))
    with pytest.raises(FetchTimeout, match="within"):
        ask(server, replace(QUICK, seconds=0.2))
    server.script(refuse(503, **date))
    with pytest.raises(HostBusy) as raised:
        ask(server, replace(QUICK, longest_wait=8))
    assert raised.value.retry_after == 9


def test_a_server_that_knows_no_schema_is_asked_for_json_and_then_for_text(server: LlmServer) -> None:
    def old(asked: Asked) -> Reply:
        form = asked.body.get("response_format", {}).get("type", "text")
        return say('{"a": 1}') if form == "text" else refuse(400, f"{form} is unknown")

    server.script(old)
    complete = open_completion(server.url, model="small", api_key=None, limits=QUICK)
    assert complete(MESSAGES, SCHEMA) == '{"a": 1}'
    assert len(server.asked) == 3
    assert '{"type": "object"}' in server.prompts()[-1]
    assert complete(MESSAGES, SCHEMA) == '{"a": 1}'
    assert len(server.asked) == 4, "what it does not know is asked for once"


def test_a_question_that_it_refuses_in_every_form_is_an_error_with_its_reason(server: LlmServer) -> None:
    server.script(refuse(400, "the question is too long for s3cret"))
    with pytest.raises(FetchRefused, match=r"answers 400 \(the question is too long for \[key\]\)"):
        ask(server, key="s3cret")
    assert len(server.asked) == 3


def test_json_is_taken_out_of_its_fence(server: LlmServer) -> None:
    server.script(say('```json\n{"a": 1}\n```\n'))
    assert json.loads(ask(server)) == {"a": 1}


def test_calls_past_the_budget_are_an_error_and_not_sent(server: LlmServer) -> None:
    server.script(refuse(500), say("{}"))
    complete = open_completion(server.url, model="small", api_key=None, limits=replace(QUICK, calls=3))
    complete(MESSAGES, SCHEMA)
    complete(MESSAGES, SCHEMA)
    with pytest.raises(BudgetExceeded, match="3 calls for the model is used up; raise SITEGRAPH_LLM_CALLS"):
        complete(MESSAGES, SCHEMA)
    assert len(server.asked) == 3, "a try is a call"


@pytest.mark.parametrize("told", [900, None])
def test_tokens_past_the_budget_are_an_error_and_not_sent(server: LlmServer, told: int | None) -> None:
    server.script(say("a" * 4000, tokens=told))
    complete = open_completion(server.url, model="small", api_key=None, limits=replace(QUICK, tokens=1000))
    complete(MESSAGES, SCHEMA)
    with pytest.raises(BudgetExceeded, match="1000 tokens for the model is used up"):
        complete([{"role": "user", "content": "b" * 400}], SCHEMA)
    assert len(server.asked) == 1


def test_one_question_past_the_budget_is_not_sent(server: LlmServer) -> None:
    server.script(say("{}"))
    complete = open_completion(server.url, model="small", api_key=None, limits=replace(QUICK, tokens=1000))
    with pytest.raises(BudgetExceeded):
        complete([{"role": "user", "content": "b" * 8000}], SCHEMA)
    assert server.asked == []


def test_threads_share_a_model_and_its_budget(server: LlmServer) -> None:
    server.script(say("{}"))
    complete = open_completion(server.url, model="small", api_key=None, limits=replace(QUICK, calls=5))
    spent: list[BudgetExceeded] = []

    def work() -> None:
        try:
            complete(MESSAGES, SCHEMA)
        except BudgetExceeded as error:
            spent.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(server.asked), len(spent)) == (5, 3)


def test_a_caller_that_stands_in_an_event_loop_may_ask_too(server: LlmServer) -> None:
    server.script(say("{}"))

    async def main() -> str:
        return ask(server)

    assert asyncio.run(main()) == "{}"


def test_a_lone_surrogate_of_a_crawled_text_goes_out(server: LlmServer) -> None:
    server.script(say("{}"))
    complete = open_completion(server.url, model="small", api_key=None, limits=QUICK)
    assert complete([{"role": "user", "content": "a\udcff"}], SCHEMA) == "{}"


def test_an_address_or_a_key_that_cannot_be_used_is_said_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match=r"model\.test: is no URL"):
        open_completion("model.test", model="small", api_key=None)
    with pytest.raises(ConfigError, match="SITEGRAPH_LLM_KEY: has characters") as raised:
        open_completion("http://model.test/v1", model="small", api_key="s3cret\n")
    assert "s3cret" not in str(raised.value)
    for key in ("s3cret ", " s3cret"):
        with pytest.raises(ConfigError, match="SITEGRAPH_LLM_KEY"):
            open_completion("http://model.test/v1", model="small", api_key=key)
    for url in ("http://", "http:///v1", "http://model.test:99999/v1", "http://[::1/v1", "http://a\r\nb/v1"):
        with pytest.raises(ConfigError, match="is no URL"):
            open_completion(url, model="small", api_key=None)


@pytest.mark.parametrize("before", ["", "x" * 190])
def test_a_server_that_repeats_the_key_does_not_get_it_shown(server: LlmServer, before: str) -> None:
    key = "s3cret-0123456789abcdef"
    for reply in (say(None, refusal=f"{before}{key}"), refuse(404, f"{before}{key}")):
        server.script(reply)
        with pytest.raises((ParseError, FetchRefused)) as raised:
            open_completion(server.url, model="small", api_key=key, limits=QUICK)(MESSAGES, None)
        assert "s3cret" not in str(raised.value)


def test_half_a_surrogate_pair_of_an_answer_is_replaced(server: LlmServer) -> None:
    server.script(Reply(body=b'{"choices": [{"message": {"content": "a\\ud800"}}]}'))
    assert open_completion(server.url, model="small", api_key=None, limits=QUICK)(MESSAGES, None) == "a?"
