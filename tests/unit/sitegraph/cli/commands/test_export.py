"""`sitegraph export`: the rows of docs/reference/export.md, in id order, stable where asked."""

import json
import re
from pathlib import Path
from typing import Any

import networkx
import pyarrow.parquet as pq
import pytest

from indexes.layout import IndexLayout
from indexes.stores.lance.store import LanceChunkStore, LanceGraphStore
from indexes.stores.ledger.ledger import open_ledger
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.nodes import OBSERVED_FIELDS, Page, PdfDoc
from sitegraph.cli.app import run_app
from tests.fakes.copies import copy_index
from tests.fakes.governance import governance_documents
from tests.fakes.small_index import GENERATION, SOURCE

CONTRACT = Path(__file__).parents[5] / "docs" / "reference" / "export.md"
AS_OF = "2026-03-01T12:00:00+00:00"
WHATS = ("documents", "nodes", "edges", "chunks")
Rows = list[dict[str, Any]]


@pytest.fixture
def index(folder: Path, tmp_path: Path) -> Path:
    """An index whose ledger knows its documents, all but one, as after an interrupted drop."""
    copy = copy_index(folder, tmp_path / "index", ignore="ledger*")
    nodes = [n for found, _ in governance_documents()[0] for n in found if isinstance(n, Page | PdfDoc)]
    changes = [DocumentChange(kind=ChangeKind.ADDED, old=None, new=live(node)) for node in nodes]
    ledger = open_ledger(f"sqlite:///{IndexLayout(copy).ledger}")
    number = ledger.generations.begin(base=0, source=SOURCE, run_id="r", token=1, as_of=AS_OF)
    ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=changes, details={})
    ledger.documents.save(
        [
            KnownDocument(source=SOURCE, uri=str(node.path), state=DocumentState.FETCHED, doc=node.id)
            for node in nodes[1:]
        ]
    )
    ledger.close()
    return copy


def live(node: Page | PdfDoc) -> LiveDocument:
    """The node's document as the generation holds it."""
    return LiveDocument(
        doc=node.id,
        source=SOURCE,
        uri=str(node.path),
        fragment_sha="f",
        content_hash=node.content_hash,
        fetched_at=AS_OF,
    )


def export(index: Path, capsys: pytest.CaptureFixture[str], what: str, *options: str) -> Rows:
    """The printed rows."""
    assert run_app(["export", "--index", str(index), "--what", what, *options]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(("what", "number"), [("documents", 8), ("nodes", 34), ("edges", 7), ("chunks", 12)])
def test_rows_come_in_id_order_one_a_line(
    index: Path, capsys: pytest.CaptureFixture[str], what: str, number: int
) -> None:
    ids = [row["id"] for row in export(index, capsys, what)]
    assert len(ids) == number
    assert ids == sorted(set(ids))


def test_a_document_has_the_fields_of_the_contract_and_its_state(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = export(index, capsys, "documents")
    for row in rows:
        assert {"id", "source", "kind", "path", "title", "state", "content_hash"} <= row.keys()
        assert row["fetched_at"] == AS_OF
        assert "document_kind" not in row
    assert {(row["kind"], row["node_kind"]) for row in rows} == {("html", "Page"), ("pdf", "PdfDoc")}
    assert sorted(row["state"] for row in rows) == ["fetched"] * 7 + ["gone"]


def test_a_chunk_has_every_field_of_the_contract(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = CONTRACT.read_text("utf-8").partition("## Chunks")[2]
    named = {
        name for cells in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", cells)
    }
    rows = export(index, capsys, "chunks")
    assert named == set(rows[0])
    assert "vectors" not in rows[0]


@pytest.mark.parametrize("what", WHATS)
def test_a_stable_export_leaves_out_what_was_observed_and_rounds(
    index: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    plain, stable = export(index, capsys, what), export(index, capsys, what, "--stable")
    assert len(plain) == len(stable)
    for before, after in zip(plain, stable, strict=True):
        assert not {*OBSERVED_FIELDS, "state"} & after.keys()
        assert after.items() <= before.items()


def test_vectors_are_of_unit_length_and_only_given_when_asked(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = export(index, capsys, "chunks", "--vectors")
    assert any(row["anchor_texts"] for row in rows)
    for row in rows:
        assert set(row["vectors"]) == {"text", "heading", "anchors", "captions"}
        assert sum(x * x for x in row["vectors"]["text"]) == pytest.approx(1, abs=1e-4)
        assert len(row["vectors"]["anchors"]) == len(row["anchor_texts"])


@pytest.mark.parametrize("what", WHATS)
def test_a_source_that_is_not_there_and_the_empty_generation_have_no_rows(
    index: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    assert run_app(["export", "--index", str(index), "--what", what, "--source", "nobody"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"sitegraph: warning: nobody: no such source; this index has: {SOURCE}\n")
    assert export(index, capsys, what, "--source", SOURCE) == export(index, capsys, what)
    assert export(index, capsys, what, "--generation", "0") == []
    for store in (
        LanceChunkStore(IndexLayout(index).lance, dim=384),
        LanceGraphStore(IndexLayout(index).lance),
    ):
        store.writer().prune(keep=[GENERATION])
    assert export(index, capsys, what, "--generation", "0") == []


def test_the_graph_goes_to_a_file_or_to_standard_output(
    index: Path, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    call = ["export", "--index", str(index), "--what", "graph"]
    assert run_app(call) == 0
    printed = capsysbinary.readouterr().out
    assert run_app([*call, "--format", "graphml", "--output", "graph.graphml"]) == 0
    assert (tmp_path / "graph.graphml").read_bytes() == printed
    read = networkx.parse_graphml(printed.decode())
    assert (len(read.nodes), len(read.edges)) == (34, 7)


def test_the_graph_goes_to_two_parquet_files(index: Path, tmp_path: Path) -> None:
    call = ["export", "--index", str(index), "--what", "graph", "--format", "parquet", "--output", "out"]
    assert run_app(call) == 0
    rows = {name: pq.read_table(tmp_path / "out" / f"{name}.parquet").num_rows for name in ("nodes", "edges")}
    assert rows == {"nodes": 34, "edges": 7}


def test_rows_go_to_a_file_as_they_are_printed(
    index: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_app(["export", "--index", str(index), "--what", "chunks"]) == 0
    assert run_app(["export", "--index", str(index), "--what", "chunks", "--output", "rows.jsonl"]) == 0
    assert (tmp_path / "rows.jsonl").read_text("utf-8") == capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--what", "graph", "--format", "jsonl"], "--format: for --what graph must be graphml or parquet"),
        (["--what", "chunks", "--format", "parquet"], "--format: for --what chunks must be jsonl"),
        (["--what", "graph", "--format", "parquet"], "--output: is needed"),
        (["--what", "graph", "--stable"], "is for rows"),
        (["--what", "edges", "--output", "no/such/folder/x"], "no/such/folder: cannot be written"),
    ],
)
def test_a_format_that_does_not_go_with_the_rows_is_refused(
    index: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert run_app(["export", "--index", str(index), *options]) == 2
    assert words in capsys.readouterr().err
