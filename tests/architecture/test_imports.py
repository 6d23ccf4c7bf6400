"""The import law of docs/architecture.md: it holds, and each of its contracts notices when it does not."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
PACKAGES = ("sitegraph", "runtime", "flows", "ingest", "schemas", "indexes", "retrieval")

BREACHES = {
    "layers": {"schemas/breach_layers.py": "import indexes.ports"},
    "rooms of sitegraph": {"sitegraph/service/breach_rooms.py": "import sitegraph.cli.app"},
    "rooms of flows": {"flows/run/breach_rooms.py": "import flows.crawl.plan"},
    "rooms of retrieval": {"retrieval/search/breach_rooms.py": "import retrieval.bundle.build"},
    "rooms of ingest do not import each other": {"ingest/plan/breach_rooms.py": "import ingest.parse"},
    "no room of ingest sees the kinds of sources": {
        "ingest/diff/breach_kinds.py": "import ingest.sources.web"
    },
    "kinds of sources see what fetches and plans alone": {
        "ingest/sources/breach_rooms.py": "import ingest.parse.document"
    },
    "the libraries of kinds of sources only there": {"ingest/link/breach_library.py": "import warcio"},
    "no circle of siblings": {
        "runtime/breach_circle.py": "import runtime.breach_round",
        "runtime/breach_round.py": "import runtime.breach_circle",
    },
    "retrieval does not see parsers": {"retrieval/graph/breach_parsers.py": "import ingest"},
    "prefect only in flows": {"indexes/breach_prefect.py": "import prefect"},
    "store and model drivers only in indexes": {"runtime/breach_drivers.py": "import sqlalchemy"},
    "parsers of bytes only in ingest": {"indexes/breach_bytes.py": "import lxml"},
    "the HTTP client only in ingest.fetch": {"ingest/parse/breach_http.py": "import httpx2"},
    "the HTTP server only in sitegraph.service": {"flows/commit/breach_server.py": "import fastapi"},
    "the MCP library only in sitegraph.service.mcp_": {"retrieval/bundle/breach_mcp.py": "import mcp"},
    "what answers over stdio does not see the HTTP application": {
        "sitegraph/service/mcp_/breach_http.py": "import sitegraph.service.app"
    },
    "what tells others of metrics, spans and lineage only in runtime.telemetry": {
        "indexes/breach_telemetry.py": "import prometheus_client"
    },
    "what serves does not see the flow engine or parsers": {
        "sitegraph/service/breach_engine.py": "import flows.recrawl"
    },
    "in retrieval only what opens an index sees concrete stores": {
        "retrieval/ranking/breach_stores.py": "import indexes.stores"
    },
}
"""For each contract, files of new names that break it."""


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_resolves_to_this_checkout(package: str) -> None:
    spec = importlib.util.find_spec(package)

    assert spec is not None
    assert Path(str(spec.origin)).resolve() == REPO / package / "__init__.py"


def test_the_import_law_holds() -> None:
    verdicts, output = _lint(REPO)

    assert verdicts, output
    assert set(verdicts.values()) == {"KEPT"}, output


def test_every_contract_notices_a_breach(tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(REPO / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(REPO / "pyproject.toml", tmp_path / "pyproject.toml")
    for files in BREACHES.values():
        for path, statement in files.items():
            (tmp_path / path).write_text(f"{statement}\n", encoding="utf-8")

    verdicts, output = _lint(tmp_path)

    contracts = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert {contract["name"] for contract in contracts} == set(BREACHES)
    assert verdicts == dict.fromkeys(BREACHES, "BROKEN"), output


def test_every_package_has_a_breach() -> None:
    assert {path.split("/")[0] for files in BREACHES.values() for path in files} == set(PACKAGES)


@pytest.mark.parametrize("package", ["sitegraph", "flows", "retrieval"])
def test_a_room_that_no_contract_names_is_refused(package: str, tmp_path: Path) -> None:
    for name in PACKAGES:
        shutil.copytree(REPO / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(REPO / "pyproject.toml", tmp_path / "pyproject.toml")
    (tmp_path / package / "new_room.py").touch()

    _, output = _lint(tmp_path)

    assert f"{package}.new_room" in output


def _lint(folder: Path) -> tuple[dict[str, str], str]:
    """Run import-linter in *folder*; give each contract's verdict, and what it printed."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    output = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout) + done.stderr
    found = re.findall(r"^(.+?) (KEPT|BROKEN)\b", output, re.MULTILINE)
    return dict(found), output


MAY_KNOW_THE_TIME = {
    "retrieval/__main__.py",
    "indexes/copies/fetching.py",
    "indexes/stores/neo4j_/session.py",
}
"""The exceptions that docs/architecture.md names."""


def test_nothing_below_flows_and_runtime_reads_a_clock_or_the_environment_but_what_the_manual_names() -> None:
    known = re.compile(
        r"^\s*(?:import time$|from time import|import (?:random|secrets)$)|\bos\.(?:environ|getenv)\b"
        r"|\bdatetime\.now\(|\bdate\.today\(",
        re.MULTILINE,
    )
    files = (
        path
        for package in ("ingest", "indexes", "retrieval", "schemas")
        for path in (REPO / package).rglob("*.py")
    )
    found = {str(path.relative_to(REPO)) for path in files if known.search(path.read_text(encoding="utf-8"))}
    page = (REPO / "docs" / "architecture.md").read_text(encoding="utf-8")

    assert found == MAY_KNOW_THE_TIME
    assert all(f"`{name}`" in page for name in MAY_KNOW_THE_TIME)


BEGINS = {
    "flows/recrawl.py": "the flow of a run",
    "flows/maintain/flow.py": "the flow of maintenance",
    "flows/run/task_runners.py": "Prefect asks for the task runner before it calls a flow",
    "flows/run/process_cache.py": "a worker of another process",
}


def test_flows_are_given_their_settings_but_where_a_flow_or_a_process_begins() -> None:
    files = (path for path in (REPO / "flows").rglob("*.py") if "read_settings(" in path.read_text())

    assert {str(path.relative_to(REPO)) for path in files} == set(BEGINS)
