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
PACKAGES = ("flows", "ingest", "schemas", "indexes", "retrieval")

BREACHES = {
    "layers": ("schemas/breach_layers.py", "import indexes.ports"),
    "retrieval does not see parsers": ("retrieval/breach_parsers.py", "import ingest"),
    "rooms of ingest do not import each other": ("ingest/plan/breach_rooms.py", "import ingest.parse"),
    "prefect only in flows": ("indexes/breach_prefect.py", "import prefect"),
    "store and model drivers only in indexes": ("flows/breach_drivers.py", "import sqlalchemy"),
    "parsers of bytes only in ingest": ("indexes/breach_bytes.py", "import lxml"),
    "the HTTP client only in ingest.fetch": ("ingest/parse/breach_http.py", "import httpx2"),
    "the HTTP server only in flows.service": ("flows/steps/breach_server.py", "import fastapi"),
    "what serves does not see the flow engine or parsers": (
        "flows/service/breach_engine.py",
        "import prefect",
    ),
    "in retrieval only the door sees concrete stores": ("retrieval/query.py", "import indexes.stores"),
}


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
    for path, statement in BREACHES.values():
        with (tmp_path / path).open("a", encoding="utf-8") as module:
            module.write(f"\n{statement}\n")

    verdicts, output = _lint(tmp_path)

    contracts = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert {contract["name"] for contract in contracts} == set(BREACHES)
    assert verdicts == dict.fromkeys(BREACHES, "BROKEN"), output


def _lint(folder: Path) -> tuple[dict[str, str], str]:
    """Run import-linter in *folder*; give each contract's verdict, and what it printed."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    output = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout) + done.stderr
    found = re.findall(r"^(.+?) (KEPT|BROKEN)\b", output, re.MULTILINE)
    return dict(found), output
