"""Alarms of a deployment that goes as it should, over an hour: none. Then trouble, and they come."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from indexes.stores.ledger.ledger import open_ledger
from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.fast_clock import FastClock, fast_clock
from tests.fakes.prefect_server import PrefectServer, poll, running_server, running_worker, stop
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_on
from tests.fakes.webhook import Receiver, receiver

pytestmark = [pytest.mark.server, pytest.mark.long, pytest.mark.timeout(3000)]

RATE = 15
SOURCES = ("handbook", "notes", "wiki")
"""Every 20 minutes `deploy` has them begin some 6 minutes apart."""

KEYS = "schedule: 20m\n"
PATIENCE_SECONDS = 900

SETTINGS = {
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_SERVER_EVENTS_PROACTIVE_GRANULARITY": "PT20S",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_LOOP_SECONDS": "20",
    "PREFECT_SERVER_SERVICES_SCHEDULER_RECENT_DEPLOYMENTS_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_FOREMAN_LOOP_SECONDS": "300",
    "PREFECT_SERVER_SERVICES_CANCELLATION_CLEANUP_LOOP_SECONDS": "300",
    "PREFECT_SERVER_SERVICES_CLEANUP_RECONCILER_LOOP_SECONDS": "300",
    "PREFECT_SERVER_SERVICES_PAUSE_EXPIRATIONS_LOOP_SECONDS": "300",
    # Runs renew their slot by a clock that is real, and would lose it.
    "PREFECT_SERVER_SERVICES_REPOSSESSOR_LOOP_SECONDS": "86400",
}
"""What the server does every few seconds, it would else do so many times as often as it is made for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """Three scheduled sources, a worker that runs them, and who is told of alarms."""

    folder: Path
    clock: FastClock
    server: PrefectServer
    sitegraph: Sitegraph
    worker: subprocess.Popen[bytes]
    told: Receiver

    @property
    def index(self) -> Path:
        return self.folder / "index"

    def edit(self, name: str, text: str) -> None:
        """Write a document of a source."""
        (self.folder / name / "lease.md").write_text(f"# Leases of the {name}\n\n{text}\n")

    def said(self, text: str) -> bool | None:
        """Whether a run of the worker has printed something."""
        return text in (self.folder / "worker.log").read_text(errors="replace") or None

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of a name, newest first."""
        wanted = {"filter": {"event": {"name": [name]}}, "limit": 50}
        found: list[dict[str, Any]] = self.server.call("/events/filter", wanted)["events"]
        return found

    def fresh(self) -> dict[str, list[bool]]:
        """Of each source, for every run that ended well whether it published."""
        found: dict[str, list[bool]] = {}
        for one in self.events("sitegraph.source.fresh"):
            found.setdefault(one["resource"]["sitegraph.source"], []).append(one["payload"]["published"])
        return found

    def wait(self, minutes: float) -> None:
        """Let so many minutes of the clock pass."""
        time.sleep(self.clock.real(minutes))


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployed]:
    """All of it under a clock by which an hour takes four minutes."""
    (home := tmp_path / "prefect").mkdir()
    with (
        fast_clock(RATE, folder=tmp_path / "clock") as clock,
        receiver() as told,
        running_server(home, **SETTINGS, **clock.environment) as server,
    ):
        sitegraph = sitegraph_on(server)
        server.cli("work-pool", "create", "sitegraph", "--type", "process")
        _save_block(server, told.url)
        for name in SOURCES:
            (tmp_path / name).mkdir()
            (tmp_path / f"{name}.yaml").write_text(f"name: {name}\nkind: files\nroots: [{name}]\n{KEYS}")
        settings = {"SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_WORKERS": "1"}
        with running_worker(server, "sitegraph", log=tmp_path / "worker.log", **settings) as worker:
            yield Deployed(
                folder=tmp_path, clock=clock, server=server, sitegraph=sitegraph, worker=worker, told=told
            )


def test_an_hour_of_ordinary_runs_tells_nobody_and_trouble_after_it_does(deployed: Deployed) -> None:
    for name in SOURCES:
        deployed.edit(name, "Whoever holds a lease may write to the index.")
    began = deployed.clock.now()
    deploy(deployed)
    poll(lambda: len(deployed.fresh()) == 3 or None, timeout=PATIENCE_SECONDS, what="each source to be read")

    deployed.edit("notes", "Others wait until the lease is free.")
    with somebody_who_writes(deployed):
        poll(lambda: deployed.said("waiting for index"), timeout=PATIENCE_SECONDS, what="a run that waits")
        deployed.wait(3)
    late(deployed)
    left = 60 - (deployed.clock.now() - began).total_seconds() / 60
    deployed.wait(max(left, 0))

    assert deployed.told.messages == []
    fresh = deployed.fresh()
    assert all(len(runs) >= 2 for runs in fresh.values()), fresh
    assert fresh["notes"].count(True) == 2, "it was published when it was new and when it was edited"
    assert False in fresh["wiki"], "there was nothing new"

    held(deployed)
    stopped(deployed)


def deploy(deployed: Deployed) -> None:
    """Deploy as the manual says; a publish need not be held for six hours until somebody hears."""
    paths = ("--home", str(deployed.folder), "--index", str(deployed.index))
    files = [str(deployed.folder / f"{name}.yaml") for name in SOURCES]
    done = deployed.sitegraph.command(
        "deploy", *files, *paths, "--notify", "custom-webhook/ops", "--held-after", "15m"
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def somebody_who_writes(deployed: Deployed) -> Iterator[None]:
    """Hold the lease of the index, as a process on another machine would."""
    ledger = open_ledger(f"sqlite:///{deployed.index / 'ledger.sqlite'}")
    until = deployed.clock.now(minutes=600).isoformat(timespec="milliseconds")

    def take() -> Any:
        now = deployed.clock.now().isoformat(timespec="milliseconds")
        return ledger.leases.acquire("index", holder="crawler-2/1:4711:1", now=now, expires_at=until)

    lease = poll(take, timeout=PATIENCE_SECONDS, what="the lease")
    try:
        yield
    finally:
        ledger.leases.release(lease, now=deployed.clock.now().isoformat(timespec="milliseconds"))
        ledger.close()


def late(deployed: Deployed) -> None:
    """Let the worker do nothing while a run falls due, until Prefect calls that late."""
    deployed.worker.send_signal(signal.SIGSTOP)
    try:
        poll(
            lambda: deployed.events("prefect.flow-run.Late") or None,
            timeout=PATIENCE_SECONDS,
            what="a run that is late",
        )
        deployed.wait(4)
    finally:
        deployed.worker.send_signal(signal.SIGCONT)


def held(deployed: Deployed) -> None:
    """A rollback holds what is then published."""
    assert deployed.sitegraph.command("rollback", "--index", str(deployed.index)).returncode == 0
    deployed.edit("handbook", "A guard refuses what would do harm.")
    told = poll(
        lambda: deployed.told.about("publish held") or None, timeout=PATIENCE_SECONDS, what="the alarm"
    )
    assert "nothing could be published for 15m: handbook: publishing is held" in told[0]["body"]


def stopped(deployed: Deployed) -> None:
    """Without a worker runs are late, and sources are not heard of."""
    stop(deployed.worker, grace=60)
    for name in ("run late", "no publish of wiki"):
        poll(lambda name=name: deployed.told.about(name) or None, timeout=PATIENCE_SECONDS, what=name)


def _save_block(server: PrefectServer, url: str) -> None:
    """The block custom-webhook/ops."""
    from prefect.blocks.notifications import CustomWebhookNotificationBlock
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings({PREFECT_API_URL: server.url}):
        said = {"subject": "{{subject}}", "body": "{{body}}"}
        CustomWebhookNotificationBlock(name="ops", url=url, json_data=said).save("ops")
