"""The worst inputs on the command line: one line that says what to do, the right exit code, no traceback.

docs/development/errors.md is the list of what they say; `--rewrite-golden` writes it again.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sitegraph.cli.app import run_app
from tests.fakes.disk_index import write_index
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.governance import governance_documents
from tests.fakes.sitegraph_runs import Sitegraph
from tests.fakes.worst_inputs import CASES, Place, Worst

pytestmark = [pytest.mark.system, pytest.mark.server]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "development" / "errors.md"
SECRET = "s3cr3t"
HEAD = (
    "# What errors say\n\n"
    "What the command line says to the worst inputs, as `tests/flows/test_worst_inputs.py` provokes them. "
    "Each is one\nline on stderr, with an exit code of the [table](../reference/exit-codes.md).\n"
    "`pytest tests/flows/test_worst_inputs.py --rewrite-golden` writes this page again; read the diff.\n"
)
LEAST = 60


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    encoder = place_exported_encoder(tmp_path_factory.mktemp("encoder") / "default")
    return write_index(tmp_path_factory.mktemp("built") / "index", *governance_documents(), encoder=encoder)


@pytest.fixture(scope="module")
def told(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The rows of the page; those of the tests that ran take their place under --rewrite-golden."""
    rows = dict(_rows(PAGE.read_text(encoding="utf-8"))) if PAGE.exists() else {}
    yield rows
    if request.config.getoption("--rewrite-golden"):
        PAGE.write_text(_page(rows), encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what.replace(" ", "-"))
def test_the_worst_input_gets_one_line_that_says_what_to_do(
    case: Worst,
    built: Path,
    told: dict[str, str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in [name for name in os.environ if name.startswith(("SITEGRAPH_", "PREFECT_API"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SITEGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    sitegraph: Sitegraph | None = request.getfixturevalue("sitegraph") if case.flow else None
    with ExitStack() as stack:
        place = Place(folder=tmp_path, built=built, stack=stack)
        arguments = case.arrange(place)
        for name, value in place.environment.items():
            monkeypatch.setenv(name, value)
        if sitegraph is not None or case.alone:
            done = sitegraph.call(*arguments) if sitegraph is not None else _in_its_own_process(arguments)
            code, out, err = done.returncode, done.stdout, done.stderr
        else:
            capfd.readouterr()
            code = run_app(arguments)
            out, err = capfd.readouterr()

    lines = [line for line in err.splitlines() if line.startswith("sitegraph: ")]
    assert len(err.splitlines()) <= len(lines) + 1, err  # what a run tells of itself
    assert "Traceback" not in out + err
    assert "internal error" not in err
    assert SECRET not in out + err
    assert (code, len(lines)) == (case.code, 1), err
    row = _row(case, arguments, _plain(lines[0].removeprefix("sitegraph: "), tmp_path), tmp_path)
    if request.config.getoption("--rewrite-golden"):
        told[case.what] = row
    assert told.get(case.what) == row, "run with --rewrite-golden, and read the diff"


def test_the_page_has_every_case_and_no_other(told: dict[str, str], request: pytest.FixtureRequest) -> None:
    assert len(CASES) >= LEAST
    assert len({case.what for case in CASES}) == len(CASES)
    if not request.config.getoption("--rewrite-golden"):  # which writes it at the end
        assert PAGE.read_text(encoding="utf-8") == _page(told)
        assert set(told) == {case.what for case in CASES}


def _in_its_own_process(arguments: list[str]) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sitegraph", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.fspath(PAGE.parents[2])}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False)


def _row(case: Worst, arguments: list[str], message: str, folder: Path) -> str:
    command = _plain(shlex.join(["sitegraph", *(one for one in arguments if one != "--quiet")]), folder)
    cells = (case.what, f"`{command}`", str(case.code), message)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _plain(text: str, folder: Path) -> str:
    """What differs from machine to machine, by a word for it."""
    text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    text = re.sub(r"(?<=127\.0\.0\.1:)(?!9\b)\d+|(?<=192\.0\.2\.1:)\d+|(?<=--port )[1-9]\d+", "PORT", text)
    text = re.sub(r"\b[0-9a-f]{32,64}\b", "ID", text)
    text = re.sub(r"(?<=known keys: ).*", "…", text)  # a new setting or filter is no new message
    text = re.sub(r"(?<=does not resolve) \([^)]*\)", "", text)
    return re.sub(r"/tmp/\S+?/(?=[\w.-]+(?:[:;,)\s]|$))", "", text)


def _rows(page: str) -> Iterator[tuple[str, str]]:
    for line in page.splitlines():
        if line.startswith("| ") and not line.startswith("| input |"):
            yield line.split(" | ")[0].removeprefix("| "), line


def _page(rows: dict[str, str]) -> str:
    groups = dict.fromkeys(case.group for case in CASES)
    parts = [HEAD]
    for group in groups:
        body = "\n".join(rows[case.what] for case in CASES if case.group == group and case.what in rows)
        parts.append(
            f"\n## {group}\n\n| input | command | exit code | message |\n|---|---|---|---|\n{body}\n"
        )
    return "".join(parts)
