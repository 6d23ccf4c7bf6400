"""Readers by token and by session, and what an application over a whole index does once access is stated."""

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from schemas.access import ReaderToken
from sitegraph.service.problems import respond
from sitegraph.service.readers import AudienceRouter, FailClosed, ReaderSessions, find_reader


def reader(name: str, *groups: str) -> ReaderToken:
    return ReaderToken(name=name, sha256=sha256(name.encode()).hexdigest(), groups=frozenset(groups))


READERS = (reader("guest"), reader("staff", "staff"))


def sessions(now: float = 1000.0, token: str = "secret") -> ReaderSessions:
    return ReaderSessions(token=token, now=lambda: now, readers=READERS)


def scope(cookie: str | None = None, *, bearer: str | None = None) -> dict[str, Any]:
    headers = [(b"cookie", f"{sessions().cookie}={cookie}".encode())] if cookie else []
    headers += [(b"authorization", f"Bearer {bearer}".encode())] if bearer else []
    return {"type": "http", "method": "GET", "path": "/search", "headers": headers}


def test_a_reader_is_found_by_the_hash_of_the_token() -> None:
    assert find_reader(READERS, "staff") == READERS[1]
    assert find_reader(READERS, READERS[1].sha256) is None


@pytest.mark.parametrize("name", ["guest", "staff"])
def test_a_session_says_whose_it_is(name: str) -> None:
    session = sessions().begin(name)
    found = sessions().reader_of(scope(session))
    assert found is not None
    assert found.name == name
    assert sessions().admits(scope(session))


def test_no_session_is_of_a_stranger_a_forger_or_for_ever() -> None:
    session = sessions().begin("staff") or ""
    assert sessions().begin("stranger") is None
    assert sessions().reader_of(scope(session[:-1] + "0")) is None
    assert sessions().reader_of(scope(f"9{session}")) is None
    assert sessions(now=10_000_000.0).reader_of(scope(session)) is None
    assert sessions(token="other").current(scope(session)) is None


def _led_to(asked: dict[str, Any]) -> str:
    reached: list[str] = []

    def application(name: str) -> Any:
        async def answer(_: Scope, __: Receive, ___: Send) -> None:
            reached.append(name)

        return answer

    router = AudienceRouter(
        {name: application(name) for name in ("public", "staff")},
        {"guest": "public", "staff": "staff"},
        sessions(),
        default="public",
    )
    asyncio.run(router(asked, None, None))  # type: ignore[arg-type]
    return reached[0]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (scope(), "public"),
        (scope(bearer="staff"), "staff"),
        (scope(bearer="guest"), "public"),
        (scope(bearer="stranger"), "public"),
        (scope(sessions().begin("staff")), "staff"),
        (scope(sessions().begin("staff"), bearer="guest"), "public"),
    ],
)
def test_each_request_is_led_to_its_readers_index(asked: dict[str, Any], name: str) -> None:
    assert _led_to(asked) == name


def test_a_service_that_began_before_access_was_stated_answers_no_more(tmp_path: Path) -> None:
    app = FailClosed(
        PlainTextResponse("everything"), whole=tmp_path, problem=lambda _, problem: respond(problem)
    )
    client = TestClient(app)
    assert client.get("/").text == "everything"
    (tmp_path / "audiences" / "allow=ai-input").mkdir(parents=True)
    assert client.get("/").text == "everything", "what only a use narrows closes nothing"
    (tmp_path / "audiences" / "public").mkdir()
    answer = client.get("/")
    assert answer.status_code == 503
    assert "restart it" in answer.text
