"""`sitegraph mcp` as the process that a client starts: how it begins, and how it ends."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sitegraph.cli.app import run_app

ROOT = Path(__file__).parents[5]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Missing())
from sitegraph.cli.app import run_app
sys.exit(run_app({arguments!r}))
"""
LIGHT = """
import sys
from sitegraph.cli.app import build_commands
build_commands()
print(*sorted({"mcp", "mcp_types", "starlette", "pydantic"} & set(sys.modules)))
"""
LIGHT_SERVER = """
import sys
import sitegraph.service.mcp_.stdio
heavy = {"prefect", "torch", "transformers", "sentence_transformers", "pymupdf", "lxml", "trafilatura",
         "ingest", "lancedb", "onnxruntime", "sqlalchemy", "fastapi"}
print(*sorted(heavy & set(sys.modules)))
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def start(folder: Path) -> subprocess.Popen[str]:
    """The command, once it has answered, in a process in which Ctrl-C is not ignored."""
    command = ["env", "--default-signal=INT,PIPE", sys.executable, "-m", "sitegraph", "mcp"]
    process = subprocess.Popen(
        [*command, "--index", str(folder)],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(INITIALIZE) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "sitegraph"
    return process


@pytest.mark.parametrize("how", ["end of stdin", "Ctrl-C", "SIGTERM", "closed stdout"])
def test_it_ends_with_0_however_its_client_ends_it_and_says_nothing(folder: Path, how: str) -> None:
    with start(folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if how == "end of stdin":
            process.stdin.close()
        elif how == "closed stdout":
            process.stdout.close()
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}) + "\n")
            process.stdin.close()
        else:
            process.send_signal(signal.SIGINT if how == "Ctrl-C" else signal.SIGTERM)
        assert process.wait(120) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_lines_that_are_no_messages_are_passed_over(folder: Path) -> None:
    with start(folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in ("", "{", "[]", '"text"', "\x00\x1b[2J", "{}", "[" * 5000):
            process.stdin.write(line + "\n")
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}) + "\n")
        process.stdin.flush()
        answers = iter(process.stdout.readline, "")
        assert next(one for one in map(json.loads, answers) if one.get("id") == 2)["result"] == {}
        process.stdin.close()
        assert process.wait(120) == 0


def test_where_there_is_no_index_it_does_not_begin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["mcp", "--index", str(tmp_path / "none")]) == 2
    said = capsys.readouterr().err
    assert "not an index" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--port", "80"], ["--index"], ["extra"]])
def test_wrong_options_are_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["mcp", *arguments]) == 2
    assert "sitegraph COMMAND --help shows the options" in capsys.readouterr().err


@pytest.mark.parametrize("missing", [{"mcp", "mcp_types"}, {"mcp", "mcp_types", "starlette", "fastapi"}])
def test_without_the_extra_one_line_says_what_to_install(folder: Path, missing: set[str]) -> None:
    done = python(WITHOUT.format(missing=missing, arguments=["mcp", "--index", str(folder)]))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("sitegraph: mcp: needs mcp")
    assert 'run: pip install "sitegraph[mcp]"' in done.stderr


def test_no_other_command_imports_the_library() -> None:
    done = python(LIGHT)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr


def test_the_server_imports_neither_what_builds_nor_the_http_application() -> None:
    done = python(LIGHT_SERVER)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr
