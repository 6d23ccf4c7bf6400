"""The HTTP interface: what it answers, and that it changes nothing."""

import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from indexes.publish.current import write_current
from retrieval.learning.usage_log import log_folder
from retrieval.live import open_retriever
from retrieval.question.query import build_query
from schemas.errors import ConfigError
from schemas.nodes import Chunk
from schemas.records import to_record
from sitegraph.service import app as app_module
from sitegraph.service.guard import RequestLimits
from sitegraph.service.source import check_source_url
from tests.fakes.governance import governance_documents
from tests.fakes.next_generation import publish_next
from tests.fakes.small_index import page
from tests.unit.sitegraph.service.conftest import serving

ROOT = Path(__file__).parents[4]
BUNDLE = json.loads((ROOT / "docs" / "reference" / "bundle.schema.json").read_text("utf-8"))
NOBODY = "a" * 26


def chunks() -> list[Chunk]:
    return [chunk for _, found in governance_documents()[0] for chunk in found]


def ask(client: TestClient, query: str, **more: Any) -> dict[str, Any]:
    """The bundle that answers a question."""
    response = client.post("/retrieve", json={"query": query, **more})
    assert response.status_code == 200, response.text
    record: dict[str, Any] = response.json()
    return record


def problem(response: Any, status: int) -> str:
    """What a problem says, once its form is right."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    record = response.json()
    assert (record["type"], record["status"]) == ("about:blank", status)
    return str(record["detail"])


def test_a_bundle_is_that_of_the_library_and_keeps_the_published_schema(
    client: TestClient, folder: Path
) -> None:
    filters = {"doc_type": ["governance", "adr"], "status": "active"}
    record = ask(client, "What depends on GOV-0017?", top_k=5, filters=filters)
    Draft202012Validator(BUNDLE).validate(record)
    with open_retriever(folder, environment={}, clock=lambda: 0.0) as retriever:
        from retrieval.question.query import filters_from_record

        query = build_query(
            "What depends on GOV-0017?", top_k=5, filters=filters_from_record(filters), rerank=None
        )
        assert record == json.loads(json.dumps(to_record(retriever.retrieve(query))))


def test_a_question_after_relations_is_answered_with_its_chain(client: TestClient) -> None:
    record = ask(client, "How are ADR-0031 and PRD-0008 related?", top_k=3)
    Draft202012Validator(BUNDLE).validate(record)
    (relation,) = record["relations"]
    assert [hop["kind"] for hop in relation["hops"]] == ["depends_on", "relates_to"]
    assert {hop["S"] for hop in relation["hops"]} <= {one["S"] for one in record["evidence"]}


def test_what_was_asked_is_in_the_usage_log_and_nothing_else_is_written(copy: Path) -> None:
    def digest() -> str:
        files = sorted(path for path in copy.rglob("*") if path.is_file() and "ledger" not in path.name)
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()

    before = digest()
    with serving(copy) as client:
        ask(client, "cold storage", top_k=3)
        client.get("/changes", params={"since": 0})
        client.get(f"/chunks/{chunks()[0].id}")
    assert digest() == before
    (line,) = (log_folder(copy) / "queries.jsonl").read_text("utf-8").splitlines()
    entry = json.loads(line)
    assert (entry["query"], entry["top_k"], entry["use_graph"]) == ("cold storage", 3, True)


def test_a_chunk_comes_with_its_citation_and_its_place(client: TestClient) -> None:
    chunk = next(chunk for chunk in chunks() if chunk.section == "Restore")
    record = client.get(f"/chunks/{chunk.id}").json()
    assert record["generation"] == 1
    assert record["citation"] == "backup.md#restore"
    assert record["passage"] == f"»{chunk.text}«"
    assert record["chunk"] == json.loads(json.dumps(to_record(chunk)))


def test_the_page_of_a_pdf_passage_is_a_picture_with_its_box(client: TestClient) -> None:
    chunk = next(chunk for chunk in chunks() if chunk.page_no == 3)
    response = client.get(f"/chunks/{chunk.id}/page.png")
    assert (response.status_code, response.headers["content-type"]) == (200, "image/png")
    picture = pymupdf.Pixmap(response.content)
    assert (picture.width, picture.height) == (935, 1210)
    assert (255, 0, 0) in {picture.pixel(x, 200) for x in range(picture.width)}


def test_a_passage_of_no_page_has_no_picture(client: TestClient) -> None:
    chunk = next(chunk for chunk in chunks() if chunk.page_no is None)
    assert "is not on a page" in problem(client.get(f"/chunks/{chunk.id}/page.png"), 404)


def test_a_document_has_its_fields_and_its_chunks_page_by_page(client: TestClient) -> None:
    rows = [chunk for chunk in chunks() if chunk.file_path == "backup.md"]
    record = client.get(f"/documents/{rows[0].doc}").json()
    assert (record["document"]["kind"], record["document"]["title"]) == ("Page", "Backup guide")
    assert [one["id"] for one in record["chunks"]] == [chunk.id for chunk in rows]
    second = client.get(f"/documents/{rows[0].doc}", params={"offset": 1, "limit": 1}).json()
    assert (second["total"], second["chunks"]) == (3, record["chunks"][1:2])


def test_the_feed_comes_in_whole_generations(client: TestClient) -> None:
    feed = client.get("/changes", params={"since": 0, "limit": 1}).json()
    assert (feed["since"], feed["until"], len(feed["entries"])) == (0, 1, 3)
    assert client.get("/changes", params={"since": 1}).json()["entries"] == []
    assert client.get("/changes", params={"since": 0, "source": "nobody"}).json()["entries"] == []


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        (f"/chunks/chunk:{NOBODY}", 404, f"generation 1 has no chunk:{NOBODY}"),
        (f"/chunks/chunk:{NOBODY}/page.png", 404, "has no chunk"),
        (f"/documents/page:{NOBODY}", 404, "has no page"),
        ("/chunks/1", 422, "id: must be the id of a chunk, as results have it"),
        ("/documents/chunk:" + NOBODY, 422, "id: must be the id of a page or pdfdoc, as results have it"),
        ("/changes", 422, "query.since"),
        ("/changes?since=7", 404, "since: generation 7 is not published"),
        ("/changes?since=-1", 422, "query.since"),
        ("/nothing", 404, "Not Found"),
        ("/docs", 404, "Not Found"),
        ("/retrieve", 405, "Method Not Allowed"),
    ],
)
def test_what_is_not_there_or_wrong_is_a_problem(
    client: TestClient, path: str, status: int, words: str
) -> None:
    said = problem(client.get(path), status)
    assert words in said
    assert not said.startswith("--"), "nobody typed an option"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "body.1"),
        (b"", "body"),
        (b"[]", "body"),
        (b'{"query": " "}', "body.query"),
        (b'{"query": "x", "top_k": 51}', "body.top_k"),
        (b'{"query": "x", "top_k": "5"}', "body.top_k"),
        (b'{"query": "x", "answer": 1}', "body.answer"),
        (b'{"query": "x", "token_budget": 1000000}', "body.token_budget"),
        (b'{"query": "\\ud800"}', "body.query"),
        (b'{"query": "x", "filters": {"colour": "red"}}', "'colour': is not a filter"),
        (b'{"query": "x", "filters": {"page_no": "first"}}', "must be a page number"),
    ],
)
def test_a_wrong_question_says_what_is_wrong_and_not_what_was_sent(
    client: TestClient, body: bytes, words: str
) -> None:
    response = client.post("/retrieve", content=body, headers={"content-type": "application/json"})
    assert words in problem(response, 422)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_question_that_is_not_sent_as_json_is_told_how_to_be(client: TestClient, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    response = client.post("/retrieve", content=b'{"query": "leases"}', headers=headers)
    assert "sent with the header Content-Type: application/json" in problem(response, 422)


def test_head_is_answered_wherever_get_is(client: TestClient) -> None:
    asked = ("/", "/search?q=tape", "/runs", "/healthz", "/readyz", "/metrics", "/source")
    for path in (*asked, "/changes?since=0", f"/chunks/{chunks()[0].id}", "/nothing", "/retrieve"):
        headers = {"accept": "text/html" if path in asked[:3] else "*/*"}
        head, got = client.head(path, headers=headers), client.get(path, headers=headers)
        assert head.status_code == got.status_code, path
        assert head.headers["content-type"] == got.headers["content-type"], path


def test_a_publish_and_a_rollback_show_at_the_next_request(copy: Path) -> None:
    with serving(copy) as client:
        assert client.get("/readyz").json()["generation"] == 1
        publish_next(copy, [page("new", {"New page": "Only this."})])
        assert client.get("/readyz").json()["generation"] == 2
        assert [one["text"] for one in ask(client, "new page")["evidence"]] == ["Only this."]
        write_current(copy, 1)
        assert ask(client, "new page")["generation"] == 1


def test_a_worker_too_busy_for_any_question_is_ready(folder: Path) -> None:
    with serving(folder, limits=RequestLimits(seconds=300.0, working=1, waiting=-1)) as client:
        assert client.get("/changes?since=0").status_code == 503
        assert client.get("/readyz").json()["generation"] == 1


def test_an_index_that_cannot_be_read_is_503_without_a_path_and_comes_back(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(copy) as client:
        shutil.move(copy / "CURRENT", copy / "hidden")
        assert client.get("/healthz").status_code == 200
        assert str(copy) not in problem(client.get("/readyz"), 500)
        shutil.move(copy / "hidden", copy / "CURRENT")
        assert client.get("/readyz").status_code == 200
        shutil.move(copy, copy.with_name("away"))
        response = client.post("/retrieve", json={"query": "x"})
        assert str(copy) not in problem(response, 503)
        assert response.headers["retry-after"] == "2"
        assert str(copy) in capsys.readouterr().err
        shutil.move(copy.with_name("away"), copy)
        assert ask(client, "x")["generation"] == 1


def test_without_a_ledger_there_is_no_feed_and_none_is_made(copy: Path) -> None:
    for file in copy.glob("ledger*"):
        file.unlink()
    pdf = next(chunk.id for chunk in chunks() if chunk.page_no)
    with serving(copy) as client:
        problem(client.get("/changes", params={"since": 0}), 503)
        problem(client.get(f"/chunks/{pdf}/page.png"), 503)
    assert list(copy.glob("ledger*")) == []


def test_a_question_that_the_policy_denies_is_403_and_is_not_logged(copy: Path) -> None:
    with serving(copy, deny="payroll, staff list") as client:
        detail = problem(client.post("/retrieve", json={"query": "show the Staff  List"}), 403)
        assert "staff list" in detail
        assert client.post("/retrieve", json={"query": "payrolls"}).status_code == 200
    entries = (log_folder(copy) / "queries.jsonl").read_text("utf-8")
    assert "Staff" not in entries


def test_a_tool_and_a_persona_of_the_asker_are_in_the_bundle(client: TestClient) -> None:
    use = {"name": "tape", "inputs": {"a": 1}, "result": {"ok": True}}
    record = ask(client, "cold storage", tool=use, persona="Support")
    Draft202012Validator(BUNDLE).validate(record)
    assert record["tool_plan"]["problems"] == ["the index knows no such tool"]
    assert (record["tool_result"], record["persona"]) == ({"ok": True}, "Support")


def test_every_answer_leads_to_the_licence_and_to_the_source(client: TestClient) -> None:
    for path in ("/healthz", "/no/such/path", "/openapi.json"):
        link = client.get(path).headers["Link"]
        assert 'agpl-3.0.html>; rel="license"' in link
        assert '</source>; rel="https://www.gnu.org/licenses/agpl-3.0.html#section13"' in link
    contract = client.get("/openapi.json").json()
    assert contract["info"]["license"]["identifier"] == "AGPL-3.0-or-later"
    assert contract["externalDocs"]["url"] == "/source"


def test_the_source_is_what_runs_and_builds_the_package_again(client: TestClient, tmp_path: Path) -> None:
    answer = client.get("/source")
    assert answer.headers["Content-Type"] == "application/gzip"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as tar:
        tar.extractall(tmp_path, filter="data")
    given = tmp_path / "sitegraph"
    assert (given / "sitegraph" / "service" / "app.py").read_bytes() == Path(app_module.__file__).read_bytes()

    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheel")]
    subprocess.run(command, cwd=given, check=True, capture_output=True, timeout=120)
    assert len(list((tmp_path / "wheel").glob("sitegraph-*.whl"))) == 1


def test_a_source_that_is_kept_elsewhere_is_linked_and_led_to(folder: Path) -> None:
    url = "https://code.example/our-sitegraph"
    with serving(folder, source_url=url) as client:
        answer = client.get("/source", follow_redirects=False)
        assert (answer.status_code, answer.headers["Location"]) == (307, url)
        assert f"<{url}>" in answer.headers["Link"]
        assert client.get("/openapi.json").json()["externalDocs"]["url"] == url


@pytest.mark.parametrize("url", ["nowhere", "ftp://a/b", "https://", 'https://a/">x', "https://a/\nb"])
def test_a_source_address_that_no_browser_opens_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="must be an http or https URL"):
        check_source_url(url)


def test_the_past_is_asked_by_number_and_by_date(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "index"
    shutil.copytree(folder, root)
    held = chunks()[0]
    with serving(root) as client:
        before = ask(client, "who keeps the night watch")
        publish_next(root, [page("boxes", {"Boxes": "The night watch is kept by boxes."})])

        assert ask(client, "who keeps the night watch", as_of="1") == before
        assert ask(client, "who keeps the night watch", as_of=1) == before
        assert ask(client, "who keeps the night watch")["generation"] == 2
        assert client.get(f"/chunks/{held.id}").status_code == 404
        assert client.get(f"/chunks/{held.id}", params={"as_of": "1"}).json()["chunk"]["id"] == held.id
        refused = client.post("/retrieve", json={"query": "boxes", "as_of": "1999-01-01"})
        assert "kept: 1 of" in problem(refused, 404)
        assert "generation 7 is not kept" in problem(
            client.post("/retrieve", json={"query": "boxes", "as_of": 7}), 404
        )
        for wrong in ("noon", -1, 1.5, True):
            assert problem(client.post("/retrieve", json={"query": "boxes", "as_of": wrong}), 422)


NOT_OF_THE_INDEX = {"/openapi.json", "/healthz", "/source", "/static/{name}", "POST /login", "POST /logout"}


def test_no_door_to_the_index_overlooks_that_a_request_narrows_it(client: TestClient) -> None:
    """Each heeds `allow`, whose audience nobody built here, or refuses it; none answers from the whole."""
    chunk, api = chunks()[0], client.app.app._app.app  # type: ignore[attr-defined]
    given = {"doc_id": chunk.doc, "page_no": "1", "dpi": "110", "path:path": "CURRENT", "name": "x"}
    doors = {
        (method, route.path)
        for route in api.routes
        for method in (route.methods or {"POST"}) - {"HEAD"}
        if not {route.path, f"{method} {route.path}"} & NOT_OF_THE_INDEX
    }
    assert len(doors) >= 18
    for method, path in sorted(doors):
        known = {**given, "id": chunk.doc if path.startswith("/documents") else chunk.id}
        known |= dict.fromkeys(("chunk_id", "node_id"), chunk.id)
        known["doc_id"] = f"pdfdoc:{NOBODY}" if path.endswith(".png") else chunk.doc
        address = re.sub(r"\{([^}]+)\}", lambda part, known=known: known[part[1]], path)
        answer = client.request(
            method,
            address,
            params={"allow": "ai-train", "since": 0, "generation": 1},
            json=CALL if path == "/mcp" else {"query": "x"} if method == "POST" else None,
            headers={"Accept": "application/json, text/event-stream" if path == "/mcp" else "text/html"},
        )
        assert answer.status_code == (200 if path == "/mcp" else 422), (path, answer.text)
        assert re.search("allow: (no audience allow=ai-train; build it|not taken here)", answer.text), path


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_sources", "arguments": {}},
}
