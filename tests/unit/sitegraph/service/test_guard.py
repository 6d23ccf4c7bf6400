"""Who may ask, how much and how long, and what is written of it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from sitegraph.service.guard import Access, Guard, RequestLimits

LIMITS = RequestLimits(body_bytes=10, seconds=0.2)


async def echo(request: Request) -> Response:
    return PlainTextResponse(await request.body())


async def sleep(_: Request) -> Response:
    await asyncio.sleep(5)
    return PlainTextResponse("late")


async def fail(_: Request) -> Response:
    raise RuntimeError("secret of the inside")


async def wait_in_vain(_: Request) -> Response:
    raise TimeoutError("a server inside does not answer")


def client_of(log: list[Access], **options: Any) -> TestClient:
    routes = [
        Route("/echo/{id}", echo, methods=["GET", "POST"]),
        Route("/sleep", sleep),
        Route("/fail", fail),
        Route("/wait-in-vain", wait_in_vain),
        Route("/healthz", echo),
    ]
    given = {
        "limits": LIMITS,
        "token": None,
        "hosts": None,
        "log": log.append,
        "clock": iter(range(99)).__next__,
    }
    guard = Guard(Starlette(routes=routes), **{**given, **options})
    return TestClient(guard, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


def test_the_body_passes_and_too_long_a_one_is_refused_with_and_without_a_length() -> None:
    client = client_of([])

    def parts() -> Iterator[bytes]:
        yield b"12345"
        yield b"678901"

    assert client.post("/echo/1", content=b"1234567890").text == "1234567890"
    for body in (b"12345678901", parts()):
        response = client.post("/echo/1", content=body)
        assert (response.status_code, response.json()["error"]) == (413, "TooLarge")


def test_what_takes_too_long_is_ended() -> None:
    response = client_of([]).get("/sleep")
    assert (response.status_code, response.json()["detail"]) == (504, "took longer than 0.2 s")


def test_a_timeout_inside_is_a_failure_that_the_server_logs() -> None:
    client = client_of([])
    assert client.get("/wait-in-vain").status_code == 500
    with pytest.raises(TimeoutError, match="a server inside"):
        TestClient(client.app, base_url="http://127.0.0.1:8000").get("/wait-in-vain")


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Bearer right-token", 200),
        ("bearer  right-token ", 200),
        ("Bearer wrong", 401),
        ("Bearer right-tokenx", 401),
        ("Basic right-token", 401),
        ("Bearer", 401),
        ("Bearer ä", 401),
        (None, 401),
    ],
)
def test_a_token_is_asked_for_everywhere_but_of_what_looks_after_the_process(
    header: str | None, status: int
) -> None:
    client = client_of([], token="right-token")
    headers = {} if header is None else {"authorization": header.encode("utf-8")}
    response = client.get("/echo/1", headers=headers)
    assert response.status_code == status
    assert ("www-authenticate" in response.headers) is (status == 401)
    assert client.get("/nowhere").status_code == 401
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("header", "status"),
    [("Basic dXNlcjpwYXNz", 200), ("Bearer wrong", 401), ("BEARER wrong", 401), ("", 200), (None, 200)],
)
def test_only_a_bearer_token_stands_before_what_is_admitted_without_one(
    header: str | None, status: int
) -> None:
    client = client_of([], token="right-token", admits=lambda scope: scope["path"] == "/echo/1")
    headers = {} if header is None else {"authorization": header}
    assert client.get("/echo/1", headers=headers).status_code == status
    assert client.get("/sleep", headers=headers).status_code == 401


NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("GET", {"sec-fetch-site": "none", **NAVIGATION}, 200),
        ("GET", {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}, 200),
        ("GET", {"sec-fetch-site": "cross-site", **NAVIGATION}, 200),
        ("GET", {"sec-fetch-site": "cross-site"}, 403),
        (
            "GET",
            {"sec-fetch-site": "Cross-Site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
            403,
        ),
        ("GET", {"sec-fetch-site": "cross-site", **NAVIGATION, "sec-fetch-dest": "iframe"}, 403),
        (
            "GET",
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "document"},
            403,
        ),
        ("POST", {"sec-fetch-site": "cross-site", **NAVIGATION}, 403),
    ],
)
def test_a_page_of_another_site_may_lead_here_and_ask_nothing(
    method: str, headers: dict[str, str], status: int
) -> None:
    answer = client_of([]).request(method, "/echo/1", headers=headers)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["detail"].startswith("requested by a page of another site")


def test_a_token_is_enough_whatever_page_asks_with_it() -> None:
    client = client_of([], token="right-token")
    headers = {"authorization": "Bearer right-token", "sec-fetch-site": "cross-site"}
    assert client.get("/echo/1", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:8000", 200), ("LOCALHOST", 200), ("[::1]:9", 200), ("evil.example:8000", 421), ("", 421)],
)
def test_only_names_of_the_service_are_answered_where_there_is_no_token(host: str, status: int) -> None:
    client = client_of([], hosts={"127.0.0.1", "localhost", "[::1]"})
    assert client.get("/echo/1", headers={"host": host}).status_code == status


def test_the_log_has_the_route_and_nothing_of_what_was_asked() -> None:
    log: list[Access] = []
    client = client_of(log, token="right-token")
    client.get("/echo/private?key=hidden", headers={"authorization": "Bearer right-token"})
    client.get("/echo/private")
    client.get("/fail", headers={"authorization": "Bearer right-token"})
    client.get("/nowhere/private", headers={"authorization": "Bearer right-token"})
    assert log == [
        Access(method="GET", route="/echo/{id}", status=200, seconds=1),
        Access(method="GET", route="-", status=401, seconds=1),
        Access(method="GET", route="/fail", status=500, seconds=1),
        Access(method="GET", route="-", status=404, seconds=1),
    ]


def test_browsers_are_told_not_to_guess_types() -> None:
    assert client_of([]).get("/echo/1").headers["x-content-type-options"] == "nosniff"
