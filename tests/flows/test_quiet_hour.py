"""Alarms of three scheduled sources whose hour goes as it should: none. Then trouble, and they come.

A clock that runs RATE times as fast (libfaketime) is the only clock of the Prefect server, its worker and
the runs, and now() in the server's database shows it. Schedules and alarms keep their ordinary lengths.
Real are file times, the timeouts of connections, and what asyncio waits: a worker asks for runs every RATE
seconds of the clock. Some loops of the server turn more seldom (SETTINGS), and it gives no slot of a run that
went silent back.
"""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from indexes.stores.ledger.ledger import open_ledger
from tests.fakes.exported_encoder import encoder_cache
from tests.fakes.fast_clock import FastClock, fast_clock
from tests.fakes.prefect_server import PrefectServer, poll, running_server, running_worker, stop
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_on
from tests.fakes.webhook import Receiver, receiver

pytestmark = [pytest.mark.server, pytest.mark.postgres, pytest.mark.long, pytest.mark.timeout(3000)]

RATE = 12
SOURCES = ("handbook", "notes", "wiki")
"""Every 20 minutes `deploy` has them begin some 6 minutes apart."""

KEYS = "schedule: 20m\n"
SHORT_SLO = "freshness: {slo: 12m}\n"
SILENCE = timedelta(minutes=40)
"""Of two runs of the schedule: so long nobody need hear of a source."""

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
    # A busy machine is slow to answer, and this clock is no measure of it.
    "PREFECT_API_REQUEST_TIMEOUT": "600",
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
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / "lease.md").write_text(f"# Leases of the {name}\n\n{text}\n")

    def deploy(self, **keys: str) -> datetime:
        """Deploy as the manual says, with more keys of some sources; give the time at which it began.

        A publish need not be held for six hours until somebody hears.
        """
        files = [self.folder / f"{name}.yaml" for name in SOURCES]
        for name, file in zip(SOURCES, files, strict=True):
            self.edit(name, "Whoever holds a lease may write to the index.")
            file.write_text(f"name: {name}\nkind: files\nroots: [{name}]\n{KEYS}{keys.get(name, '')}")
        began = self.clock.now()
        paths = ("--home", str(self.folder), "--index", str(self.index))
        self.command(
            "deploy", *map(str, files), *paths, "--notify", "custom-webhook/ops", "--held-after", "15m"
        )
        return began

    def command(self, *arguments: str) -> None:
        """Run a command of the program, which must end well."""
        done = self.sitegraph.command(*arguments)
        assert done.returncode == 0, done.stderr

    def wait(self, minutes: float) -> None:
        """Let so many minutes of the clock pass."""
        time.sleep(self.clock.real(minutes))

    def told_within_an_hour(self, began: datetime) -> list[Any]:
        """What alarms told until an hour was over, or until the first of them."""
        while not self.told.messages and self.clock.now() - began < timedelta(hours=1):
            time.sleep(1)
        return list(self.told.messages)

    def said(self, text: str) -> bool | None:
        """Whether a run of the worker has printed something."""
        return text in (self.folder / "worker.log").read_text(errors="replace") or None

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of a name, newest first."""
        wanted = {"filter": {"event": {"name": [name]}}, "limit": 50}
        found: list[dict[str, Any]] = self.server.call("/events/filter", wanted)["events"]
        return found

    def fresh(self) -> dict[str, list[tuple[datetime, bool]]]:
        """Of each source, for every run that ended well when, and whether it published; newest first."""
        found: dict[str, list[tuple[datetime, bool]]] = {}
        for one in self.events("sitegraph.source.fresh"):
            when = datetime.fromisoformat(one["occurred"])
            found.setdefault(one["resource"]["sitegraph.source"], []).append(
                (when, one["payload"]["published"])
            )
        return found

    def wait_until_fresh(self) -> None:
        """Wait for a run of each source that ends well from now on."""
        now = self.clock.now()
        poll(
            lambda: [1 for runs in self.fresh().values() if runs[0][0] > now] == [1, 1, 1] or None,
            timeout=PATIENCE_SECONDS,
            what="each source to be read",
        )


@pytest.fixture
def deployed(tmp_path: Path, postgres_url: str) -> Iterator[Deployed]:
    """All of it under a clock by which an hour takes minutes, ready to be deployed."""
    (home := tmp_path / "prefect").mkdir()
    database = postgres_url.replace("postgresql://", "postgresql+asyncpg://", 1)
    with fast_clock(RATE, folder=tmp_path / "clock") as clock, receiver() as told:
        clock.govern(postgres_url)
        settings = {"PREFECT_SERVER_DATABASE_CONNECTION_URL": database, **SETTINGS, **clock.environment}
        with running_server(home, **settings) as server:
            _save_block(server, told.url)
            cached = {"SITEGRAPH_CACHE": str(encoder_cache()), "SITEGRAPH_WORKERS": "1"}
            with running_worker(server, "sitegraph", log=tmp_path / "worker.log", **cached) as worker:
                yield Deployed(
                    folder=tmp_path,
                    clock=clock,
                    server=server,
                    sitegraph=sitegraph_on(server),
                    worker=worker,
                    told=told,
                )


def test_an_hour_of_ordinary_runs_tells_nobody_and_trouble_after_it_does(deployed: Deployed) -> None:
    """In the hour runs publish, find nothing new, wait for a lease, and come late, but not by 15 minutes."""
    began = deployed.deploy()
    deployed.wait_until_fresh()
    deployed.edit("notes", "Others wait until the lease is free.")
    with somebody_who_writes(deployed):
        poll(lambda: deployed.said("waiting for index"), timeout=PATIENCE_SECONDS, what="a run that waits")
        deployed.wait(3)
    late(deployed)

    assert deployed.told_within_an_hour(began) == []
    published = {name: [one for _, one in runs] for name, runs in deployed.fresh().items()}
    assert all(len(runs) >= 2 for runs in published.values()), published
    assert published["notes"].count(True) == 2, "it was published when it was new and when it was edited"
    assert False in published["wiki"], "there was nothing new"

    held(deployed)
    stopped(deployed)


def test_an_slo_that_ordinary_runs_miss_tells_within_the_hour(deployed: Deployed) -> None:
    """The quiet of the hour is that of alarms that would be heard."""
    began = deployed.deploy(wiki=SHORT_SLO)
    messages = deployed.told_within_an_hour(began)

    assert [one["subject"] for one in messages] == ["sitegraph: no publish of wiki"]
    assert messages[0]["body"].endswith("no run of wiki has ended well for 12m")


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
        ledger.leases.release(lease)
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
    """A rollback holds what is then published, until it is lifted."""
    deployed.command("rollback", "--index", str(deployed.index))
    deployed.edit("handbook", "A guard refuses what would do harm.")
    told = poll(
        lambda: deployed.told.about("nothing could be published for 15m: handbook: ") or None,
        timeout=PATIENCE_SECONDS,
        what="the alarm of a held publish",
    )
    assert told[0]["subject"] == "sitegraph: publish held"
    assert "publishing has been held since a rollback at " in told[0]["body"]
    deployed.command("rollback", "--lift", "--index", str(deployed.index))
    deployed.wait_until_fresh()


def stopped(deployed: Deployed) -> None:
    """Without a worker runs are late, and sources are not heard of."""
    last = {name: runs[0][0] for name, runs in deployed.fresh().items()}
    deployed.told.messages.clear()
    stop(deployed.worker, grace=60)
    poll(lambda: deployed.told.about("run late") or None, timeout=PATIENCE_SECONDS, what="a run that is late")
    for name in SOURCES:
        said = f"no run of {name} has ended well for 40m"
        poll(lambda said=said: deployed.told.about(said) or None, timeout=PATIENCE_SECONDS, what=said)
        assert deployed.clock.now() - last[name] >= SILENCE


def _save_block(server: PrefectServer, url: str) -> None:
    """The block custom-webhook/ops."""
    from prefect.blocks.notifications import CustomWebhookNotificationBlock
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings({PREFECT_API_URL: server.url}):
        said = {"subject": "{{subject}}", "body": "{{body}}"}
        CustomWebhookNotificationBlock(name="ops", url=url, json_data=said).save("ops")
