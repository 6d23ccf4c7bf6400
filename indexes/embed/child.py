"""Work in a child process: torch takes 1 GB and 10 s to import, which the flow's own process should not.

A child ends by itself when its parent is killed: it reads from a pipe that then closes.
"""

import signal
from collections.abc import Callable, Collection
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any, Protocol

import numpy as np

from indexes.embed.routes import RouteCheck
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import ModelSpec
from indexes.ports import Encoded, TokenEncoder, Vector
from schemas.errors import StoreUnavailable

_SPAWN = get_context("spawn")  # a fork would copy threads of torch and the stores in an unknown state
_ENCODER = "encode"
"""What the process is called for those who look at what each child costs (runtime/cost.py)."""

_PATIENCE = 5.0
"""Seconds a child gets to finish its batch once it is no longer needed."""


class CheckedEncoder(TokenEncoder, Protocol):
    """An encoder that can say which route its documents take."""

    @property
    def route_check(self) -> RouteCheck | None:
        """What its start check found."""


class ChildEncoder:
    """Keeps the port TokenEncoder by asking one that lives in a child process, started at the first text.

    Threads may share it; it answers them in turn.

    Args: build: makes the encoder from *spec* inside the child; must be picklable, as
    `partial(SentenceTransformerEncoder, clock=time.perf_counter)` is.
    """

    def __init__(self, spec: ModelSpec, build: Callable[[ModelSpec], CheckedEncoder]) -> None:
        self._spec = spec
        self._build = build
        self._lock = Lock()
        self._child: _Child | None = None
        self._tokens: TokenCounter | None = None
        self._route_check: RouteCheck | None = None

    @property
    def dim(self) -> int:
        return self._spec.dim

    @property
    def model_sha256(self) -> str:
        return self._spec.sha256

    @property
    def route_check(self) -> RouteCheck | None:
        """What the start check found; None until documents have been encoded."""
        return self._route_check

    def encode_query(self, text: str) -> Vector:
        vector: Vector = self._ask("encode_query", text)
        return vector

    def encode_documents(self, texts: Collection[str]) -> Vector:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        vectors: Vector = self._ask("encode_documents", list(texts))
        return vectors

    def encode_query_tokens(self, text: str) -> Vector:
        vectors: Vector = self._ask("encode_query_tokens", text)
        return vectors

    def encode_with_tokens(self, texts: Collection[str]) -> Encoded:
        if not texts:
            return Encoded(np.zeros((0, self.dim), np.float32), ())
        encoded: Encoded = self._ask("encode_with_tokens", list(texts))
        return encoded

    def count_tokens(self, text: str) -> int:
        if self._tokens is None:
            self._tokens = TokenCounter(self._spec.path / "tokenizer.json")
        return self._tokens.count(text)

    def close(self) -> None:
        """End the child; the next text would start another."""
        with self._lock:
            if self._child is not None:
                self._child.end()
                self._child = None

    def _ask(self, method: str, argument: Any) -> Any:
        with self._lock:
            child = self._child or _Child(_serve, self._build, self._spec, name=_ENCODER)
            # Given back only once it has answered: after an interruption here, the answer still on its
            # way would be read as that to the next question. Forgotten, the child sees its pipe close.
            self._child = None
            try:
                child.pipe.send((method, argument))
                answer, self._route_check = child.pipe.recv()
            except (EOFError, OSError) as error:
                raise StoreUnavailable(
                    "the encoder's process ended early (killed, or out of memory); run again to continue",
                    subject=self._spec.name,
                ) from error
            self._child = child
        if isinstance(answer, Exception):
            raise answer
        return answer


def call_in_child(function: Callable[..., None], *args: Any) -> None:
    """Call *function* in a child process of its own, and raise here what it raises there.

    Raises: StoreUnavailable: the child was killed, or had too little memory.
    """
    child = _Child(_call, function, args)
    try:
        error = child.pipe.recv()
    except EOFError as ended:
        raise StoreUnavailable(
            "a child process ended early (killed, or out of memory); run again", subject=function.__name__
        ) from ended
    finally:
        child.end()
    if error is not None:
        raise error


class _Child:
    """A process and our end of the pipe to it; ends with this process, however that ends."""

    def __init__(self, target: Callable[..., None], *args: Any, name: str | None = None) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=target, args=(theirs, *args), name=name, daemon=True)
        self._process.start()
        theirs.close()  # so that the child's end alone keeps the pipe open

    def end(self) -> None:
        """Close the pipe, at which the child returns, and wait for it so that its memory is accounted."""
        self.pipe.close()
        self._process.join(_PATIENCE)
        self._process.kill()


def _serve(pipe: Connection, build: Callable[[ModelSpec], CheckedEncoder], spec: ModelSpec) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    encoder = build(spec)
    while True:
        try:
            method, argument = pipe.recv()
            pipe.send((_outcome(getattr(encoder, method), argument), encoder.route_check))
        except (EOFError, BrokenPipeError):  # the parent is gone, or closed the pipe
            return


def _call(pipe: Connection, function: Callable[..., None], args: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send(_outcome(function, *args))


def _outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Return the result, or the exception as a value: it is raised again on the other side."""
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001
        return error
