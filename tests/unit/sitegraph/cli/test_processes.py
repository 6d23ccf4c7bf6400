"""Commands as processes: signals, readers that go away, full disks."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.run.leases import hold_lease
from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from runtime.clock import SystemClock
from runtime.progress import StageProgress

ROOT = Path(__file__).parents[4]


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """An index of its own, so that leases are."""
    return Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))


@pytest.fixture
def waiting(copy: Path) -> Iterator[subprocess.Popen[str]]:
    """A rollback in a process of its own that waits for the index lease, which this process holds."""
    ledger = open_ledger(f"sqlite:///{IndexLayout(copy).ledger}")
    quiet, never = StageProgress(quiet=True), threading.Event()
    lease = hold_lease(ledger.leases, "index", clock=SystemClock(), progress=quiet, stop=never, wait=False)
    with lease, start(["rollback", "--index", str(copy)], stderr=subprocess.PIPE) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        yield process
        process.kill()
    ledger.close()


def start(arguments: list[str], **streams: object) -> subprocess.Popen[str]:
    """Start a command in a process of its own, in which Ctrl-C is not ignored."""
    command = ["env", "--default-signal=INT,PIPE", sys.executable, "-m", "sitegraph.cli.app", *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, **streams)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(
    ("sent", "code", "words"),
    [(signal.SIGINT, 130, "interrupted; run again"), (signal.SIGTERM, 143, "terminated; run again")],
)
def test_a_signal_ends_a_command_with_its_code(
    waiting: subprocess.Popen[str], sent: signal.Signals, code: int, words: str
) -> None:
    waiting.send_signal(sent)
    _, err = waiting.communicate(timeout=120)
    assert (waiting.returncode, err.count("\n")) == (code, 1)
    assert words in err


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
def test_a_reader_that_went_away_is_no_failure(
    folder: Path, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    read, write = os.pipe()
    os.close(read)
    with start(["status", "--index", str(folder)], stdout=write, stderr=subprocess.PIPE) as process:
        os.close(write)
        assert process.communicate(timeout=300)[1] == ""
    assert process.returncode == 0


def test_a_full_disk_is_said_with_exit_code_1(folder: Path) -> None:
    with (
        Path("/dev/full").open("w") as full,
        start(["status", "--index", str(folder)], stdout=full, stderr=subprocess.PIPE) as process,
    ):
        assert "the disk is full" in process.communicate(timeout=300)[1]
    assert process.returncode == 1
