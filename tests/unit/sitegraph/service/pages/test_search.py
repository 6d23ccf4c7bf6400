"""The pages of search and answer, over a real index."""

import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from retrieval.learning.usage_log import log_folder
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle
from sitegraph.service.pages.frame import templates
from sitegraph.service.pages.results import group_results
from tests.unit.sitegraph.service.conftest import serving
from tests.unit.sitegraph.service.pages.test_frame import BROWSER
from tests.unit.sitegraph.service.test_metrics import scrape


def page(client: TestClient, path: str) -> str:
    answer = client.get(path, headers=BROWSER)
    assert answer.status_code == 200, answer.text
    return answer.text


def bundle_of(client: TestClient, query: str) -> dict[str, list[dict[str, str]]]:
    body = {"query": query, "top_k": 10, "rerank": False, "token_budget": 20_000, "by": "page"}
    found: dict[str, list[dict[str, str]]] = client.post("/retrieve", json=body).json()
    return found


def test_a_page_lists_what_the_api_finds_by_document_best_first(client: TestClient) -> None:
    found = page(client, "/search?q=base+backup")
    listed = re.findall(r'class="open" href="/cite/([^"]+)#passage"', found)
    evidence = bundle_of(client, "base backup")["evidence"]
    assert sorted(listed) == sorted(one["chunk_id"] for one in evidence)
    documents = re.findall(r'<h2><a href="/doc/([^"]+)"><bdi>([^<]+)', found)
    assert [doc for doc, _ in documents] == list(dict.fromkeys(one["doc"] for one in evidence))
    assert "Backup guide" in dict(documents).values()
    assert "<mark>backup</mark>" in found


def test_a_page_of_a_pdf_is_named(client: TestClient) -> None:
    assert '<span class="badge">PDF p. 3</span>' in page(client, "/search?q=tape+wear+over+ten+years")


def test_a_filter_narrows_the_list_and_stays_in_the_form(client: TestClient) -> None:
    found = page(client, "/search?q=tape&kind=pdf")
    assert 'value="pdf"' not in found or "selected" in found
    assert "Cold storage" not in found
    assert "<option selected>pdf</option>" in found


def test_what_is_wrong_with_a_filter_is_said_on_the_page(client: TestClient) -> None:
    answer = client.get("/search?q=tape&since=soon", headers=BROWSER)
    assert answer.status_code == 422
    assert "must be a date" in answer.text


def test_a_question_that_the_policy_refuses_is_refused(folder: Path) -> None:
    with serving(folder, deny="payroll") as client:
        for path in ("/search", "/answer"):
            assert client.get(f"{path}?q=payroll+data", headers=BROWSER).status_code == 403


def test_a_search_is_logged_and_what_is_half_typed_is_not(copy: Path) -> None:
    log = log_folder(copy) / "queries.jsonl"
    with serving(copy) as client:
        part = page(client, "/search?q=base+ba&typing=1")
        assert "<html" not in part
        assert "Backup guide" in part
        assert not log.exists()
        page(client, "/search?q=base+backup")
    assert len(log.read_text().splitlines()) == 1


@pytest.mark.parametrize("path", ["/search", "/", "/answer"])
def test_what_a_page_of_another_site_asks_by_a_link_is_not_logged(copy: Path, path: str) -> None:
    log = log_folder(copy) / "queries.jsonl"
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    with serving(copy) as client:
        asked = client.get(f"{path}?q=base+backup", headers={**BROWSER, **link})
        assert asked.status_code == 200
        assert "Backup guide" in asked.text
        assert not log.exists()
        counted = scrape(client)
        page(client, f"{path}?q=base+backup")
    assert counted["sitegraph_questions_total", "found"] == 0
    assert len(log.read_text().splitlines()) == 1


def test_a_ledger_that_does_not_answer_is_asked_by_one_view_of_the_start_page_a_minute(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, asked = ["2026-11-30T10:00:00+00:00"], list[object]()

    def fail(*args: object, **_: object) -> None:
        asked.append(args)
        raise StoreUnavailable("does not answer", subject="ledger")

    monkeypatch.setattr("indexes.own_ledger.open_own_ledger", fail)
    monkeypatch.setattr("sitegraph.service.parts.now", lambda: clock[0])
    with serving(folder) as client:
        for _ in range(3):
            assert "Backup guide" in page(client, "/")
        assert len(asked) == 1
        assert capsys.readouterr().err.count("without the ledger") == 1
        clock[0] = "2026-11-30T10:01:00+00:00"
        page(client, "/")
    assert len(asked) == 2


def test_a_word_that_stands_nowhere_is_told_once_it_is_typed_and_what_came_near_is_shown(
    client: TestClient,
) -> None:
    spelled = "Spelled like <bdi>retentionn</bdi>: <bdi>retention</bdi>"
    typed, searched, answered = (
        page(client, path)
        for path in ("/search?q=retentionn&typing=1", "/search?q=retentionn", "/answer?q=retentionn")
    )
    assert '<a href="/doc/' in typed
    assert spelled not in typed
    assert "Nothing was found" in searched
    assert spelled in searched
    assert spelled in answered
    assert "<h2>Nearest</h2>" in answered


def test_an_answer_stands_beside_the_passage_it_is_quoted_from(client: TestClient) -> None:
    found = page(client, "/answer?q=How+long+are+records+kept%3F")
    said = re.findall(
        r'<p class="text"[^>]*>(.*?)</p>\s*<div class="beside">(.*?)</div>\s*</div>', found, re.S
    )
    quoted, beside = said[0]
    assert "Records are kept for seven years." in quoted
    assert re.search(r"<summary><b>S\d+</b> <bdi>Retention policy</bdi>", beside)
    assert "<mark>Records are kept" in beside


def test_what_is_not_found_is_told_with_what_the_ledger_says(copy: Path) -> None:
    with closing(open_ledger(f"sqlite:///{IndexLayout(copy).ledger}")) as ledger:
        bad = KnownDocument(source="manual", uri="files://manual/<bad>.md", state=DocumentState.QUARANTINED)
        due = KnownDocument(
            source="manual",
            uri="files://manual/due.md",
            state=DocumentState.FETCHED,
            next_due="2020-01-01T00:00:00+00:00",
        )
        ledger.documents.save([replace(bad, reason="looks like an error page"), due])
    with serving(copy) as client:
        found = page(client, "/answer?q=zabaglione+on+Saturn%3F")
    assert "These words stand nowhere in it: <bdi>zabaglione</bdi>, <bdi>saturn</bdi>" in found
    assert "1 document in quarantine or failed" in found
    assert "files://manual/&lt;bad&gt;.md" in found
    assert "looks like an error page" in found
    assert "for the next run to look at" in found


def test_a_ledger_that_is_gone_costs_only_what_it_would_say(copy: Path) -> None:
    IndexLayout(copy).ledger.unlink()
    with serving(copy) as client:
        found = page(client, "/answer?q=zabaglione+on+Saturn%3F")
    assert "Not found" in found
    assert "may lack" not in found


@pytest.mark.parametrize(
    "steering", ["\x1b", "\x9b", "\u202e", "\u2066", "\u200f", "\x00", "\ud800", "\U000e0041", "\u2064"]
)
def test_what_steers_a_terminal_or_the_direction_is_shown_as_a_mark(steering: str) -> None:
    shown = templates().from_string("{{ said }}").render(said=f"a{steering}b\n\tc")
    assert shown == "a\ufffdb\n\tc"


def test_an_empty_bundle_has_no_groups() -> None:
    empty = ContextBundle(
        version=1, query="q", route="topic", generation=1, as_of="", degraded=(), persona=None, summaries=(),
        evidence=(), citations=(),
    )  # fmt: skip
    assert group_results(empty, {}) == ()
