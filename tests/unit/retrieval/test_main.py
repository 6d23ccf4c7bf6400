"""`python -m retrieval` in processes of its own, over a real index folder."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.copies import copy_index

ROOT = Path(__file__).parents[3]
HEAVY = (
    "torch",
    "transformers",
    "sentence_transformers",
    "prefect",
    "pymupdf",
    "typer",
    "rich",
    "sqlalchemy",
)
"""What a reader must not import; all of these take longer than the answer."""

LISTING = (
    "import sys; from retrieval.__main__ import main; code = main(sys.argv[1:]);"
    "print(*sorted(sys.modules), file=sys.stderr); sys.exit(code)"
)


def run(*arguments: str, code: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    program = ["-c", code] if code else ["-m", "retrieval"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SITEGRAPH_")}
    return subprocess.run(
        [sys.executable, *program, *arguments],
        cwd=ROOT,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def rows(result: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert result.returncode == 0, result.stderr
    loaded: list[dict[str, Any]] = json.loads(result.stdout)
    return loaded


def test_it_prints_one_array_of_rows_with_the_promised_fields(folder: Path) -> None:
    found = rows(
        run("--query", "What depends on GOV-0017?", "--index", str(folder), "--top-k", "4", "--use-graph")
    )
    assert len(found) == 4
    first = found[0]
    assert {"text", "file_path", "section", "score", "source", "citation", "chunk_id", "pdf"} <= first.keys()
    assert (first["file_path"], first["doc_id"]) == ("gov-0017.md", "GOV-0017")
    assert {"adr-0031.md", "prd-0008.md"} <= {row["file_path"] for row in found}
    assert {row["source"] for row in found} <= {"vector", "graph", "both"}


def test_a_bundle_has_the_relations_and_text_shows_the_chain(folder: Path) -> None:
    ask = ("--query", "How are ADR-0031 and PRD-0008 related?", "--index", str(folder), "--top-k", "3")
    bundle = json.loads(run(*ask, "--format", "bundle").stdout)
    (relation,) = bundle["relations"]
    assert [hop["kind"] for hop in relation["hops"]] == ["depends_on", "relates_to"]
    assert relation["chains"][0] in run(*ask, "--format", "text").stdout
    assert len(rows(run(*ask))) == 3


def test_two_processes_give_the_same_bytes_whatever_the_hash_seed(folder: Path) -> None:
    ask = ("--query", "keep the log and the backup", "--index", str(folder), "--top-k", "9")
    outputs = {run(*ask, PYTHONHASHSEED=seed).stdout for seed in ("0", "7")}
    assert len(outputs) == 1


def test_a_reader_imports_nothing_that_only_building_needs(folder: Path) -> None:
    result = run("--query", "restore", "--index", str(folder), code=LISTING)
    assert rows(result)
    loaded = set(result.stderr.split())
    assert "lancedb" in loaded
    assert loaded & {*HEAVY} == set()


def test_a_cold_process_costs_little_more_than_importing_lancedb(folder: Path) -> None:
    """The best of three of each, in turns: how fast the machine is at the moment cancels out."""
    ask = [sys.executable, "-m", "retrieval", "--query", "restore a backup", "--index", str(folder)]
    lancedb = [sys.executable, "-c", "import lancedb"]
    pairs = [(_cpu_seconds(ask), _cpu_seconds(lancedb)) for _ in range(4)][1:]
    assert min(asked for asked, _ in pairs) < 1.8 * min(imported for _, imported in pairs)


def _cpu_seconds(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def test_the_index_comes_from_the_environment_where_it_is_not_given(folder: Path) -> None:
    assert rows(run("--query", "restore", SITEGRAPH_INDEX=str(folder)))


def test_filters_are_applied_and_an_empty_result_is_no_error(folder: Path) -> None:
    ask = ("--query", "restore", "--index", str(folder), "--filter")
    assert {row["file_path"] for row in rows(run(*ask, "doc_type=adr"))} == {"adr-0031.md"}
    assert rows(run(*ask, "doc_type=nothing")) == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--query", "x", "--filter", "colour=red"), "colour"),
        (("--query", "x", "--filter", "doc_type"), "doc_type"),
        (("--query", "x", "--top-k", "0"), "--top-k"),
        (("--query", "  "), "query"),
        (("--query", "x", "--index", "/nowhere/at/all"), "sitegraph run"),
        (("--query", "x", "--top-k", "many"), "--top-k"),
        (("--query", "x", "--index", "/no\x1b[31mwhere"), "/no\\x1b[31mwhere"),
    ],
)
def test_bad_input_is_exit_code_2_with_what_to_do_and_no_traceback(
    folder: Path, arguments: tuple[str, ...], named: str
) -> None:
    result = run(*arguments, SITEGRAPH_INDEX=str(folder))
    assert (result.returncode, result.stdout) == (2, "")
    assert named in result.stderr
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stderr


def test_an_index_of_another_model_is_refused(folder: Path, tmp_path: Path) -> None:
    other = copy_index(folder, tmp_path / "other")
    manifest = json.loads((other / "index.json").read_text())
    manifest["model"]["sha256"] = "0" * 64
    (other / "index.json").write_text(json.dumps(manifest))
    result = run("--query", "x", "--index", str(other))
    assert result.returncode == 2
    assert "another model" in result.stderr


def test_a_generation_whose_manifest_is_not_there_is_damage(folder: Path, tmp_path: Path) -> None:
    other = copy_index(folder, tmp_path / "other")
    (other / "CURRENT").write_text("9\n")
    result = run("--query", "x", "--index", str(other))
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "sitegraph repair --index" in result.stderr


def test_a_graph_server_that_is_down_is_a_warning(folder: Path, tmp_path: Path) -> None:
    other = copy_index(folder, tmp_path / "other")
    manifest = json.loads((other / "index.json").read_text())
    (other / "index.json").write_text(json.dumps({**manifest, "graph": "neo4j"}))
    down = {"SITEGRAPH_NEO4J_URI": "bolt://127.0.0.1:1", "SITEGRAPH_NEO4J_PASSWORD": "x"}
    for environment in (down, {}):
        result = run("--query", "restore", "--index", str(other), **environment)
        assert rows(result)
        assert "warning" in result.stderr


def test_every_query_is_logged_beside_the_index_and_nothing_in_it_changes(
    folder: Path, tmp_path: Path
) -> None:
    index = copy_index(folder, tmp_path / "mine")
    before = {path: path.stat().st_mtime_ns for path in index.rglob("*")}
    ask = ("--query", "restore", "--index", str(index), "--filter", "lang=en", "--no-graph")
    run(*ask)
    run(*ask)
    assert {path: path.stat().st_mtime_ns for path in index.rglob("*")} == before
    lines = (tmp_path / "mine.logs" / "queries.jsonl").read_text().splitlines()
    assert len(lines) == 2
    entry = json.loads(lines[0])
    assert time.strptime(entry.pop("timestamp"), "%Y-%m-%dT%H:%M:%S+00:00")
    asked = {name: entry.pop(name) for name in ("query", "filters", "top_k", "use_graph", "rerank")}
    assert asked == {
        "query": "restore",
        "filters": {"lang": ["en"]},
        "top_k": 5,
        "use_graph": False,
        "rerank": False,
    }
    assert [one["rank"] for one in entry.pop("candidates")][:2] == [1, 2]
    assert len(entry.pop("winners")) == 5
    assert entry.pop("seconds") > 0
    assert entry.pop("door") == "retrieval"
    assert entry == {"route": "navigation", "generation": 1, "degraded": [], "outcome": "found"}


def test_a_log_that_cannot_be_written_is_a_warning(folder: Path, tmp_path: Path) -> None:
    index = copy_index(folder, tmp_path / "mine")
    (tmp_path / "mine.logs").write_text("in the way")
    result = run("--query", "restore", "--index", str(index))
    assert rows(result)
    assert "usage log" in result.stderr


def test_text_format_is_for_people(folder: Path) -> None:
    result = run("--query", "figure on tape wear", "--index", str(folder), "--format", "text")
    assert result.stdout.startswith("[S1]")
    assert "paper.pdf p. 3 [72.0,100.0,540.0,160.0]" in result.stdout


def test_a_reader_that_has_enough_is_no_failure(folder: Path) -> None:
    command = f"{sys.executable} -m retrieval --query backup --index {folder} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_document_id_gives_it_and_its_neighbours_and_an_unknown_one_an_empty_array(folder: Path) -> None:
    found = rows(run("--doc-id", "GOV-0017", "--index", str(folder), "--top-k", "4"))
    assert [row["file_path"] for row in found] == ["gov-0017.md", "gov-0017.md", "adr-0031.md", "prd-0008.md"]
    assert {row["source"] for row in found[2:]} == {"graph"}
    assert rows(run("--doc-id", "GOV-9999", "--index", str(folder))) == []


def test_a_denied_question_is_exit_code_4(folder: Path) -> None:
    result = run("--query", "the Staff list", "--index", str(folder), SITEGRAPH_DENY="payroll, staff list")
    assert (result.returncode, result.stdout) == (4, "")
    assert "staff list" in result.stderr
