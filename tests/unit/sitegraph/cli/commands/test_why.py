"""`sitegraph why`: one document, for a person and for a program."""

import json
from pathlib import Path

import pytest

from indexes.layout import IndexLayout
from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.ledger import open_ledger
from schemas.documents import DocumentState as S
from schemas.documents import FetchAttempt, KnownDocument, LiveDocument
from schemas.source import Source
from sitegraph.cli.app import run_app
from tests.fakes.copies import copy_index
from tests.fakes.governance import governance_documents
from tests.fakes.ledger_rows import put
from tests.fakes.small_index import SOURCE

AT, LATER = "2026-03-01T12:00:00+00:00", "2026-03-04T12:00:00+00:00"
URI = f"files://{SOURCE}/backup.md"


@pytest.fixture
def index(folder: Path, tmp_path: Path) -> Path:
    """An index whose ledger remembers three looks at one of its files."""
    copy = copy_index(folder, tmp_path / "index", ignore="ledger*")
    doc = next(c.doc for _, chunks in governance_documents()[0] for c in chunks if c.file_path == "backup.md")
    ledger = open_ledger(f"sqlite:///{IndexLayout(copy).ledger}", now=lambda: AT)
    ledger.sources.save(Source(name=SOURCE, kind="files", roots=(str(tmp_path),)))
    new = KnownDocument(source=SOURCE, uri=URI)
    ledger.documents.add_new([new])
    live = LiveDocument(doc=doc, source=SOURCE, uri=URI, fragment_sha="f", content_hash="c", fetched_at=AT)
    number = ledger.generations.begin(base=0, source=SOURCE, run_id="r", token=1, as_of=AT)
    ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=[put(live)], details={})
    ledger.generations.mark(number, GenerationState.PUBLISHED)
    for at in (AT, AT, LATER):
        known = KnownDocument(
            source=SOURCE,
            uri=URI,
            state=S.FETCHED,
            doc=doc,
            title="Backup\x1b[31m guide",
            checked_at=at,
            next_due=LATER,
            interval=86400.0,
        )
        ledger.documents.save([known], {URI: FetchAttempt(conditional=False, bytes=1234)})
    ledger.close()
    return copy


def test_a_person_reads_what_is_known_of_a_file(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["why", "backup.md", "--index", str(index)]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[0] == URI
    assert "  title       Backup\ufffd[31m guide" in lines
    assert "  state       fetched" in lines
    assert f"  found       in a folder at {AT}" in lines
    assert "  scope       included" in lines
    assert any(
        line.startswith("  index       ") and ", generation 1, 3 chunks now, " in line for line in lines
    )
    assert f"  due         {LATER}, then every 1.0 days; last looked at {LATER}" in lines
    looked = "looked, 1,234 bytes, no validators sent, new > fetched, 3 times until " + LATER
    assert lines[-2:] == [f"    {AT}  found", f"    {AT}  {looked}"]


def test_a_program_reads_one_object(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["why", URI, "--index", str(index), "--source", SOURCE, "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    (document,) = record["documents"]

    assert (record["name"], record["generation"]) == (URI, 1)
    assert document["index"]["current"]
    assert document["index"]["chunks"] == 3
    assert [entry["event"] for entry in document["history"]] == ["found", "looked"]
    assert document["history"][1]["times"] == 3


def test_a_passage_is_told_by_its_document(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chunk = next(c for _, chunks in governance_documents()[0] for c in chunks if c.file_path == "backup.md")

    assert run_app(["why", chunk.id, "--index", str(index)]) == 0
    assert capsys.readouterr().out.startswith(URI)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.md"], "nothing.md: no document has this path or id; the nearest that is known: files://"),
        (["https://elsewhere.example/"], "not known: no seed, link, sitemap or redirect has led to it"),
        ([URI, "--source", "nobody"], f"nobody: no such source; this index has: {SOURCE}"),
        ([], "Missing argument 'URL'"),
        ([URI, "--format", "jsonl"], "'--format'"),
    ],
)
def test_what_cannot_be_told_is_exit_code_2_in_one_line(
    index: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["why", *arguments, "--index", str(index)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err
