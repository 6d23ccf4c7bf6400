"""`GET /metrics`, asked of a service as Prometheus asks, and read with its own parser."""

import json
import os
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse
from starlette.testclient import TestClient

import retrieval.__main__
from indexes.layout import IndexLayout
from indexes.publish.current import hold_file
from runtime.settings import read_settings
from runtime.telemetry.catalogue import METRICS
from schemas.evidence import Interface
from schemas.health import IndexHealth
from schemas.settings import Settings
from sitegraph.cli.app import run_app
from sitegraph.service.contract import RetrieveRequest
from sitegraph.service.guard import RequestLimits
from sitegraph.service.mcp_.tools import retrieve_bundle
from sitegraph.service.metrics import HEALTH_SECONDS, IndexWatch, seconds_kept
from sitegraph.service.parts import open_service_parts
from sitegraph.service.worker import ServeOptions, build_service
from tests.fakes.receiver import attributes, receiving
from tests.unit.sitegraph.service.conftest import serving
from tests.unit.sitegraph.service.test_running import children, running, until

QUESTION = {"query": "who approves a release"}
NOWHERE = {"query": "who approves a release", "filters": {"source": "no-such-source"}}
TOKEN = "long-secret"


def scrape(client: TestClient, **headers: str) -> Mapping[tuple[str, ...], float]:
    """Every sample by its name and labels but the index."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    return samples(answer.text)


def samples(text: str) -> Mapping[tuple[str, ...], float]:
    """The same of a text."""
    return {
        (s.name, *(value for name, value in sorted(s.labels.items()) if name != "index")): s.value
        for family in parse(text)
        for s in family.samples
    }


def fetch(port: int, path: str) -> str:
    """A text that a service gives."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=300) as answer:
        return str(answer.read().decode())


def post(port: int, path: str, body: object) -> int:
    """The status of an answer; each request has a connection of its own, so that any worker may get it."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return int(answer.status)


def workers_of(process: subprocess.Popen[str]) -> dict[int, str]:
    """Worker processes of a service, and where each of them counts."""
    found = {}
    for pid in children(process):
        with suppress(OSError):  # it has just ended
            environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            named = [
                one.partition(b"=")[2] for one in environ if one.startswith(b"PROMETHEUS_MULTIPROC_DIR=")
            ]
            if named and b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found[pid] = named[0].decode()
    return found


def test_questions_move_counters_by_what_became_of_them(copy: Path) -> None:
    with serving(copy, deny="payroll") as client:
        before = scrape(client)
        asked = [client.post("/retrieve", json=body).status_code for body in (QUESTION, QUESTION, NOWHERE)]
        refused = client.post("/retrieve", json={"query": "what is on the payroll"})
        invalid = client.post("/retrieve", json={"nothing": "here"})
        after = scrape(client)

    assert (*asked, refused.status_code, invalid.status_code) == (200, 200, 200, 403, 422)
    moved = {name[1]: after[name] - before[name] for name in after if name[0] == "sitegraph_questions_total"}
    assert {name: count for name, count in moved.items() if count} == {
        "found": 2, "not_found": 1, "refused": 1, "invalid": 1,
    }  # fmt: skip
    assert after["sitegraph_question_duration_seconds_count",] == 3, "what is turned away hides no slow one"
    assert after["sitegraph_question_duration_seconds_bucket", "+Inf"] == 3
    assert after["sitegraph_question_duration_seconds_sum",] > 0
    assert after["sitegraph_http_requests_total", "POST", "/retrieve", "200"] == 3
    assert after["sitegraph_http_requests_total", "GET", "/metrics", "200"] == 1


def test_pages_for_people_count_as_questions_once_something_is_asked(copy: Path) -> None:
    with serving(copy) as client:
        paths = ("/", "/search?q=release", "/search?q=release&typing=1", "/answer?q=who+approves+a+release")
        browser = {"Accept": "text/html"}
        assert [client.get(path, headers=browser).status_code for path in paths] == [200] * 4
        told = scrape(client)

    assert told["sitegraph_questions_total", "found"] + told["sitegraph_questions_total", "not_found"] == 2


def test_the_index_is_told_as_readers_see_it(copy: Path) -> None:
    hold_file(IndexLayout(copy)).write_text("2026-01-05T00:00:00+00:00\n")
    with serving(copy) as client:
        told = scrape(client)

    assert told["sitegraph_index_up",] == 1
    assert told["sitegraph_generation",] == 1
    assert told["sitegraph_publishing_held",] == 1
    assert told["sitegraph_lance_rows", "chunks"] > 0


def test_questions_of_commands_and_of_stdio_mcp_are_told_as_soon_as_they_are_logged(copy: Path) -> None:
    question, place = QUESTION["query"], ("--index", str(copy))

    def told(client: TestClient) -> dict[tuple[str, ...], float]:
        return {
            name[1:]: n for name, n in scrape(client).items() if name[0] == "sitegraph_usage_questions_total"
        }

    with serving(copy) as client:
        assert told(client) == {}
        for command in (["query", question, *place], ["query", question, *place], ["ask", question, *place]):
            assert run_app(command) == 0
        assert told(client) == {("query", "found"): 2, ("ask", "not_found"): 1}
        assert retrieval.__main__.main(["--query", question, *place]) == 0
        with open_service_parts(read_settings(index=str(copy)), RequestLimits(), door=Interface.MCP) as parts:
            retrieve_bundle(parts, RetrieveRequest(query=question))
        others = {("retrieval", "found"): 1, ("mcp", "found"): 1}
        every = {("query", "found"): 2, ("ask", "not_found"): 1, **others}
        assert told(client) == every
        assert client.post("/retrieve", json=QUESTION).status_code == 200
        assert told(client) == every, "its own questions have metrics of their own"
        counted = {
            name[1]: n
            for name, n in scrape(client).items()
            if name[0].endswith("usage_question_duration_seconds_count")
        }
        assert counted == {"query": 2, "ask": 1, "retrieval": 1, "mcp": 1}


def test_every_name_that_is_told_is_in_the_catalogue(client: TestClient) -> None:
    told = {family.name for family in parse(client.get("/metrics").text)}

    assert told <= {metric.name.removesuffix("_total") for metric in METRICS}


def test_labels_contain_no_question_no_path_and_no_method_of_clients(copy: Path) -> None:
    with serving(copy) as client:
        client.post("/retrieve", json=QUESTION)
        client.get("/chunks/no-such-chunk?secret=1")
        client.get("/made/up/by/clients")
        client.request("MADEUP", "/retrieve")
        text = client.get("/metrics").text

    for word in ("approves", "no-such-chunk", "secret", "made/up", "MADEUP"):
        assert word not in text


def test_scraping_writes_nothing_into_the_index(copy: Path) -> None:
    def files() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in copy.rglob("*") if path.is_file()}

    with serving(copy) as client:
        client.post("/retrieve", json=QUESTION)
        before = files()
        for _ in range(3):
            scrape(client)
        assert files() == before


def test_metrics_are_behind_the_token_unless_they_are_open(folder: Path) -> None:
    for is_open, status in ((False, 401), (True, 200)):
        settings = Settings(index=str(folder), metrics_open=is_open)
        service = build_service(ServeOptions(settings=settings, token=TOKEN, hosts=None))
        with TestClient(service, base_url="http://127.0.0.1") as client:
            assert client.get("/metrics").status_code == status
            assert client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
            assert client.post("/retrieve", json=QUESTION).status_code == 401


def test_a_question_is_a_span_in_the_trace_of_who_asked(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        with serving(copy) as client:
            headers = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
            client.post("/retrieve", json=QUESTION, headers=headers)
            client.get("/healthz")

    (span,) = receiver.spans()
    assert span.name == "question"
    assert span.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert attributes(span) == {"sitegraph.outcome": "found", "sitegraph.status": 200}


def test_without_an_index_counters_are_told_all_the_same(copy: Path) -> None:
    with serving(copy) as client:
        client.post("/retrieve", json=QUESTION)
        IndexLayout(copy).manifest.rename(copy / "elsewhere.json")
        told = scrape(client)

    assert told["sitegraph_index_up",] == 0
    assert told["sitegraph_questions_total", "found"] == 1


def test_an_index_is_read_once_in_a_while_however_many_ask() -> None:
    read: list[str] = []
    moment = 0.0

    class Reader:
        def read(self, now: str) -> IndexHealth:
            read.append(now)
            return IndexHealth(index="i", problem="away")

    said: list[str] = []
    watch = IndexWatch(
        Reader(),  # type: ignore[arg-type]
        now=lambda: datetime(2026, 1, 5, tzinfo=UTC),
        clock=lambda: moment,
        warn=said.append,
    )
    askers = [threading.Thread(target=watch.families) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len(read) == 1

    moment = HEALTH_SECONDS
    watch.families()
    assert len(read) == 2
    assert len(said) == 1, "the same problem is said once"


@pytest.mark.parametrize(("took", "kept"), [(0.0, 15.0), (0.2, 15.0), (0.5, 25.0), (60.0, 300.0)])
def test_what_takes_long_to_read_is_read_less_often(took: float, kept: float) -> None:
    assert seconds_kept(took) == kept


def test_two_workers_give_whole_figures_also_of_one_that_died(copy: Path) -> None:
    with running(copy, "--workers", "2") as (process, port):
        ask = partial(post, port, "/retrieve", QUESTION)
        assert [ask() for _ in range(12)] == [200] * 12
        told = {samples(fetch(port, "/metrics"))["sitegraph_questions_total", "found"] for _ in range(6)}
        assert told == {12}, "whichever worker is asked"
        counted = {file.name.rpartition("_")[2] for file in counting(process).glob("counter_*.db")}
        assert len(counted) == 2, "both have counted"

        killed = max(workers_of(process))
        os.kill(killed, signal.SIGKILL)
        assert until(lambda: len(workers_of(process).keys() - {killed}) == 2, 120)
        assert [ask() for _ in range(4)] == [200] * 4
        told = {samples(fetch(port, "/metrics"))["sitegraph_questions_total", "found"] for _ in range(6)}
        assert told == {16}

        folder = counting(process)
        process.terminate()
        assert process.wait(timeout=120) == 0
        assert not folder.exists(), "what was counted goes with the service"


def counting(process: subprocess.Popen[str]) -> Path:
    """Where the workers of a service count."""
    (folder,) = set(workers_of(process).values())
    return Path(folder)
