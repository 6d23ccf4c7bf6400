"""What every page of the service keeps: who gets one, what it may load, who may see it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sitegraph.service.guard import RequestLimits
from sitegraph.service.pages.frame import local_path, web_url
from tests.unit.sitegraph.service.conftest import serving

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
TOKEN = "open sesame"


@pytest.fixture
def guarded(folder: Path) -> Iterator[TestClient]:
    with serving(folder, token=TOKEN) as opened:
        opened.headers.update(BROWSER)
        opened.follow_redirects = False
        yield opened


def sign_in(client: TestClient, *, token: str = TOKEN, target: str = "/") -> None:
    response = client.post("/login", data={"token": token, "next": target})
    assert (response.status_code, response.headers["location"]) == (303, target)


def test_a_browser_gets_a_page_and_a_program_what_it_always_got(client: TestClient) -> None:
    page = client.get("/", headers=BROWSER)
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for accept in ("*/*", "application/json", "text/html;q=0, application/json"):
        answer = client.get("/", headers={"Accept": accept})
        assert (answer.status_code, answer.json()["error"]) == (404, "Refused")
        assert answer.headers["content-type"] == "application/problem+json"


def test_what_is_wrong_is_a_page_for_a_browser_and_json_for_a_program(client: TestClient) -> None:
    for path, status in (("/nowhere", 404), ("/chunks/x", 422), ("/retrieve", 405)):
        page, record = client.get(path, headers=BROWSER), client.get(path)
        assert (page.status_code, record.status_code) == (status, status)
        assert page.headers["content-type"].startswith("text/html")
        assert record.json()["status"] == status


@pytest.mark.parametrize("path", ["/search", "/answer"])
def test_a_question_that_is_turned_away_stays_in_the_form_and_is_asked_again_with_a_click(
    folder: Path, path: str
) -> None:
    with serving(folder, limits=RequestLimits(working=1, waiting=-1)) as busy:
        page = busy.get(f"{path}?q=night+%26+day&kind=pdf", headers=BROWSER)
    assert (page.status_code, page.headers["retry-after"]) == (503, "2")
    assert f'href="{path}?q=night+%26+day&amp;kind=pdf">Try again</a>' in page.text
    assert 'value="night &amp; day"' in page.text
    assert "<option selected>pdf</option>" in page.text


@pytest.mark.parametrize("path", ["/", "/search", "/answer"])
def test_the_address_of_what_was_asked_has_no_empty_fields(client: TestClient, path: str) -> None:
    sent = client.get(f"{path}?q=tape&source=&kind=pdf&since=&until=", headers=BROWSER)
    assert (sent.status_code, sent.url.path, sent.url.query) == (200, path, b"q=tape&kind=pdf")
    assert client.get(f"{path}?q=", headers=BROWSER).url.query == b""


def test_a_page_may_load_only_our_files_and_no_code_stands_in_it(client: TestClient) -> None:
    page = client.get("/", headers=BROWSER)
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert {policy[kind] for kind in ("script-src", "style-src", "img-src", "form-action")} == {"'self'"}
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page.text) == []


def test_files_are_named_by_their_hash_and_kept_by_browsers(client: TestClient) -> None:
    files = re.findall(r'"(/static/[^"]+)"', client.get("/", headers=BROWSER).text)
    assert len(files) >= 2
    for path in files:
        assert re.search(r"\.[0-9a-f]{12}\.\w+$", path)
        found = client.get(path)
        assert (found.status_code, found.headers["cache-control"]) == (
            200,
            "public, max-age=31536000, immutable",
        )
    for path in ("/static/style.css", "/static/..%2Fframe.py", "/static/style.000000000000.css"):
        assert client.get(path).status_code == 404


def test_who_has_no_session_gets_the_form_and_comes_to_the_page_that_was_asked(guarded: TestClient) -> None:
    asked = guarded.get("/search?q=a%26b")
    assert asked.status_code == 401
    assert 'name="next" value="/search?q=a%26b"' in asked.text
    wrong = guarded.post("/login", data={"token": "guess"})
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)
    sign_in(guarded, target="/search?q=a%26b")
    page = guarded.get("/search?q=a%26b")
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    assert 'value="a&amp;b"' in page.text


def test_the_cookie_is_of_this_site_alone_and_read_by_no_script(guarded: TestClient) -> None:
    plain = guarded.post("/login", data={"token": TOKEN}).headers["set-cookie"].lower()
    behind_tls = guarded.post("/login", data={"token": TOKEN}, headers={"X-Forwarded-Proto": "https"})
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in plain.split(";")}
    assert TOKEN not in plain
    assert "secure" not in plain
    assert "secure" in behind_tls.headers["set-cookie"].lower()


def test_the_cookie_opens_what_is_read_and_nothing_that_is_sent(guarded: TestClient) -> None:
    sign_in(guarded)
    assert guarded.get("/openapi.json").status_code == 200
    assert guarded.post("/retrieve", json={"query": "lease"}).status_code == 401
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.post("/retrieve", json={"query": "lease"}, headers=bearer).status_code == 200
    assert guarded.get("/openapi.json", headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_two_services_on_one_host_do_not_sign_each_other_out(guarded: TestClient, folder: Path) -> None:
    sign_in(guarded)
    with serving(folder, token="another") as other:
        other.headers.update(BROWSER)
        other.follow_redirects = False
        other.cookies.update(guarded.cookies)
        sign_in(other, token="another")
        guarded.cookies.update(other.cookies)
        for client in (guarded, other):
            assert len(client.cookies) == 2
            assert "another" not in str(client.cookies)
            assert client.get("/login").status_code == 200
            assert client.get("/").status_code == 200


def test_what_a_signed_in_browser_reads_is_kept_nowhere(guarded: TestClient, client: TestClient) -> None:
    sign_in(guarded)
    chunk = "chunk:" + "a" * 26
    for path in ("/openapi.json", "/readyz", "/changes?since=0", f"/chunks/{chunk}", "/nowhere"):
        answer = guarded.get(path, headers={"Accept": "application/json"})
        assert answer.headers.get("cache-control") == "no-store", path
    (style,) = re.findall(r'href="(/static/style[^"]+)"', guarded.get("/").text)
    assert guarded.get(style).headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "cache-control" not in client.get("/openapi.json").headers


def test_a_form_of_too_many_fields_is_refused(guarded: TestClient) -> None:
    fields = {f"field{number}": "x" for number in range(9)}
    page = guarded.post("/login", data=fields)
    record = guarded.post("/login", data=fields, headers={"Accept": "application/json"})
    assert (page.status_code, record.status_code) == (422, 422)
    assert record.json()["detail"] == "the form has more than 8 fields"


def test_a_cookie_that_nobody_signed_or_that_is_over_opens_nothing(guarded: TestClient) -> None:
    sign_in(guarded)
    ((name, value),) = guarded.cookies.items()
    until, _, signature = value.partition(".")
    guarded.cookies.clear()
    for forged in (f"{int(until) + 1}.{signature}", f"1.{signature}", until, f"²{value}", "", "." * 9):
        sent = f"{name}={forged}".encode()
        assert guarded.get("/", headers=[(b"Cookie", sent)]).status_code == 401, forged
    assert guarded.get("/", headers={"Cookie": f"{name}={value}"}).status_code == 200


def test_signing_out_takes_the_form_of_this_session(guarded: TestClient) -> None:
    sign_in(guarded)
    key = re.search(r'name="key" value="(\w+)"', guarded.get("/").text)
    assert key is not None
    assert guarded.post("/logout", data={"key": "0" * 64}).status_code == 403
    assert guarded.get("/").status_code == 200
    assert guarded.post("/logout", data={"key": key[1]}).status_code == 303
    assert guarded.get("/").status_code == 401


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb", ""],
)
def test_signing_in_leads_nowhere_else(target: str) -> None:
    assert local_path(target) == "/"
    assert local_path("/cite/chunk:a?x=1") == "/cite/chunk:a?x=1"


def test_the_form_leads_to_no_other_host_though_the_address_looks_like_one(guarded: TestClient) -> None:
    for path in ("//evil.example/login", "///evil.example", "//evil.example/%5C?q=a"):
        asked = guarded.get(f"http://127.0.0.1{path}")
        assert asked.status_code == 401
        assert re.findall(r'href="([^"]*)">Already signed in', asked.text) == ["/"], path
        assert 'name="next" value="/"' in asked.text


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "JaVaScRiPt:x", "//a", "http:", "https://[", None, ""]
)
def test_a_link_leads_to_http_or_nowhere(url: str | None) -> None:
    assert web_url(url) is None
    assert web_url("https://a.example/b#c") == "https://a.example/b#c"


def test_a_service_without_a_token_has_no_form(client: TestClient) -> None:
    answer = client.get("/login", headers=BROWSER, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "Sign out" not in client.get("/", headers=BROWSER).text
