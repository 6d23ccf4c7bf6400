"""Documents for parsers in child processes, and what to ask about such processes."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer

from ingest.parse.document import parse_document
from schemas.fragment import GraphFragment, ParseRequest
from tests.fakes.pdfs import Text, heading, pdf_bytes, prose, request

ROOT = Path(__file__).parents[2]
SMALL = pdf_bytes([[heading("Lamps"), Text(prose("lamp"))]])
NOTE = b"# Lamps\n\nA lamp gives light.\n"
NOTE_REQUEST = request("note.md", content_type="text/markdown")


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
    """Whether the process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def cpu_ticks(pid: int) -> int:
    """Processor time of a process so far, in clock ticks (proc(5), /proc/PID/stat, fields 14 and 15)."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return int(user) + int(system)


def wait_until_at_work(pid: int, *, since: int) -> None:
    """Wait until a process has used five more ticks than *since*: it is amid its document."""
    wait_for(lambda: cpu_ticks(pid) > since + 5)


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Look again and again until it holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def parsed_here(data: bytes, asked: ParseRequest, tokenizer: Path) -> GraphFragment:
    """What the parser gives in this process, but for the account of words, which goes beside it."""
    words = Tokenizer.from_file(str(tokenizer))
    made = parse_document(data, asked, count_tokens=lambda text: len(words.encode(text).ids))
    return replace(made, coverage=None)
