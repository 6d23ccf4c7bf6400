"""What bash completes, asked of bash itself; zsh and fish too where they are installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from indexes.layout import IndexLayout
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from sitegraph.cli.app import COMMANDS

PROGRAM = f'#!/bin/sh\nexec "{sys.executable}" -m sitegraph "$@"\n'
ASK = """
eval "$(env _SITEGRAPH_COMPLETE=source_bash sitegraph)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_sitegraph_completion sitegraph
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A PATH on which the command is called `sitegraph`, as it is once installed."""
    program = tmp_path / "bin" / "sitegraph"
    program.parent.mkdir()
    program.write_text(PROGRAM.replace("-m sitegraph", f'-c "{_MAIN}"'))
    program.chmod(0o755)
    repository = str(Path(__file__).resolve().parents[4])
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": repository}


_MAIN = "import sys; sys.argv[0] = 'sitegraph'; from sitegraph.cli.app import main; main()"


def completed(words: list[str], environment: dict[str, str], cwd: Path) -> list[str]:
    """What bash offers for a line of these words, the last of which is being typed."""
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", *words],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_every_command(environment: dict[str, str], tmp_path: Path) -> None:
    assert set(completed(["sitegraph", ""], environment, tmp_path)) == COMMANDS.keys()
    assert completed(["sitegraph", "ver"], environment, tmp_path) == ["verify"]


def test_bash_completes_options_and_their_values(environment: dict[str, str], tmp_path: Path) -> None:
    assert completed(["sitegraph", "verify", "--f"], environment, tmp_path) == ["--format"]
    assert completed(["sitegraph", "verify", "--format", ""], environment, tmp_path) == ["text", "json"]


def test_bash_completes_sources_and_generations_of_the_index(
    environment: dict[str, str], tmp_path: Path
) -> None:
    for number in (2, 3):
        stores: dict[str, dict[str, Any]] = {}
        manifest = GenerationManifest(
            generation=number, base=number - 1, as_of="2026-03-01", source="notes", run_id="r", plan_sha="p",
            stores=stores, sources={"manual": {}, "notes": {}},
        )  # fmt: skip
        dump_generation(IndexLayout(tmp_path), manifest)
    write_current(tmp_path, 3)
    said = ["sitegraph", "export", "--index", str(tmp_path)]

    assert completed([*said, "--generation", ""], environment, tmp_path) == ["3", "2"]
    assert completed([*said, "--source", "n"], environment, tmp_path) == ["notes"]


def test_bash_leaves_files_to_itself_where_nothing_of_ours_is_asked_for(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert completed(["sitegraph", "run", "hand"], environment, tmp_path) == []


def test_without_an_index_nothing_is_offered_and_nothing_is_said(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert completed(["sitegraph", "drop", ""], environment, tmp_path) == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_script(shell: str, environment: dict[str, str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = subprocess.run(
        ["sitegraph"],
        env={**environment, "_SITEGRAPH_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    ).stdout
    (tmp_path / "script").write_text(script)

    read = subprocess.run(
        [shell, "-n", str(tmp_path / "script")], capture_output=True, text=True, check=False
    )

    assert (read.returncode, read.stderr) == (0, "")
