"""Parsers in child processes: equal results, threads served side by side, nothing left behind."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runtime.parser_pool import ChildLimits, ParserPool
from schemas.errors import ConfigError, ParseError, Stopped, UnsupportedMedia
from schemas.ids import canonical_json
from schemas.records import to_record
from schemas.report import PageCounts
from tests.fakes.parser_children import (
    NOTE,
    NOTE_REQUEST,
    ROOT,
    SMALL,
    children,
    cpu_ticks,
    parsed_here,
    wait_until_at_work,
)
from tests.fakes.pdfs import request


def test_a_child_gives_what_the_parser_gives_in_process(tokenizer: Path) -> None:
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        for data, asked in ((SMALL, request()), (NOTE, NOTE_REQUEST)):
            expected = canonical_json(to_record(parsed_here(data, asked, tokenizer))).encode()
            assert pool.parse(data, asked).record == expected
        assert 20 < pool.peak_rss_mb < 1000


def test_children_are_started_when_needed_and_kept(tokenizer: Path) -> None:
    before = children()
    with ParserPool(workers=3, tokenizer=tokenizer) as pool:
        assert children() == before
        pool.parse(NOTE, NOTE_REQUEST)
        first = children() - before
        pool.parse(NOTE, NOTE_REQUEST)
        assert children() - before == first
        assert len(first) == 1


def test_no_child_remains_after_close(tokenizer: Path) -> None:
    before = children()
    pool = ParserPool(workers=1, tokenizer=tokenizer)
    pool.parse(NOTE, NOTE_REQUEST)
    assert children() != before
    pool.close()
    pool.close()
    assert children() == before


def test_threads_share_the_children_and_get_their_own_answers(tokenizer: Path) -> None:
    notes = [f"# Note {number}\n\nLamp number {number}.\n".encode() for number in range(20)]
    before = children()
    with ParserPool(workers=2, tokenizer=tokenizer) as pool, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda note: pool.parse(note, NOTE_REQUEST), notes))
        assert len(children() - before) <= 2
    assert all(f"Lamp number {number}.".encode() in answer.record for number, answer in enumerate(answers))


def test_a_child_is_replaced_after_its_share_of_documents(tokenizer: Path) -> None:
    before = children()
    with ParserPool(workers=1, tokenizer=tokenizer, limits=ChildLimits(documents=2)) as pool:
        seen = []
        for _ in range(3):
            pool.parse(NOTE, NOTE_REQUEST)
            seen.append(children() - before)
    assert seen[0] != set()
    assert seen[1] == set()
    assert seen[2] not in (set(), seen[0])


def test_errors_of_the_parser_keep_their_class_text_and_subject(tokenizer: Path) -> None:
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        with pytest.raises(ParseError) as broken:
            pool.parse(b"%PDF-1.7 and nothing else", request())
        with pytest.raises(UnsupportedMedia) as unknown:
            pool.parse(b"\x89PNG\r\n\x1a\n\0\0\0", request("lamp.png", content_type="image/png"))
    assert "broken PDF" in broken.value.message
    assert unknown.value.subject == "https://docs.example/lamp.png"


def test_closing_stops_the_call_under_way_and_refuses_later_ones(tokenizer: Path, slow_pdf: bytes) -> None:
    before = children()
    pool = ParserPool(workers=1, tokenizer=tokenizer)
    pool.parse(NOTE, NOTE_REQUEST)
    (child,) = children() - before
    begun = cpu_ticks(child)
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(pool.parse, slow_pdf, request())
        wait_until_at_work(child, since=begun)
        pool.close()
        # Stopped, not ParseError: the document is to be parsed when the run resumes.
        with pytest.raises(Stopped):
            answer.result(timeout=120)
    with pytest.raises(Stopped):
        pool.parse(NOTE, NOTE_REQUEST)


def test_a_missing_tokenizer_is_a_configuration_error_naming_it(tmp_path: Path) -> None:
    before = children()
    with ParserPool(workers=1, tokenizer=tmp_path / "none.json") as pool:
        with pytest.raises(ConfigError) as caught:
            pool.parse(NOTE, NOTE_REQUEST)
        assert children() == before
    assert caught.value.subject == str(tmp_path / "none.json")


def test_importing_the_pool_loads_no_parser_and_no_prefect() -> None:
    unwanted = "{'prefect', 'pymupdf', 'lxml', 'tokenizers'}"
    script = f"import sys, runtime.parser_pool; print(*{unwanted} & set(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == ""


def test_pages_of_the_version_before_go_to_the_child_and_come_back(tokenizer: Path) -> None:
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        first = pool.parse(SMALL, request())
        again = pool.parse(SMALL, request(), pages=first.pages)
        note = pool.parse(NOTE, NOTE_REQUEST)

        assert again == first
        assert note.pages == b""
        assert pool.page_counts == PageCounts(read=1, reused=1)
