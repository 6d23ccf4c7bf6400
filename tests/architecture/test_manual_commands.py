"""Every command, program and settings file of the manual, held against the programs that read them.

Those that can be run are, by tests/flows/test_manual_commands.py and the tests that it names.
"""

import ast
import importlib
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from runtime.source_file import parse_source
from runtime.yaml_files import load_tokens, parse_checks
from schemas.settings import PREFIX, Settings
from tests.fakes.imported_names import imported_names, is_there
from tests.fakes.manual_commands import (
    COMMANDS,
    OTHERS,
    REPO,
    Block,
    Command,
    commands_of,
    every_block,
    every_command,
    options_of,
    shortest,
    simple_commands,
)

FOREIGN_VARIABLES = frozenset(
    {
        *("OTEL_EXPORTER_OTLP_ENDPOINT", "OPENLINEAGE_URL", "OPENLINEAGE_NAMESPACE"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"),
    }
)
OF_THE_READER = frozenset({"claude", "shop"})
"""The agent that somebody has, and the tool that the page on tools describes."""

Words = Sequence[str]


def _sitegraph(words: Words) -> None:
    from typer.main import get_command

    from sitegraph.cli.app import build_commands

    _by_click(get_command(build_commands()), words)


def _by_click(group: Any, words: Words) -> None:
    context = group.make_context(group.name, list(words))
    name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
    command.make_context(name, rest, parent=context)


def _options(synopsis: str) -> None:
    """Hold every optional part of a synopsis, and each value from which one may be chosen."""
    from typer.main import get_command

    from sitegraph.cli.app import build_commands

    words = shlex.split(shortest(synopsis))[1:]
    parameters = get_command(build_commands()).commands[words[0]].params  # type: ignore[attr-defined]
    known = {name for one in parameters for name in (*one.opts, *one.secondary_opts)}
    for name, values in options_of(synopsis):
        assert name in known, f"no option {name}"
        for value in values:
            _sitegraph([*words, name, value])


def _retrieval(words: Words) -> None:
    importlib.import_module("retrieval.__main__")._parser().parse_args(list(words))


def _python(words: Words) -> None:
    match words:
        case ["-m", "retrieval", *rest]:
            _retrieval(rest)
        case ["-m", "pytest", *rest]:
            assert [one for one in rest if not one.startswith("-") and not (REPO / one).exists()] == []
        case ["-m", "venv", _]:
            pass
        case _:
            raise AssertionError(f"python {' '.join(words)}: no test knows it")


def _make(words: Words) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPO / "Makefile").read_text(), re.MULTILINE))
    assert {*words} <= targets


def _pip(words: Words) -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = "\n".join(file.read_text(encoding="utf-8") for file in REPO.glob("requirements*.lock"))
    assert words[0] == "install"
    for word in words[1:]:
        if extras := re.fullmatch(r"(?:\.|sitegraph)\[([\w,]+)\]", word):
            assert {*extras[1].split(",")} <= project["optional-dependencies"].keys()
        elif "==" in word:
            assert re.search(rf"^{re.escape(word)}\b", locked, re.MULTILINE), word
        elif not word.startswith("-"):
            assert (REPO / word).exists(), word


def _prefect(words: Words) -> None:
    from prefect.cli._app import _app

    _app.parse_args(list(words), exit_on_error=False, print_error=False)


def _docker(words: Words) -> None:
    assert words[0] == "compose"
    rest, services = list(words[1:]), set[str]()
    while rest[0] == "-f":
        file = yaml.safe_load((REPO / rest[1]).read_text(encoding="utf-8"))
        services |= file["services"].keys()
        rest = rest[2:]
    match rest:
        case ["up", *flags]:
            assert {*flags} <= {"-d", "--build"}
        case ["exec", service, *inner]:
            assert service in services
            _check(inner)
        case _:
            raise AssertionError(f"docker compose {' '.join(rest)}: no test knows it")


def _kubectl(words: Words) -> None:
    manifests = (REPO / "deploy/kubernetes/sitegraph.yaml").read_text(encoding="utf-8")
    rest = list(words[2:] if words[0] == "-n" else words)
    match rest:
        case ["apply", "-f", file]:
            assert (REPO / file).is_file()
        case ["create", "namespace", name]:
            assert f"namespace: {name}" in manifests
        case ["create", "secret", "generic", name, _] | ["create", "configmap", name, _]:
            assert f"name: {name}}}" in manifests
        case _:
            raise AssertionError(f"kubectl {' '.join(rest)}: no test knows it")


def _curl(words: Words) -> None:
    document = json.loads((REPO / "docs" / "reference" / "openapi.json").read_text(encoding="utf-8"))
    (url,) = [word for word in words if word.startswith("http")]
    operation = document["paths"][re.sub(r"^https?://[^/]+", "", url)]["post" if "-d" in words else "get"]
    if "-d" in words:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        whole = {"components": document["components"], **schema}
        jsonschema.validate(json.loads(words[list(words).index("-d") + 1]), whole)


def _hf(words: Words) -> None:
    from huggingface_hub.cli.hf import app

    _by_click(app, words)


def _dask(words: Words) -> None:
    from distributed.cli import dask_scheduler, dask_worker

    command = {"scheduler": dask_scheduler.main, "worker": dask_worker.main}[words[0]]
    command.make_context(words[0], list(words[1:]))


def _openssl(words: Words) -> None:
    """Ask the program for the command's own help, which lists its options."""
    told = subprocess.run(
        ["openssl", words[0], "-help"], check=True, capture_output=True, text=True, timeout=60
    )
    known = set(re.findall(r"^ (-\w+)", told.stdout + told.stderr, re.MULTILINE))
    assert {word for word in words[1:] if word.startswith("-")} <= known


def _cp(words: Words) -> None:
    assert (REPO / words[0]).is_file()


def _export(words: Words) -> None:
    for word in words:
        _variable(word.partition("=")[0])


def _variable(name: str) -> None:
    from prefect.settings.legacy import _get_valid_setting_names
    from prefect.settings.models.root import Settings as PrefectSettings

    if name.startswith(PREFIX):
        assert name.removeprefix(PREFIX).lower() in Settings.__dataclass_fields__, name
    elif name.startswith("PREFECT_"):
        assert name in _get_valid_setting_names(PrefectSettings), name
    else:
        assert name in FOREIGN_VARIABLES, f"{name}: no test knows this variable"


def _nothing(words: Words) -> None:
    """It is the shell's, or the reader's own."""


PROGRAMS: dict[str, Callable[[Words], None]] = {
    "sitegraph": _sitegraph,
    "python": _python,
    "python3": _python,
    "make": _make,
    "pip": _pip,
    "prefect": _prefect,
    "docker": _docker,
    "kubectl": _kubectl,
    "curl": _curl,
    "hf": _hf,
    "dask": _dask,
    "openssl": _openssl,
    "cp": _cp,
    "export": _export,
    ".": _nothing,
    **dict.fromkeys(OF_THE_READER, _nothing),
}


def _check(words: Words) -> None:
    assert words[0] in PROGRAMS, f"{words[0]}: no test knows this program; is the block ```text?"
    PROGRAMS[words[0]](words[1:])


def check_command(text: str, *, is_synopsis: bool) -> None:
    """Hold a command against the programs that it calls; AssertionError or their own: it is wrong."""
    if is_synopsis:
        if text.startswith("sitegraph "):
            _options(text)
        text = shortest(text)
    for words, variables in simple_commands(text):
        for name in variables:
            _variable(name)
        _check(words)


@pytest.mark.parametrize("command", every_command(), ids=str)
def test_every_command_of_the_manual_is_one_that_its_program_knows(command: Command) -> None:
    check_command(command.text, is_synopsis=command.is_synopsis)


@pytest.mark.parametrize(
    "wrong",
    [
        "sitegraph recrawl handbook.yaml",
        "sitegraph show",
        'sitegraph query "signing key" --topk 5',
        "sitegraph query words --format yaml",
        "sitegraph run SOURCE.yaml --index DIR [--format json|xml]",
        "sitegraph run SOURCE.yaml --index DIR [--all]",
        "python -m retrieval --top-k 5",
        "python -m pytest tests/contract/test_nothing.py",
        "make everything",
        'pip install ".[everything]"',
        "prefect work-pool make sitegraph",
        "prefect flow-run ls --status SCHEDULED",
        "docker compose -f deploy/compose.yaml exec nobody prefect version",
        """curl -d '{"question": "lease"}' http://127.0.0.1:8000/retrieve""",
        "SITEGRAPH_WISHES=1 sitegraph doctor",
        "cp deploy/env.sample deploy/.env",
        "kubectl apply -f sitegraph.yaml",
        "openssl genpkey -algorithmus ed25519",
        "dask worker tcp://scheduler:8786 --workers 4",
    ],
)
def test_a_command_that_its_program_would_refuse_is_found(wrong: str) -> None:
    """So that the test above can fail."""
    with pytest.raises((Exception, SystemExit)):
        check_command(wrong, is_synopsis=Command("x", 1, wrong).is_synopsis)


def test_every_block_of_the_manual_says_what_it_is() -> None:
    labels = {block.label: f"{block.page}:{block.line}" for block in every_block()}

    assert labels.keys() <= COMMANDS | OTHERS, labels


def _of(*labels: str) -> list[Any]:
    return [
        pytest.param(block, id=f"{block.page}:{block.line}")
        for block in every_block()
        if block.label in labels
    ]


@pytest.mark.parametrize("block", _of("python"))
def test_every_program_of_the_manual_compiles_and_what_it_imports_exists(block: Block) -> None:
    tree = ast.parse(block.text, block.page)

    assert [name for name in imported_names(tree) if not is_there(*name)] == []


@pytest.mark.parametrize("block", _of("yaml"))
def test_every_settings_file_of_the_manual_is_read_by_what_reads_it(block: Block, tmp_path: Path) -> None:
    settings = yaml.safe_load(block.text)
    if "scrape_configs" in settings:
        _read_by_prometheus(block, tmp_path)
        return
    if "questions" in settings:
        assert parse_checks(block.text, subject=block.page)
        return
    if "tokens" in settings:
        (tmp_path / "tokens.yaml").write_text(block.text)
        assert load_tokens(tmp_path / "tokens.yaml")
        return
    if "jobs" in settings:  # a workflow of GitHub: its commands are ours
        for job in settings["jobs"].values():
            for step in job["steps"]:
                if "run" in step:
                    check_command(step["run"], is_synopsis=False)
        return
    for hook in (one.text for one in every_block() if one.page == block.page and one.label == "python"):
        (tmp_path / "cleaning.py").write_text(hook)
    assert parse_source(block.text, subject=block.page, folder=tmp_path).name


def _read_by_prometheus(block: Block, folder: Path) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    (folder / "prometheus.yml").write_text(block.text)
    done = subprocess.run(
        [program, "check", "config", "--syntax-only", "prometheus.yml"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("block", _of("json"))
def test_every_json_of_the_manual_is_json(block: Block) -> None:
    for text in (block.text,) if block.text.startswith("{\n") else block.text.splitlines():
        assert json.loads(text)


@pytest.mark.parametrize("block", _of("toml"))
def test_every_toml_of_the_manual_is_read(block: Block) -> None:
    """Settings are read as `sitegraph.toml` is; the others are parts of a package's own file."""
    from schemas.settings import load_settings

    if "project" not in tomllib.loads(block.text):
        load_settings({}, block.text)


def test_commands_are_read_as_a_shell_reads_them() -> None:
    block = Block(
        "page.md",
        10,
        "sh",
        "A=1 sitegraph run x.yaml    # again\n\n# only said\n"
        'curl -s http://h/x \\\n     -d \'{"a": "b # c"}\'\n',
    )

    found = list(commands_of(block))

    assert [(one.line, one.text) for one in found] == [
        (10, "A=1 sitegraph run x.yaml"),
        (13, 'curl -s http://h/x -d \'{"a": "b # c"}\''),
    ]
    assert simple_commands(found[0].text) == ((("sitegraph", "run", "x.yaml"), {"A": "1"}),)
    told = Block("page.md", 1, "console", "$ sitegraph status\nall is well\n")
    assert [one.text for one in commands_of(told)] == ["sitegraph status"]
    synopsis = "sitegraph run URL|FILE [--graph lance|neo4j] [--allow-private HOST:PORT]..."
    assert shortest(synopsis) == "sitegraph run URL"
    assert options_of(synopsis) == (("--graph", ("lance", "neo4j")), ("--allow-private", ()))
