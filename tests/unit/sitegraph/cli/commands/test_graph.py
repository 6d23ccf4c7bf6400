"""`sitegraph graph`: the neighbourhood of what somebody typed, in four formats."""

import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from indexes.layout import IndexLayout
from indexes.stores.ledger.ledger import open_ledger
from schemas.documents import DocumentState, KnownDocument
from schemas.nodes import Page
from schemas.source import Source
from sitegraph.cli.app import run_app
from tests.fakes.governance import governance_documents
from tests.fakes.small_index import SOURCE

SCHEMA = Path(__file__).parents[5] / "docs" / "reference" / "neighbourhood.schema.json"
PAGES = {
    node.path: node.id for nodes, _ in governance_documents()[0] for node in nodes if isinstance(node, Page)
}
POLICY, ARCHIVE, BACKUP = PAGES["gov-0017.md"], PAGES["adr-0031.md"], PAGES["backup.md"]


@pytest.fixture
def index(folder: Path, tmp_path: Path) -> Path:
    """The index, with a ledger that knows three of its files and one that is none of it."""
    copy = Path(shutil.copytree(folder, tmp_path / "index", ignore=shutil.ignore_patterns("encoder")))
    ledger = open_ledger(f"sqlite:///{IndexLayout(copy).ledger}")
    ledger.sources.save(Source(name=SOURCE, kind="files", roots=(str(tmp_path),)))
    known = [
        KnownDocument(source=SOURCE, uri=f"files://{SOURCE}/{path}", doc=doc) for path, doc in PAGES.items()
    ]
    missing = KnownDocument(source=SOURCE, uri=f"files://{SOURCE}/gone.md", state=DocumentState.GONE)
    moved = KnownDocument(
        source=SOURCE,
        uri=f"files://{SOURCE}/old.md",
        state=DocumentState.REDIRECTED,
        location=f"files://{SOURCE}/backup.md",
    )
    ledger.documents.save([*known, missing, moved])
    ledger.close()
    return copy


def shown(index: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What is printed for programs."""
    assert run_app(["graph", *arguments, "--index", str(index), "--format", "json"]) == 0
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    return record


@pytest.mark.parametrize(
    "name", ["backup.md", "./backup.md", f"files://{SOURCE}/backup.md", "old.md", BACKUP]
)
def test_a_node_is_found_as_show_and_why_find_it(
    index: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    record = shown(index, capsys, name, "--hops", "0")
    assert record["start"] == [BACKUP]
    assert [(node["label"], node["place"]) for node in record["nodes"]] == [("Backup guide", "backup.md")]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("page:" + "a" * 26, "no such node in this generation"),
        ("gone.md", "is not in this generation (gone); ask: sitegraph why"),
        ("nothing.md", "no document has this path or id"),
    ],
)
def test_what_is_not_there_is_exit_code_2(
    index: Path, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    assert run_app(["graph", name, "--index", str(index)]) == 2
    assert f"{name}: {words}" in capsys.readouterr().err


def test_the_json_keeps_its_schema_and_has_both_directions(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    for arguments in ((), ("--hops", "1"), ("--kind", "depends_on"), ("--limit", "3")):
        validator.validate(shown(index, capsys, POLICY, *arguments))
    record = shown(index, capsys, POLICY, "--kind", "depends_on", "--kind", "relates_to", "--hops", "1")
    assert [(edge["src"] == POLICY, edge["kind"]) for edge in record["edges"]] in (
        [(True, "relates_to"), (False, "depends_on")],
        [(False, "depends_on"), (True, "relates_to")],
    )
    assert not validator.is_valid({**record, "clock": 1})


def test_what_the_limit_left_out_is_said_in_every_format(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = shown(index, capsys, POLICY, "--limit", "2", "--hops", "1")
    assert len(record["nodes"]) == 2
    left = sum(one["nodes"] for one in record["left_out"])
    assert left == 2
    for form in ("text", "dot", "svg"):
        assert (
            run_app(["graph", POLICY, "--limit", "2", "--hops", "1", "--index", str(index), "--format", form])
            == 0
        )
        assert f"left out by --limit 2: {left} nodes" in capsys.readouterr().out


def test_every_format_shows_the_same_nodes(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = {node["id"] for node in shown(index, capsys, POLICY)["nodes"]}
    told = {}
    for form in ("text", "dot", "svg"):
        assert run_app(["graph", POLICY, "--index", str(index), "--format", form]) == 0
        told[form] = capsys.readouterr().out
    assert set(re.findall(r"\[(\w+:\w{26})\]$", told["text"], re.M)) == ids
    assert set(re.findall(r'^  "(\w+:\w{26})" \[', told["dot"], re.M)) == ids
    boxes = ET.fromstring(told["svg"]).iter("{http://www.w3.org/2000/svg}g")
    assert {box.get("id") for box in boxes} == ids


def test_an_unknown_kind_names_the_known_ones(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["graph", POLICY, "--kind", "likes", "--index", str(index)]) == 2
    assert "links_to" in capsys.readouterr().err
