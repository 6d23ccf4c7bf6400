"""`sitegraph deploy` on a real Prefect server: what it makes, and when alarms reach somebody."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.run.events import IndexName, emit, events_of_report
from schemas.report import ChunkCounts, HttpTotals, PeakRss, RunReport
from tests.fakes.prefect_server import PrefectServer, poll, running_server, running_worker
from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_on
from tests.fakes.webhook import Receiver, receiver

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.timeout(900)]

PATIENCE_SECONDS = 400


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    """A server for these tests alone: its alarms are theirs."""
    settings = {"PREFECT_SERVER_EVENTS_PROACTIVE_GRANULARITY": "PT1S", "NO_PROXY": "127.0.0.1"}
    with running_server(tmp_path_factory.mktemp("prefect"), **settings) as running:
        running.cli("work-pool", "create", "sitegraph", "--type", "process")
        yield running


@pytest.fixture(scope="module")
def sitegraph(server: PrefectServer) -> Sitegraph:
    return sitegraph_on(server)


@pytest.fixture(scope="module")
def told(server: PrefectServer) -> Iterator[Receiver]:
    """Who is told of alarms, by the blocks custom-webhook/ops and webhook/ops."""
    from prefect.blocks.notifications import CustomWebhookNotificationBlock
    from prefect.blocks.webhook import Webhook
    from prefect.settings import PREFECT_API_URL, temporary_settings
    from pydantic import SecretStr

    with receiver() as listening, temporary_settings({PREFECT_API_URL: server.url}):
        block = CustomWebhookNotificationBlock(
            name="ops", url=listening.url, json_data={"subject": "{{subject}}", "body": "{{body}}"}
        )
        block.save("ops")
        Webhook(url=SecretStr(listening.url)).save("ops")
        yield listening


def write_source(folder: Path, name: str, keys: str = "") -> Path:
    (folder / "texts").mkdir(parents=True, exist_ok=True)
    (folder / "texts" / "lease.md").write_text("# Leases\n\nWhoever holds a lease may write to the index.\n")
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\nkind: files\nroots: [texts]\n{keys}")
    return path


def deploy(sitegraph: Sitegraph, *arguments: str) -> dict[str, Any]:
    done = sitegraph.call("deploy", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def actions(record: dict[str, Any], what: str = "deployments") -> dict[str, str]:
    return {one["name"]: one["action"] for one in record[what]}


def test_source_files_become_deployments_and_a_second_time_nothing_changes(
    server: PrefectServer, sitegraph: Sitegraph, tmp_path: Path
) -> None:
    nightly = 'schedule: {cron: "15 2 * * *", timezone: Europe/Berlin}\ndeployment: {tags: [docs]}\n'
    write_source(tmp_path, "handbook", nightly)
    write_source(tmp_path, "manual", "schedule: [6h, {every: 1h, due: true}]\n")
    write_source(tmp_path, "wiki", "schedule: FREQ=WEEKLY;BYDAY=MO;BYHOUR=3;BYMINUTE=0;BYSECOND=0\n")
    (tmp_path / "tools.yaml").write_text("tools: []\n")
    call = (str(tmp_path), "--home", str(tmp_path), "--index", str(tmp_path / "index"))

    planned = deploy(sitegraph, *call, "--dry-run")
    names = ["index-source/handbook", "index-source/manual", "index-source/wiki"]
    assert actions(planned) == dict.fromkeys(names, "create")
    assert server.call("/deployments/filter", {}) == [], "a dry run makes nothing"
    made = deploy(sitegraph, *call)
    again = deploy(sitegraph, *call)

    assert actions(made) == dict.fromkeys(names, "create")
    assert actions(again) == dict.fromkeys(names, "unchanged"), again
    assert set(actions(again, "alarms").values()) == {"unchanged"}
    found = server.call("/deployments/name/index-source/handbook")
    (schedule,) = found["schedules"]
    assert (schedule["schedule"]["cron"], schedule["schedule"]["timezone"]) == ("15 2 * * *", "Europe/Berlin")
    assert found["parameters"] == {"source": "handbook.yaml", "index": str(tmp_path / "index")}
    assert found["entrypoint"] == "flows.recrawl.index_source"
    assert (found["work_pool_name"], set(found["tags"])) == ("sitegraph", {"sitegraph", "docs"})
    assert found["global_concurrency_limit"]["limit"] == 1
    due = server.call("/deployments/name/index-source/manual")["schedules"]
    assert sorted((one["schedule"]["interval"], one["parameters"]) for one in due) == [
        (3600.0, {"due": True}),
        (21600.0, {}),
    ]

    write_source(tmp_path, "handbook", nightly.replace("15 2", "45 4"))
    (tmp_path / "wiki.yaml").unlink()
    changed = deploy(sitegraph, *call)

    assert actions(changed) == dict(zip(names, ("update", "unchanged", "pause"), strict=True))
    assert server.call("/deployments/name/index-source/wiki")["paused"] is True
    assert actions(changed, "alarms")["sitegraph: no publish of wiki"] == "delete"
    write_source(tmp_path, "wiki", "schedule: 6h\n")
    assert actions(deploy(sitegraph, *call))["index-source/wiki"] == "update"
    assert server.call("/deployments/name/index-source/wiki")["paused"] is False


def test_what_is_wrong_is_told_with_what_to_do(sitegraph: Sitegraph, told: Receiver, tmp_path: Path) -> None:
    source = write_source(tmp_path, "wrong", "schedule: 61 2 * * *\n")
    line = sitegraph.call("deploy", str(source))
    good = write_source(tmp_path, "good", "schedule: 6h\n")
    pool = sitegraph.call("deploy", str(good), "--pool", "nowhere")
    block = sitegraph.call("deploy", str(good), "--notify", "slack-webhook/nobody")

    assert (line.returncode, pool.returncode, block.returncode) == (2, 2, 2)
    assert "line 4: schedule: '61 2 * * *' is not a cron expression (Bad minute)" in line.stderr
    assert "work pool nowhere: is not there; make it with: prefect work-pool create nowhere" in pool.stderr
    assert "there is no block 'slack-webhook/nobody'" in block.stderr


def test_a_source_of_which_nobody_hears_raises_its_alarm_and_one_that_is_fresh_raises_none(
    server: PrefectServer, sitegraph: Sitegraph, told: Receiver, tmp_path: Path
) -> None:
    """Nothing runs: what is said of `quiet` is the only sign of life."""
    for name in ("silent", "quiet"):
        write_source(tmp_path, name, 'schedule: "15 2 * * *"\nfreshness: {slo: 30s}\n')
    report = RunReport(
        source="quiet",
        run_id="1",
        generation=None,
        published=False,
        documents={},
        chunks=ChunkCounts(),
        nodes={},
        edges={},
        http=HttpTotals(),
        stages={},
        peak_rss_mb=PeakRss(flow=0, largest_child=0, sum=0),
    )

    call = (str(tmp_path), "--home", str(tmp_path), "--notify", "custom-webhook/ops")
    deploy(sitegraph, *call, "--late-after", "10s")
    server.start("index-source/silent")  # which no worker takes up

    def rung() -> list[Any] | None:
        emit(events_of_report(report, IndexName(id="1", folder=tmp_path / "index")))
        late = told.about("run late") or None
        return (late and told.about("no publish of silent")) or None

    (message, *_) = poll(rung, timeout=PATIENCE_SECONDS, what="both alarms", interval=4)
    assert message["subject"] == "sitegraph: no publish of silent"
    assert message["body"].endswith("no run of silent has ended well for 30s")
    assert told.about("no publish of quiet") == []
    (late, *_) = told.about("run late")
    assert "waits for a worker for 10s: silent (flow run " in late["body"]


@pytest.mark.dear("a Prefect server and its automations")
def test_a_publish_that_is_held_too_long_raises_an_alarm(
    server: PrefectServer, sitegraph: Sitegraph, told: Receiver, tmp_path: Path
) -> None:
    source, index = write_source(tmp_path, "stuck"), tmp_path / "index"
    deploy(sitegraph, str(source), "--notify", "webhook/ops", "--held-after", "10s")
    by_url = sitegraph.call("deploy", str(source), SITEGRAPH_NOTIFY=told.url, SITEGRAPH_MAINTAIN="0 4 * * 0")
    assert by_url.returncode == 0, by_url.stderr
    assert "created           maintain/index" in by_url.stdout
    assert "tell nobody" not in by_url.stderr
    sitegraph.run(source, index)
    (tmp_path / "texts" / "second.md").write_text("# Guards\n\nA guard refuses what would do harm.\n")
    sitegraph.run(source, index)
    assert sitegraph.call("rollback", "--index", str(index)).returncode == 0

    with pytest.raises(Exception, match="publishing has been held"):
        sitegraph.run(source, index)
    (message, *_) = poll(
        lambda: told.about("publish held") or None, timeout=PATIENCE_SECONDS, what="the alarm"
    )

    assert message["alarm"] == "sitegraph: publish held"
    assert "nothing could be published for 10s: stuck: " in message["text"]
    assert "publishing has been held since a rollback at " in message["text"]
    events = server.call("/events/filter", {"filter": {"event": {"prefix": ["sitegraph."]}}})["events"]
    (held,) = [one for one in events if one["event"] == "sitegraph.generation.held"]
    assert held["resource"]["sitegraph.source"] == "stuck"
    manifest = json.loads((index / "index.json").read_text())
    assert held["resource"]["prefect.resource.id"] == f"sitegraph.index.{manifest['index_id']}"
    names = {one["event"] for one in events if one["resource"].get("sitegraph.source") == "stuck"}
    assert names >= {"sitegraph.generation.published", "sitegraph.source.fresh"}


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_worker_that_is_killed_is_heard_of_and_before_it_all_is_quiet(
    server: PrefectServer, sitegraph: Sitegraph, told: Receiver, tmp_path: Path
) -> None:
    """The run that it leaves behind is marked crashed, and the dead-man's alarm is raised."""
    links = " ".join(f'<a href="/{number}.html">page {number}</a>' for number in range(40))
    start = Reply(f"<html><body><h1>Start</h1><p>What the house keeps. {links}</p></body></html>".encode())
    with serve(Site({"/start.html": start, "/robots.txt": Reply(b"", 404)})) as site:
        source = tmp_path / "killed.yaml"
        source.write_text(
            f"name: killed\nkind: web\nseeds: ['{site.url('/start.html')}']\n"
            f"allow_private: ['{site.address}']\n"
            "rate: {per_host_delay: 0}\nmax_failures: {share: 1}\n"
            'schedule: "15 2 * * *"\nfreshness: {slo: 150s}\n'
        )
        call = (str(source), "--home", str(tmp_path), "--index", str(tmp_path / "index"))
        deploy(
            sitegraph, *call, "--notify", "custom-webhook/ops", "--lost-after", "75s", "--late-after", "300s"
        )
        environment = {
            "SITEGRAPH_CACHE": sitegraph.environment["SITEGRAPH_CACHE"],
            "SITEGRAPH_WORKERS": "1",
            "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
        }
        with running_worker(server, "sitegraph", log=tmp_path / "worker.log", **environment) as worker:
            first = server.wait(server.start("index-source/killed"))
            assert first.state_type == "COMPLETED", server.logs(first.id)
            assert told.about("killed") == []
            for number in range(40):
                site.pages[f"/{number}.html"] = Reply(b"<html>late</html>", stall=20)
            run = server.start("index-source/killed")
            poll(lambda: _has_beaten(server, run), timeout=400, what="a heartbeat of the run")
            os.killpg(worker.pid, signal.SIGKILL)
            _kill_flow(run)

        crashed = poll(
            lambda: told.about("its process ended: killed") or None, timeout=400, what="the crash to be told"
        )
        silent = poll(lambda: told.about("no publish of killed") or None, timeout=400, what="the alarm")

    assert crashed[0]["subject"] == "sitegraph: run crashed"
    assert silent[0]["body"].endswith("no run of killed has ended well for 150s")
    assert server.call(f"/flow_runs/{run}")["state"]["type"] == "CRASHED"


def _has_beaten(server: PrefectServer, run: str) -> bool | None:
    """Whether a run has sent a heartbeat."""
    wanted = {
        "event": {"name": ["prefect.flow-run.heartbeat"]},
        "resource": {"id": [f"prefect.flow-run.{run}"]},
    }
    return bool(server.call("/events/filter", {"filter": wanted})["events"]) or None


def _kill_flow(run: str) -> None:
    """Kill the process of a flow run, which a worker starts in a group of its own."""
    for folder in Path("/proc").iterdir():
        try:
            environment = (folder / "environ").read_bytes() if folder.name.isdigit() else b""
        except OSError:
            continue
        if f"PREFECT__FLOW_RUN_ID={run}".encode() in environment:
            os.kill(int(folder.name), signal.SIGKILL)
