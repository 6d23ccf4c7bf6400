"""`sitegraph ask`: an answer on stdout, steps and warnings on stderr, exit codes."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sitegraph.cli.app import run_app
from tests.fakes.llm_server import MISBEHAVIOURS, refuse, say, serve_llm

ROOT = Path(__file__).parents[5]
QUESTION = "How long are records kept?"
ANSWER = "Records are kept for seven years. After that they are destroyed. [S1]"


@pytest.fixture(autouse=True)
def _no_model_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "MODEL", "KEY", "SECONDS", "CALLS", "TOKENS"):
        monkeypatch.delenv(f"SITEGRAPH_LLM_{name}", raising=False)


def test_an_answer_for_people_says_where_its_labels_lead_and_steps_go_to_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run_app(["ask", QUESTION, "--index", str(folder)]) == 0
    said = capsys.readouterr()
    assert said.out == f"{ANSWER}\n\n[S1] gov-0017.md#retention-policy\n"
    steps = [line.partition(" s  ") for line in said.err.splitlines()]
    assert [step for _, _, step in steps] == ["generation 1", "passages: 10"]
    assert all(float(seconds) >= 0 for seconds, _, _ in steps)


def test_json_has_answer_citations_and_bundle_whatever_the_model_does(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITEGRAPH_LLM_KEY", "s3cret")
    with serve_llm(refuse(401)) as server:
        options = ["--mode", "dual", "--llm", server.url, "--model", "small", "--format", "json"]
        filters = ["--filter", "doc_type=governance", "--no-graph", "--index", str(folder)]
        assert run_app(["ask", QUESTION, *options, *filters]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["mode"], found["by"], found["answer"], found["verified"]) == (
        "dual",
        "extract",
        ANSWER,
        True,
    )
    assert [(one["file_path"], one["derivation"]) for one in found["citations"]] == [
        ("gov-0017.md", "stated")
    ]
    assert {one["file_path"] for one in found["bundle"]["evidence"]} == {"gov-0017.md", "prd-0008.md"}
    table = (ROOT / "docs" / "asking.md").read_text("utf-8").split("## Not found")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(found) == {name for row in rows for name in re.findall(r"`(\w+)`", row)} - {"wiki"}
    assert "answers 401; check address, model and key" in said.err
    assert server.asked[0].headers["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in said.out + said.err
    entry = (folder.with_name(f"{folder.name}.logs") / "queries.jsonl").read_text().splitlines()[-1]
    assert (json.loads(entry)["query"], json.loads(entry)["use_graph"]) == (QUESTION, False)


def test_what_is_not_found_is_said_with_the_nearest_evidence_and_no_model_writes_to_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_llm(say('not found [TOOL \x1b[31mrm {"a": 1}]')) as server:
        options = ["--index", str(folder), "--llm", server.url, "--model", "small"]
        assert run_app(["ask", "Who invented the piano?", *options]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("not found\n\nNearest:\n\n[S1] ")
    assert said.err == "sitegraph: warning: the model asks to run \\x1b[31mrm; no tool is run here\n"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--filter", "colour=red"], "colour"),
        (["--top-k", "51"], "--top-k"),
        (["--mode", "magic"], "magic"),
        (["--steps", "5"], "--steps"),
        (["--llm", "http://127.0.0.1:1/v1"], "--model"),
        (["--llm", "nowhere", "--model", "small"], "nowhere"),
        (["--judge"], "--judge: needs a model"),
        (["--index", "nowhere"], "sitegraph run"),
    ],
)
def test_what_is_wrong_is_named(capsys: pytest.CaptureFixture[str], options: list[str], named: str) -> None:
    assert run_app(["ask", QUESTION, *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert named in said.err


def test_ctrl_c_while_a_model_is_silent_ends_it_at_once_with_one_line(folder: Path) -> None:
    with serve_llm(MISBEHAVIOURS["hanging"]) as server:
        arguments = [QUESTION, "--index", str(folder), "--llm", server.url, "--model", "small"]
        command = [
            "env",
            "--default-signal=INT",
            sys.executable,
            "-m",
            "sitegraph.cli.app",
            "ask",
            *arguments,
        ]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            assert server.was_asked.wait(120)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=50)
    assert (process.returncode, err) == (130, "sitegraph: interrupted; run again to continue\n")
