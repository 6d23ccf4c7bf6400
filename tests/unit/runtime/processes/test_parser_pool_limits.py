"""What becomes of a child that runs too long, dies, or takes too much: one document at most."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runtime.parser_pool import ChildLimits, ParserPool
from schemas.errors import ParseError, ParserUnavailable
from tests.fakes.parser_children import (
    NOTE,
    NOTE_REQUEST,
    ROOT,
    SMALL,
    children,
    cpu_ticks,
    is_running,
    wait_for,
    wait_until_at_work,
)
from tests.fakes.pdfs import Text, new_pdf, pdf_bytes, prose, request
from tests.fakes.real_sites import DATA


def test_a_document_that_takes_too_long_is_stopped_and_the_next_one_parsed(
    tokenizer: Path, slow_pdf: bytes
) -> None:
    limits = ChildLimits(pdf_seconds=0.5, patience=500)
    with ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as pool:
        pool.parse(NOTE, NOTE_REQUEST)
        with pytest.raises(ParseError, match=r"took longer than 0\.5 s of processor time") as caught:
            pool.parse(slow_pdf, request())
        assert caught.value.subject == "https://docs.example/manual.pdf"
        assert b"A lamp gives light." in pool.parse(NOTE, NOTE_REQUEST).record


def test_a_document_is_parsed_on_a_machine_that_has_no_time_for_it(tokenizer: Path) -> None:
    """A stopped process gets no processor time while the clock goes on, as on a machine that is busy."""
    before = children()
    long_pdf = pdf_bytes([[Text(prose("lamp", 40), columns=95)] for _ in range(40)])
    limits = ChildLimits(pdf_seconds=4, patience=100)
    with ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as pool, ThreadPoolExecutor(1) as thread:
        pool.parse(SMALL, request())
        (child,) = children() - before
        begun = cpu_ticks(child)
        answer = thread.submit(pool.parse, long_pdf, request())
        wait_until_at_work(child, since=begun)
        os.kill(child, signal.SIGSTOP)
        time.sleep(1.1 * limits.pdf_seconds)
        assert not answer.done()
        os.kill(child, signal.SIGCONT)
        assert answer.result(timeout=300).record


def test_a_child_that_sleeps_is_stopped_in_the_end(tokenizer: Path, slow_pdf: bytes) -> None:
    before = children()
    limits = ChildLimits(html_seconds=6000, pdf_seconds=20, patience=0.5)
    with ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as pool, ThreadPoolExecutor(1) as thread:
        pool.parse(NOTE, NOTE_REQUEST)
        (child,) = children() - before
        begun = cpu_ticks(child)
        answer = thread.submit(pool.parse, slow_pdf, request())
        wait_until_at_work(child, since=begun)
        os.kill(child, signal.SIGSTOP)
        with pytest.raises(ParseError, match="did not end within 10 s"):
            answer.result(timeout=120)


def test_a_child_that_has_no_memory_to_start_is_no_fault_of_a_document(tokenizer: Path) -> None:
    limits = ChildLimits(address_space_mb=20)
    with (
        ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as pool,
        pytest.raises(ParserUnavailable, match="memory"),
    ):
        pool.parse(NOTE, NOTE_REQUEST)


def test_a_system_without_room_for_a_process_is_no_fault_of_a_document(tokenizer: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            with pytest.raises(ParserUnavailable, match="Too many open files"):
                pool.parse(NOTE, NOTE_REQUEST)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert pool.parse(NOTE, NOTE_REQUEST).record


def test_a_child_starts_under_a_smaller_limit_of_memory_than_its_own() -> None:
    """As a user that may not raise it has with `ulimit -v`."""
    code = (
        "import resource; from runtime.parser_child import _limit_address_space\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)); _limit_address_space(2**33)\n"
        "print(resource.getrlimit(resource.RLIMIT_AS)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) == 2**31


def test_a_child_killed_amid_a_document_costs_that_document_only(tokenizer: Path, slow_pdf: bytes) -> None:
    before = children()
    with ParserPool(workers=1, tokenizer=tokenizer) as pool, ThreadPoolExecutor(1) as thread:
        pool.parse(SMALL, request())
        (victim,) = children() - before
        begun = cpu_ticks(victim)
        answer = thread.submit(pool.parse, slow_pdf, request())
        wait_until_at_work(victim, since=begun)
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(ParseError, match=r"crashed \(killed by the system, most likely out of memory\)"):
            answer.result(timeout=120)
        assert b"The lamp of step 1" in pool.parse(SMALL, request()).record


def test_a_child_that_died_while_idle_costs_no_document(tokenizer: Path) -> None:
    before = children()
    with ParserPool(workers=1, tokenizer=tokenizer) as pool:
        pool.parse(NOTE, NOTE_REQUEST)
        (idle,) = children() - before
        os.kill(idle, signal.SIGKILL)
        wait_for(lambda: not is_running(idle))
        assert b"A lamp gives light." in pool.parse(NOTE, NOTE_REQUEST).record


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
        assert b"A lamp gives light." in pool.parse(NOTE, NOTE_REQUEST).record


def test_no_child_outlives_a_killed_parent(tokenizer: Path, slow_pdf: bytes, tmp_path: Path) -> None:
    (tmp_path / "slow.pdf").write_bytes(slow_pdf)
    script = "\n".join(
        (
            "import sys, threading, time",
            "from pathlib import Path",
            "from runtime.parser_pool import ParserPool",
            "from schemas.fragment import ParseRequest",
            "pool = ParserPool(workers=2, tokenizer=Path(sys.argv[1]))",
            "asked = ParseRequest(uri='files://docs/a.md', source='docs', path='a.md')",
            "pool.parse(b'# Lamps', asked)",
            "busy = threading.Thread(target=pool.parse, args=(Path(sys.argv[2]).read_bytes(), asked))",
            "busy.start()",
            "while len(pool._children) < 2:",
            "    pool.parse(b'# Lamps', asked)",
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
        assert b"A lamp gives light." in pool.parse(NOTE, NOTE_REQUEST).record
        assert children() - before == {child}


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
