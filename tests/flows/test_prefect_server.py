"""The server and worker that the flow tests run on, with a flow that needs nothing of ours."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.prefect_server import REPO, PrefectServer, poll, running_process

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

FLOW = """
from prefect import flow
from prefect.artifacts import create_markdown_artifact


@flow
def greet(name: str) -> str:
    if name == "nobody":
        raise ValueError("nobody to greet")
    create_markdown_artifact(f"hello {name}", key="greeting")
    return name
"""

DEPLOYMENT = """
name: trivial
pull:
  - prefect.deployments.steps.set_working_directory: {directory: "{{ $FLOW_HOME }}"}
deployments:
  - name: once
    entrypoint: trivial_greeting.greet
    parameters: {name: world}
    work_pool: {name: trivial, work_queue_name: default}
"""


@pytest.fixture
def deployed(
    tmp_path: Path,
    prefect_server: PrefectServer,
    process_worker: Callable[[str], None],
) -> PrefectServer:
    (tmp_path / "trivial_greeting.py").write_text(FLOW)
    (tmp_path / "prefect.yaml").write_text(DEPLOYMENT)
    process_worker("trivial")
    home = str(tmp_path)
    prefect_server.deploy(tmp_path / "prefect.yaml", FLOW_HOME=home, PYTHONPATH=home)
    return prefect_server


def test_a_worker_runs_a_deployment_and_its_artifacts_can_be_read(deployed: PrefectServer) -> None:
    run = deployed.wait(deployed.start("greet/once"))

    assert run.state_type == "COMPLETED", deployed.logs(run.id)
    assert deployed.artifacts(run.id) == {"greeting": "hello world"}


def test_a_flow_that_raises_ends_failed_with_its_reason(deployed: PrefectServer) -> None:
    run = deployed.wait(deployed.start("greet/once", name="nobody"))

    assert run.state_type == "FAILED"
    assert "nobody to greet" in run.message


def test_a_process_is_stopped_with_the_children_it_left(tmp_path: Path) -> None:
    note = tmp_path / "child"
    command = ["bash", "-c", f"sleep 600 & echo $! >{note}; wait"]

    with running_process(command, environment={"PATH": "/usr/bin:/bin"}, log=tmp_path / "log"):
        pid = poll(lambda: (note.exists() and note.read_text().strip()) or None, timeout=10, what="the child")
        assert _alive(pid)

    poll(lambda: None if _alive(pid) else True, timeout=10, what="the child to be gone")


def test_a_process_ends_with_the_tests_that_are_killed(tmp_path: Path) -> None:
    script = """
import sys, time
from pathlib import Path
from tests.fakes.prefect_server import running_process

path = {"PATH": "/usr/bin:/bin"}
with running_process(["sleep", "600"], environment=path, log=Path(sys.argv[1])) as process:
    print(process.pid, flush=True)
    time.sleep(600)
"""
    tests = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log")], cwd=REPO, stdout=subprocess.PIPE, text=True
    )
    with tests:
        assert tests.stdout
        pid = tests.stdout.readline().strip()
        # What starts it asks the kernel for the signal first; killed before that, nobody would send one.
        poll(lambda: _name(pid) == "sleep" or None, timeout=10, what="the process to have begun")
        tests.kill()

    poll(lambda: None if _alive(pid) else True, timeout=10, what="the process to be gone")


def _name(pid: str) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def _alive(pid: str) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
