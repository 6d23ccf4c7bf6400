"""Parsers in child processes: equal results, limits that hold, nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from flows.child import ChildLimits, ParserPool
from ingest.parse.document import parse_document
from schemas.errors import ConfigError, ParseError, Stopped, UnsupportedMedia
from schemas.fragment import GraphFragment, ParseRequest
from schemas.hashing import canonical_json
from schemas.records import to_record
from tests.fakes.pdfs import Text, heading, new_pdf, pdf_bytes, prose, request

ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared" / "data"
SMALL = pdf_bytes([[heading("Lamps"), Text(prose("lamp"))]])
NOTE = b"# Lamps\n\nA lamp gives light.\n"
NOTE_REQUEST = request("note.md", content_type="text/markdown")


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer whose tokens are words, in the file format of the real ones."""
    words = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    words.save(str(path))
    return path


@pytest.fixture(scope="session")
def slow_pdf() -> bytes:
    """Takes many seconds to parse."""
    document = new_pdf([[Text(prose("lamp", 40), columns=95)]])
    for _ in range(1500):
        document.fullcopy_page(0)
    return bytes(document.tobytes())


def children() -> set[int]:
    """Processes that this one started and that still run."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            found.add(int(status.parent.name))
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def parsed_here(data: bytes, asked: ParseRequest, tokenizer: Path) -> GraphFragment:
    words = Tokenizer.from_file(str(tokenizer))
    return parse_document(data, asked, count_tokens=lambda text: len(words.encode(text).ids))


def test_a_child_gives_what_the_parser_gives_in_process(tokenizer: Path) -> None:
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        for data, asked in ((SMALL, request()), (NOTE, NOTE_REQUEST)):
            expected = canonical_json(to_record(parsed_here(data, asked, tokenizer))).encode()
            assert pool.parse(data, asked) == expected
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
    assert all(f"Lamp number {number}.".encode() in answer for number, answer in enumerate(answers))


def test_a_document_that_takes_too_long_is_stopped_and_the_next_one_parsed(
    tokenizer: Path, slow_pdf: bytes
) -> None:
    limits = ChildLimits(pdf_seconds=0.5)
    with ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as pool:
        pool.parse(NOTE, NOTE_REQUEST)
        started = time.monotonic()
        with pytest.raises(ParseError, match=r"took longer than 0\.5 s") as caught:
            pool.parse(slow_pdf, request())
        assert time.monotonic() - started < 3
        assert caught.value.subject == "https://docs.example/manual.pdf"
        assert b"A lamp gives light." in pool.parse(NOTE, NOTE_REQUEST)


def test_a_child_killed_amid_a_document_costs_that_document_only(tokenizer: Path, slow_pdf: bytes) -> None:
    before = children()
    with ParserPool(workers=1, tokenizer=tokenizer) as pool, ThreadPoolExecutor(1) as thread:
        pool.parse(SMALL, request())
        (victim,) = children() - before
        answer = thread.submit(pool.parse, slow_pdf, request())
        time.sleep(0.5)
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(ParseError, match=r"crashed \(SIGKILL\)"):
            answer.result(timeout=10)
        assert b"The lamp of step 1" in pool.parse(SMALL, request())


def test_a_child_that_died_while_idle_costs_no_document(tokenizer: Path) -> None:
    before = children()
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        pool.parse(NOTE, NOTE_REQUEST)
        (idle,) = children() - before
        os.kill(idle, signal.SIGKILL)
        wait_for(lambda: not is_running(idle))
        assert b"A lamp gives light." in pool.parse(NOTE, NOTE_REQUEST)


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


def test_a_document_that_needs_too_much_memory_is_a_parse_error(tokenizer: Path) -> None:
    document = new_pdf([[Text(prose("lamp"))]])
    letters = b"(" + b"a" * 1000 + b") Tj "
    document.update_stream(document[0].get_contents()[0], b"BT /helv 1 Tf " + letters * 20_000 + b"ET")
    bomb = document.tobytes(deflate=True)
    limits = ChildLimits(address_space_mb=500)
    with ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as pool:
        with pytest.raises(ParseError, match="needs more memory"):
            pool.parse(bomb, request())
        assert len(bomb) < 200_000
        assert b"A lamp gives light." in pool.parse(NOTE, NOTE_REQUEST)


def test_errors_of_the_parser_keep_their_class_text_and_subject(tokenizer: Path) -> None:
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        with pytest.raises(ParseError) as broken:
            pool.parse(b"%PDF-1.7 and nothing else", request())
        with pytest.raises(UnsupportedMedia) as unknown:
            pool.parse(b"\x89PNG\r\n\x1a\n\0\0\0", request("lamp.png", content_type="image/png"))
    assert "broken PDF" in broken.value.message
    assert unknown.value.subject == "https://docs.example/lamp.png"


def test_closing_stops_the_call_under_way_and_refuses_later_ones(tokenizer: Path, slow_pdf: bytes) -> None:
    pool = ParserPool(workers=1, tokenizer=tokenizer)
    pool.parse(NOTE, NOTE_REQUEST)
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(pool.parse, slow_pdf, request())
        time.sleep(0.3)
        pool.close()
        # Stopped, not ParseError: the document is to be parsed when the run resumes.
        with pytest.raises(Stopped):
            answer.result(timeout=10)
    with pytest.raises(Stopped):
        pool.parse(NOTE, NOTE_REQUEST)


def test_a_missing_tokenizer_is_a_configuration_error_naming_it(tmp_path: Path) -> None:
    before = children()
    with ParserPool(workers=1, tokenizer=tmp_path / "none.json") as pool:
        with pytest.raises(ConfigError) as caught:
            pool.parse(NOTE, NOTE_REQUEST)
        assert children() == before
    assert caught.value.subject == str(tmp_path / "none.json")


def test_what_a_library_prints_does_not_spoil_the_answers(tokenizer: Path) -> None:
    noisy = "\n".join(
        (
            "import os, sys, threading",
            "from pathlib import Path",
            "import flows.parser_process as child",
            "real = child._build_tasks",
            "def loud(path):",
            "    parse = real(path)[child.Task.PARSE]",
            "    def speak(data, request):",
            "        print('printed by a library', flush=True)",
            "        os.write(1, b'written by native code')",
            "        return parse(data, request)",
            "    return {child.Task.PARSE: speak}",
            "child._build_tasks = loud",
            "child.main(*sys.argv[1:])",
        )
    )
    watched, held = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", noisy, str(tokenizer), str(watched), "2048"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(watched,),
        cwd=ROOT,
    )
    order = canonical_json({"task": "parse", "seconds": 30, "request": to_record(NOTE_REQUEST)}).encode()
    sizes = len(order).to_bytes(8, "big") + len(NOTE).to_bytes(8, "big")
    out, messages = process.communicate(sizes + order + NOTE, timeout=60)
    os.close(watched)
    os.close(held)

    assert b"printed by a library" in messages
    assert b"written by native code" in messages
    assert b"printed" not in out
    assert out.endswith(canonical_json(to_record(parsed_here(NOTE, NOTE_REQUEST, tokenizer))).encode())


def test_no_child_outlives_a_killed_parent(tokenizer: Path, slow_pdf: bytes, tmp_path: Path) -> None:
    (tmp_path / "slow.pdf").write_bytes(slow_pdf)
    script = "\n".join(
        (
            "import sys, threading, time",
            "from pathlib import Path",
            "from flows.child import ParserPool",
            "from schemas.fragment import ParseRequest",
            "pool = ParserPool(workers=2, tokenizer=Path(sys.argv[1]))",
            "asked = ParseRequest(uri='files://docs/a.md', source='docs', path='a.md')",
            "pool.parse(b'# Lamps', asked)",
            "busy = threading.Thread(target=pool.parse, args=(Path(sys.argv[2]).read_bytes(), asked))",
            "busy.start()",
            "time.sleep(1)",
            "pool.parse(b'# Lamps', asked)",
            "print(*[child._process.pid for child in pool._children], flush=True)",
            "time.sleep(60)",
        )
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tokenizer), str(tmp_path / "slow.pdf")],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    assert all(is_running(pid) for pid in pids)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: not any(is_running(pid) for pid in pids), seconds=5)


def test_an_interrupt_of_the_terminal_leaves_the_children_to_the_parent(tokenizer: Path) -> None:
    before = children()
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        pool.parse(NOTE, NOTE_REQUEST)
        (child,) = children() - before
        os.kill(child, signal.SIGINT)
        os.kill(child, signal.SIGTERM)
        assert b"A lamp gives light." in pool.parse(NOTE, NOTE_REQUEST)
        assert children() - before == {child}


def test_importing_the_pool_loads_no_parser_and_no_prefect() -> None:
    script = (
        "import sys, flows.child; print(*{'prefect', 'pymupdf', 'lxml', 'tokenizers'} & set(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == ""


@pytest.mark.data
def test_damaged_pdfs_do_not_get_past_the_child(tokenizer: Path) -> None:
    # One in eight; `make quality` takes them all.
    files = sorted((DATA / "pdf-robust").rglob("*.pdf"))[::8]
    assert len(files) > 25
    outcomes: list[str] = []
    guard = threading.active_count()
    with ParserPool(workers=2, tokenizer=tokenizer) as pool:
        for path in files:
            try:
                pool.parse(path.read_bytes(), request(path.name))
                outcomes.append("fragment")
            except ParseError as error:
                outcomes.append(error.message)
    assert outcomes.count("fragment") > 0.9 * len(files)
    assert not [outcome for outcome in outcomes if "please report" in outcome or "crashed" in outcome]
    wait_for(lambda: threading.active_count() <= guard)
