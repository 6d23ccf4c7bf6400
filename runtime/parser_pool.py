"""Parsers in child processes with limits: whatever a document does, the parent only gets an answer."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from ingest.parse.formats.registry import installed_formats
from runtime.clean_hooks import blame_hook
from runtime.parser_child import ANSWER, EXHAUSTED, OK, ORDER, ParseFacts, Task, read_exactly
from runtime.settings import child_environment
from schemas.errors import (
    ConfigError,
    ParseError,
    ParserUnavailable,
    Stopped,
    TerminalError,
    UnsupportedMedia,
)
from schemas.formats import DocumentFormat, SizeClass, document_name, find_format
from schemas.fragment import ParseRequest, WordCoverage
from schemas.nodes import DocumentKind
from schemas.records import from_record, to_record
from schemas.report import PageCounts

_ERRORS: dict[str, type[TerminalError]] = {"ParseError": ParseError, "UnsupportedMedia": UnsupportedMedia}

_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYMUPDF_MESSAGE": "fd:2",
    # Every thread of a library would else reserve an arena out of the limited address space.
    "MALLOC_ARENA_MAX": "2",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildLimits:
    """What one document may cost, and how many documents a child parses before it is replaced.

    Seconds are processor time, which the work of other programs does not use up: `html_seconds` for what has
    the size of a page, `pdf_seconds` for PDFs and other files, `ocr_seconds` where pages may be recognised. A
    document may take `patience` times as long by the clock, so that a child that sleeps ends too;
    `start_seconds`, to start, are by the clock. Address space: importing pymupdf alone takes 610 MB of it.
    """

    html_seconds: float = 30.0
    pdf_seconds: float = 120.0
    ocr_seconds: float = 1800.0
    start_seconds: float = 600.0
    patience: float = 10.0
    address_space_mb: int = 2048
    documents: int = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A GraphFragment as canonical JSON; of a PDF also what its pages gave, for the next version to reuse.

    `coverage` is what became of the document's words; None: not known.
    """

    record: bytes
    pages: bytes = b""
    coverage: WordCoverage | None = None


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    peak_rss_kib: int
    payload: bytes
    facts: bytes
    pages: bytes


class _Died(Exception):
    """A child is gone; the text says what from."""


class ParserPool:
    """Parses in at most *workers* child processes, started when first needed and kept.

    `peak_rss_mb` is the largest resident memory that any child has reported, `page_counts` are of all PDFs.
    """

    def __init__(self, *, workers: int, tokenizer: Path, limits: ChildLimits = ChildLimits()) -> None:
        self._tokenizer = tokenizer
        self._limits = limits
        self._lock = threading.Lock()
        self._children: set[_Child] = set()
        self._closed = False
        # Last in, first out: a pool that is hardly used keeps one warm child, not one a worker.
        self._idle: queue.LifoQueue[_Child | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)
        self.peak_rss_mb = 0.0
        self.page_counts = PageCounts()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parse(self, data: bytes, request: ParseRequest, *, pages: bytes = b"") -> Parsed:
        """Parse a document, with the pages of its earlier version; waits for an idle child. Thread-safe.

        Raises: ParseError, UnsupportedMedia: the parser's own; ParseError also when the child crashed, ran
        out of memory or over its time; ParserUnavailable: no child starts; ConfigError: there is no such
        tokenizer; Stopped: the pool has been closed.
        """
        answer = self._work(Task.PARSE, data, request, pages)
        facts = from_record(ParseFacts, json.loads(answer.facts))
        with self._lock:
            self.page_counts += facts.pages
        return Parsed(record=answer.payload, pages=answer.pages, coverage=facts.coverage)

    def inspect(self, data: bytes, request: ParseRequest, *, draw: bool) -> bytes:
        """Return the document's Inspection as canonical JSON, with pictures of a PDF's pages if *draw*.

        Under the same limits as a parse, and raises what `parse` raises.
        """
        return self._work(Task.ILLUSTRATE if draw else Task.INSPECT, data, request).payload

    def _work(self, task: Task, data: bytes, request: ParseRequest, pages: bytes = b"") -> _Answer:
        child = self._idle.get()
        try:
            child = self._usable(child) or self._start()
            return self._ask(child, task, data, request, pages)
        finally:
            self._idle.put(self._usable(child))

    def close(self) -> None:
        """Kill all children, busy ones too; calls under way raise Stopped. May be called twice."""
        with self._lock:
            self._closed = True
            children, self._children = self._children, set()
        for child in children:
            child.end()

    def _start(self) -> "_Child":
        with self._lock:
            self._refuse_if_closed()
            try:
                child = _Child(self._tokenizer, self._limits)
            except OSError as error:
                raise ParserUnavailable(_no_start(error.strerror), subject="parser") from error
            self._children.add(child)
        try:
            child.wait_until_ready(self._limits.start_seconds)
        except _Died as death:
            self._discard(child)
            self._refuse_if_closed()
            if not self._tokenizer.is_file():
                raise ConfigError("no such file; parsers need it", subject=str(self._tokenizer)) from death
            raise ParserUnavailable(_no_start(str(death)), subject="parser") from death
        return child

    def _ask(self, child: "_Child", task: Task, data: bytes, request: ParseRequest, pages: bytes) -> _Answer:
        seconds = self._seconds_for(data, request)
        try:
            answer = child.ask(task, request, (data, pages), seconds, patience=self._limits.patience)
        except _Died as death:
            self._refuse_if_closed()
            found = _format_of(data, request)
            hooked = blame_hook(request.cleaning) if found and found.name == DocumentKind.HTML else ""
            raise ParseError(
                f"parser {death}{hooked}; the document is left out", subject=request.uri
            ) from death
        with self._lock:
            self.peak_rss_mb = max(self.peak_rss_mb, answer.peak_rss_kib / 1024)
        if answer.status == OK:
            return answer
        failure = json.loads(answer.payload)
        raise _ERRORS[failure["type"]](failure["message"], subject=failure["subject"])

    def _seconds_for(self, data: bytes, request: ParseRequest) -> float:
        found = _format_of(data, request)
        if found is None or found.size is SizeClass.PAGE:
            return self._limits.html_seconds
        return self._limits.ocr_seconds if request.ocr and found.has_pictures else self._limits.pdf_seconds

    def _usable(self, child: "_Child | None") -> "_Child | None":
        if child is not None and child.is_idle and child.answered < self._limits.documents:
            return child
        if child is not None:
            self._discard(child)
        return None

    def _discard(self, child: "_Child") -> None:
        with self._lock:
            mine = child in self._children
            self._children.discard(child)
        if mine:
            child.end()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise Stopped("the parsers have been shut down; run it again")


class _Child:
    """The parent's end of one child process; used by one thread at a time, ended once, by any."""

    def __init__(self, tokenizer: Path, limits: ChildLimits) -> None:
        watched, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "runtime.parser_child"),
                    *(str(tokenizer), str(watched), str(limits.address_space_mb)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(watched,),
                # A group of its own: what a parser has started ends with it.
                process_group=0,
                env=child_environment(**_ENVIRONMENT),
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(watched)
        self._overdue = False
        self._seconds = 0.0
        # True from the first byte of an order to the last of its answer: what a child that was left in
        # between says next belongs to no later document. One without memory is never idle again.
        self._busy = True
        self.answered = 0

    @property
    def is_idle(self) -> bool:
        """Whether the child lives and waits for a document."""
        return not self._busy and not self._overdue and self._process.poll() is None

    def wait_until_ready(self, seconds: float) -> None:
        """Wait for the first answer; raises _Died as `ask` does, and for a child that says it cannot work."""
        answer = self._within(seconds, self._receive)
        if answer.status != OK:
            raise _Died(json.loads(answer.payload)["message"])

    def ask(
        self,
        task: Task,
        request: ParseRequest,
        files: tuple[bytes, bytes],
        seconds: float,
        *,
        patience: float,
    ) -> _Answer:
        """Send a document and the pages of its earlier version, and wait for the answer.

        Raises: _Died: the child crashed, used up *seconds* of processor time, or was killed after *patience*
        times as long.
        """
        order = json.dumps({"task": task, "seconds": seconds, "request": to_record(request)}).encode()
        self._busy = True
        self._seconds = seconds
        answer = self._within(seconds * patience, lambda: self._exchange(order, *files))
        self.answered += 1
        return answer

    def end(self) -> None:
        """Kill the child and what it has started, and close its pipes; the child itself is gone on return."""
        self._kill()
        self._process.wait()
        os.close(self._lifeline)
        for pipe in (self._process.stdin, self._process.stdout):
            # What could not be sent is flushed once more on closing.
            with suppress(OSError):
                _open(pipe).close()

    def _exchange(self, *parts: bytes) -> _Answer:
        sink = _open(self._process.stdin)
        sink.writelines((ORDER.pack(*map(len, parts)), *parts))
        sink.flush()
        return self._receive()

    def _receive(self) -> _Answer:
        source = _open(self._process.stdout)
        status, peak_rss_kib, *sizes = ANSWER.unpack(read_exactly(source, ANSWER.size))
        answer = _Answer(status, peak_rss_kib, *(read_exactly(source, size) for size in sizes))
        self._busy = status == EXHAUSTED
        return answer

    def _within(self, seconds: float, act: Callable[[], _Answer]) -> _Answer:
        # Killing the child ends every read and write on its pipes, each of which would else need a timeout.
        timer = threading.Timer(seconds, self._kill_overdue)
        timer.daemon = True
        timer.start()
        try:
            return act()
        except (OSError, EOFError, ValueError) as error:
            self._kill()
            raise _Died(self._cause(seconds)) from error
        finally:
            timer.cancel()

    def _kill_overdue(self) -> None:
        self._overdue = True
        self._kill()

    def _kill(self) -> None:
        """Kill the process and what it has started; the number of one that has ended may be another's."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _cause(self, seconds: float) -> str:
        code = self._process.wait()
        if self._overdue:
            return f"did not end within {seconds:g} s and was stopped"
        if -code == signal.SIGPROF:
            return f"took longer than {self._seconds:g} s of processor time and was stopped"
        return f"crashed ({_ENDS.get(-code, 'a fault in a library') if code < 0 else f'exit {code}'})"


_ENDS: dict[int, str] = {
    signal.SIGKILL: "killed by the system, most likely out of memory",
    signal.SIGABRT: "a library gave up, most likely out of memory",
}
"""What a signal that ended a parser means; any other comes of a fault in a library."""


def _format_of(data: bytes, request: ParseRequest) -> DocumentFormat | None:
    name = document_name(request.path, request.url or request.uri)
    return find_format(installed_formats(), data, content_type=request.content_type, name=name)


def _no_start(why: str | None) -> str:
    return f"no process starts to read documents ({why}); give it more memory or processes, then run again"


def _open(pipe: Any) -> BinaryIO:
    assert pipe is not None
    stream: BinaryIO = pipe
    return stream
