"""`sitegraph show`: a citation opened where it stands."""

import shutil
import unicodedata
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from indexes.layout import IndexLayout, dump_manifest, load_manifest
from indexes.stores.ledger.ledger import open_ledger
from indexes.stores.raw import FileRawStore
from indexes.wiring import open_raw_store
from runtime.settings import read_settings
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.nodes import Chunk
from sitegraph.cli.app import run_app
from sitegraph.cli.commands.show import show_chunk
from sitegraph.cli.reading import open_for_reading
from tests.fakes.copies import copy_index
from tests.fakes.governance import governance_documents
from tests.fakes.ledger_rows import publish, put
from tests.fakes.small_index import GENERATION, SOURCE


def chunk_of(path: str, place: int = 0) -> Chunk:
    rows = [chunk for _, found in governance_documents()[0] for chunk in found if chunk.file_path == path]
    return rows[place]


def paper() -> bytes:
    """A PDF of three blank pages."""
    document = pymupdf.open()
    for _ in range(3):
        document.new_page(width=612, height=792)
    return bytes(document.tobytes())


@pytest.fixture
def with_bytes(folder: Path, tmp_path: Path) -> Path:
    """The index with the bytes of its PDF, and a login page that came in its place later."""
    index = copy_index(folder, tmp_path / "index")
    layout, chunk = IndexLayout(index), chunk_of("paper.pdf")
    raw = FileRawStore(layout.raw)
    live = LiveDocument(
        doc=chunk.doc, source=SOURCE, uri="files://manual/paper.pdf", fragment_sha="f", content_hash="c"
    )
    newer = KnownDocument(
        source=SOURCE,
        uri=live.uri,
        state=DocumentState.QUARANTINED,
        doc=chunk.doc,
        raw_sha=raw.put(b"<h1>Sign in</h1>"),
        parsed_sha=raw.put(b"<h1>Sign in</h1>"),
    )
    with closing(open_ledger(f"sqlite:///{layout.ledger}")) as ledger:
        ledger.origins.save({live.fragment_sha: raw.put(paper())})
        for base in range(GENERATION):
            publish(ledger, put(live), base=base)
        ledger.documents.save([newer])
    return index


def test_a_passage_of_a_page_is_marked_in_its_section(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chunk = chunk_of("backup.md", 1)
    assert run_app(["show", chunk.id, "--index", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["Manual > Backup guide", "Backup guide > WAL size", "backup.md#wal-size"]
    assert lines[-1] == f"»{chunk.text}«"


def test_nothing_that_a_page_says_moves_the_cursor(folder: Path) -> None:
    """In a title, a trail, an address or the text; the line breaks of the text stay."""
    escape = "\x1b]0;owned\x07\x9b2J\r"
    chunk = replace(
        chunk_of("backup.md", 1),
        heading_path=(f"Title{escape}", "two\nlines"),
        breadcrumbs=(f"Crumb{escape}",),
        file_path=f"notes{escape}.md",
        text=f"first{escape}\nsecond",
        offsets=(0, 0),
    )
    said = show_chunk(open_for_reading(read_settings(str(folder))), chunk, out=None, raw_of=lambda doc: b"")
    assert [sign for sign in said if sign != "\n" and unicodedata.category(sign) == "Cc"] == []
    lines = said.split("\n")
    assert (lines[1].endswith(" > two lines"), lines[-1]) == (True, "second«")


def test_the_kind_before_the_id_may_be_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chunk = chunk_of("backup.md", 1)
    assert run_app(["show", chunk.id.removeprefix("chunk:"), "--index", str(folder)]) == 0
    assert chunk.text in capsys.readouterr().out


def test_a_pdf_passage_is_a_picture_of_what_was_published_with_its_box_drawn(
    with_bytes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chunk = chunk_of("paper.pdf", 1)
    out = tmp_path / "page.png"
    assert run_app(["show", chunk.id, "--index", str(with_bytes), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "paper.pdf p. 3 [72.0,100.0,540.0,160.0]" in said
    assert str(out) in said
    picture = pymupdf.Pixmap(str(out))
    assert picture.width > 900
    colours = {picture.pixel(x, round(130 * 110 / 72)) for x in range(picture.width)}
    assert (255, 0, 0) in colours


def test_of_a_pdf_whose_bytes_were_not_kept_the_passage_is_shown_without_a_picture(
    with_bytes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(open_ledger(f"sqlite:///{IndexLayout(with_bytes).ledger}")) as ledger:
        ledger.origins.save({"f": None})
    chunk = chunk_of("paper.pdf")

    assert run_app(["show", chunk.id, "--index", str(with_bytes)]) == 0
    said = capsys.readouterr().out
    assert "picture: none; the document holds secrets, so its bytes were not kept" in said
    assert chunk.text.split()[0] in said
    out = tmp_path / "page.png"
    assert run_app(["show", chunk.id, "--index", str(with_bytes), "--out", str(out)]) == 2
    assert "keep_raw" in capsys.readouterr().err
    assert not out.exists()


def test_a_picture_without_a_name_lies_in_the_working_folder(with_bytes: Path, tmp_path: Path) -> None:
    chunk = chunk_of("paper.pdf")
    assert run_app(["show", chunk.id, "--index", str(with_bytes)]) == 0
    assert (tmp_path / (chunk.id.replace(":", "-") + ".png")).stat().st_size > 0


def test_a_picture_is_drawn_from_the_bucket_that_the_index_names(
    with_bytes: Path, bucket_url: str, tmp_path: Path
) -> None:
    layout = IndexLayout(with_bytes)
    kept = FileRawStore(layout.raw)
    manifest = replace(load_manifest(layout), raw=bucket_url)
    layout.manifest.write_text(dump_manifest(manifest))
    objects = open_raw_store(layout.raw, manifest)
    for sha256 in kept.hashes():
        objects.put(kept.get(sha256))
    shutil.rmtree(layout.raw)

    assert run_app(["show", chunk_of("paper.pdf").id, "--index", str(with_bytes), "--out", "page.png"]) == 0
    assert (tmp_path / "page.png").stat().st_size > 0


def test_a_pdf_whose_bytes_nobody_knows_is_exit_code_3_and_says_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["show", chunk_of("paper.pdf").id, "--index", str(folder)]) == 3
    assert "run its source again" in capsys.readouterr().err


def test_an_unknown_chunk_is_exit_code_2_with_a_hint(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["show", "chunk:nothing", "--index", str(folder)]) == 2
    assert "sitegraph query" in capsys.readouterr().err


def test_a_picture_file_for_a_text_passage_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["show", chunk_of("backup.md").id, "--index", str(folder), "--out", "x.png"]) == 2
    assert "--out" in capsys.readouterr().err
