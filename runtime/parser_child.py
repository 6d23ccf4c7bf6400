"""The child's side of runtime/parser_pool.py: one document in, one answer out, under limits.

Frames on standard input and output, numbers big-endian:

    order      lengths of the three | task, seconds and ParseRequest as JSON | the document | pages of a PDF's
               earlier version
    answer     status, peak RSS in KiB, lengths of the three | GraphFragment, Inspection or an error, as
               canonical JSON | ParseFacts as JSON | pages of this version

The child says once, with an empty answer, that it is ready. It ends when its input ends.
"""

import fcntl
import json
import logging
import os
import resource
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from runtime.clean_hooks import blame_hook, run_hook
from runtime.programs import engine, recognise
from runtime.readings import peak_rss_mb
from runtime.settings import raise_gc_threshold
from schemas.errors import ParseError, UnsupportedMedia
from schemas.fragment import GraphFragment, ParseRequest, WordCoverage
from schemas.ids import canonical_json
from schemas.records import from_record, to_record
from schemas.redaction import redact
from schemas.report import PageCounts

if TYPE_CHECKING:
    from ingest.parse.inspection import Inspection

ORDER = struct.Struct(">QQQ")
ANSWER = struct.Struct(">BQQQQ")
OK, FAILED, EXHAUSTED = 0, 1, 2

_MIB = 1024 * 1024
_SHORTEST = 0.001
"""Seconds of a timer that is to end at once; zero would never end."""


class Task(StrEnum):
    """What is to be done with a document."""

    PARSE = "parse"
    INSPECT = "inspect"
    ILLUSTRATE = "illustrate"  # inspect, and draw the pages of a PDF


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseFacts:
    """How the pages of a document were had, and what became of its words: neither is part of its fragment."""

    pages: PageCounts = field(default_factory=PageCounts)
    coverage: WordCoverage | None = None


Made = tuple["GraphFragment | Inspection", ParseFacts, bytes]
"""What came of a document, what is known of that, and what its pages gave."""

Work = Callable[[bytes, ParseRequest, bytes], Made]


def read_exactly(source: BinaryIO, size: int) -> bytes:
    """Return *size* bytes; raises EOFError where the other end has gone."""
    data = source.read(size)
    if len(data) < size:
        raise EOFError
    return data


def main(tokenizer: str, lifeline: str, address_space_mb: str) -> None:
    """Serve documents until the input ends."""
    # Ctrl-C and a stop of the whole process group are the parent's to answer; it ends its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    logging.disable(logging.CRITICAL)
    raise_gc_threshold()
    source, sink = _reserve_frames()
    _die_with(int(lifeline))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _limit_address_space(int(address_space_mb) * _MIB)
        tasks = _build_tasks(Path(tokenizer))
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent says it in one line
        reason = "not enough memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
        _send(sink, FAILED, _error("ParserUnavailable", redact(reason)[:300], "parser"))
        return
    _send(sink, OK)
    _serve(source, sink, tasks)


def _serve(source: BinaryIO, sink: BinaryIO, tasks: Mapping[Task, Work]) -> None:
    while True:
        try:
            sizes = ORDER.unpack(read_exactly(source, ORDER.size))
            order, data, pages = (read_exactly(source, size) for size in sizes)
        except EOFError:
            return
        asked = json.loads(order)
        request = from_record(ParseRequest, asked["request"])
        # Its signal ends the process amid native code too; it counts processor time (setitimer(2)).
        signal.setitimer(signal.ITIMER_PROF, max(asked["seconds"], _SHORTEST))
        answer = _answer(tasks[Task(asked["task"])], data, request, pages)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _send(sink, *answer)


def _answer(work: Work, data: bytes, request: ParseRequest, pages: bytes) -> tuple[int, *tuple[bytes, ...]]:
    try:
        made, facts, read = work(data, request, pages)
        return OK, canonical_json(to_record(made)).encode(), json.dumps(to_record(facts)).encode(), read
    except (ParseError, UnsupportedMedia) as error:
        return FAILED, _error(type(error).__name__, error.message, error.subject)
    except MemoryError:
        # A library may be left half imported: the parent replaces a child that says so.
        hooked = blame_hook(request.cleaning)
        return EXHAUSTED, _error(
            "ParseError", f"needs more memory than a parser may have{hooked}", request.uri
        )
    except Exception as error:  # noqa: BLE001 - the task boundary: a parser's fault costs one document
        sys.stderr.write(redact(traceback.format_exc()))
        reason = redact(f"{type(error).__name__}: {error}")[:300]
        return FAILED, _error("ParseError", f"parser failed, {reason}; please report it", request.uri)


def _error(kind: str, message: str, subject: str) -> bytes:
    return json.dumps({"type": kind, "message": message, "subject": subject}).encode()


def _send(sink: BinaryIO, status: int, made: bytes = b"", facts: bytes = b"", pages: bytes = b"") -> None:
    sizes = len(made), len(facts), len(pages)
    sink.writelines((ANSWER.pack(status, int(peak_rss_mb() * 1024), *sizes), made, facts, pages))
    sink.flush()


def _reserve_frames() -> tuple[BinaryIO, BinaryIO]:
    """Keep standard input and output for frames: libraries print, and would spoil them."""
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


def _die_with(lifeline: int) -> None:
    """Let the kernel end this process and its own when the parent's end of a pipe closes, however that ends.

    Works amid native code, where no thread of ours runs. PR_SET_PDEATHSIG would follow the thread that
    started the child, not the process (prctl(2)); O_ASYNC sends SIGIO, whose default is to terminate.
    """
    process = os.getpid()
    leads_group = os.getpgrp() == process  # as runtime/parser_pool.py starts it
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -process if leads_group else process)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _limit_address_space(size: int) -> None:
    """Allow *size* bytes, or what is left of a smaller limit that this process was started under."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    size = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _recognise(png: bytes, languages: str) -> str:
    """Recognise a page, and take the processor time of it off the document's."""
    before = _seconds_of_children()
    try:
        return recognise(png, languages)
    finally:
        if left := signal.getitimer(signal.ITIMER_PROF)[0]:
            left -= _seconds_of_children() - before
            signal.setitimer(signal.ITIMER_PROF, max(left, _SHORTEST))


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _build_tasks(path: Path) -> dict[Task, Work]:
    from indexes.embed.tokens import TokenCounter
    from ingest.parse.document import PARSER_VERSION, parse_document, with_line_fragments
    from ingest.parse.pdf.page_cache import PageCache

    count_tokens = TokenCounter(path).count

    def parse(data: bytes, request: ParseRequest, pages: bytes) -> Made:
        cache = PageCache(pages, made_by=f"{PARSER_VERSION} {engine() if request.ocr else ''}")
        made = parse_document(
            data, request, count_tokens=count_tokens, recognise=_recognise, cache=cache, run_hook=run_hook
        )
        made = with_line_fragments(made, data, request.line_fragment) if request.line_fragment else made
        facts = ParseFacts(pages=cache.counts, coverage=made.coverage)
        # What is counted in another way is no other fragment.
        return replace(made, coverage=None), facts, cache.dump()

    def inspect(data: bytes, request: ParseRequest, _pages: bytes, *, draw: bool) -> Made:
        from ingest.parse.inspection import inspect_document

        made = inspect_document(data, request, count_tokens=count_tokens, draw=draw, run_hook=run_hook)
        return made, ParseFacts(), b""

    return {
        Task.PARSE: parse,
        Task.INSPECT: partial(inspect, draw=False),
        Task.ILLUSTRATE: partial(inspect, draw=True),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
