"""What `make setup` says: one line a step, and of a step that fails what its command said last."""

import re
import subprocess
from pathlib import Path

STEP = Path(__file__).resolve().parents[2] / ".ci" / "step"


def step(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a step; its log is `setup.log`."""
    command = [STEP, "setup.log", "3/7 packages", "bash", "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_step_is_one_line_and_what_its_command_says_is_in_the_log(tmp_path: Path) -> None:
    done = step(tmp_path, "echo many words; echo and more >&2")

    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"  3/7 packages +\d+ s\n", done.stderr)
    assert (tmp_path / "setup.log").read_text().endswith("many words\nand more\n")


def test_a_step_that_fails_shows_the_end_of_its_own_output_and_where_all_of_it_is(tmp_path: Path) -> None:
    step(tmp_path, "echo of another step")

    done = step(tmp_path, "seq 30; echo no network >&2; exit 7")

    assert done.returncode == 7
    shown = [line.strip() for line in done.stderr.splitlines()]
    assert re.fullmatch(r"3/7 packages +\d+ s  failed", shown[0])
    assert [line for line in shown if line.isdigit()] == [str(number) for number in range(12, 31)]
    assert shown[-3] == "no network"
    assert shown[-1] == "exit code 7; all output is in setup.log"
    assert "of another step" not in done.stderr
