"""The texts of each chunk, and the encoding of those without a vector, in a thread of its own."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from indexes.ports import ChunkVectors, Encoder, TokenEncoder, TokenVectors, Vector, VectorCache, no_tokens
from schemas.cost import Cause, caused_by
from schemas.errors import ConfigError, Stopped, TransientError
from schemas.ids import sha256_hex
from schemas.nodes import Chunk
from schemas.text import encoded_headings, encoded_text

BATCH = 256
CHARACTERS = 64_000
"""Texts saved together, and their characters: 64 of the longest ones are 3 s in fp32 on two cores, so a stop
is soon obeyed. Of short ones more go together, or handing them to another process would take its share."""

LONG_TEXT = CHARACTERS // 64
"""Characters of such a long one: what encodes many texts at once is given as many of these."""


def encode_missing(
    texts: Iterable[str],
    *,
    cache: VectorCache,
    encoder: Encoder,
    on_progress: Callable[[int, int], None],
    should_stop: Callable[[], bool],
    batch: int = BATCH,
    characters: int = CHARACTERS,
    with_tokens: bool = False,
) -> int:
    """Encode the distinct texts that *cache* lacks, and give their number.

    Args: on_progress: called with (texts done, texts to do) before the first batch and after each. batch,
    characters: most that are saved together. with_tokens: keep their token vectors, too.
    Raises: ConfigError: the encoder gives none; Stopped: *should_stop* said so between two batches; what was
    encoded is kept.
    """
    pending = batches_by_length(cache.missing(texts), batch, characters)
    total = sum(len(part) for part in pending)
    done = 0
    on_progress(done, total)
    for part in pending:
        if should_stop():
            raise Stopped(f"stopped after {done} of {total} texts; run again to continue", subject="embed")
        _encode(part, cache, encoder, with_tokens=with_tokens)
        done += len(part)
        on_progress(done, total)
    return done


def _encode(texts: Collection[str], cache: VectorCache, encoder: Encoder, *, with_tokens: bool) -> None:
    if not with_tokens:
        cache.put(texts, encoder.encode_documents(texts))
        return
    if not isinstance(encoder, TokenEncoder):
        raise ConfigError(
            "this encoder has no token vectors; turn it off", subject="SITEGRAPH_LATE_INTERACTION"
        )
    found = encoder.encode_with_tokens(texts)
    cache.put(texts, found.vectors, found.tokens)


def batches_by_length(
    texts: Iterable[str], batch: int, characters: int = CHARACTERS
) -> tuple[tuple[str, ...], ...]:
    """Cut texts into batches of like length, of at most *batch* texts and *characters*, and mix the batches.

    Texts of like length need little padding.

    Mixed (by hash, so always the same way), the pace is even, and progress tells the time that is left.
    """
    ordered = sorted(texts, key=lambda text: (len(text), text))
    batches: list[tuple[str, ...]] = []
    while ordered:
        # The longest first: it decides how many go with it.
        size = max(1, min(batch, characters // max(1, len(ordered[-1]))))
        batches.append(tuple(ordered[-size:]))
        del ordered[-size:]
    return tuple(sorted(batches, key=lambda part: sha256_hex(part[0])))


def text_input(chunk: Chunk) -> str:
    """Headings from the top, then the text: a chunk out of its section often says too little."""
    return encoded_text(chunk.heading_path, chunk.text)


def heading_input(chunk: Chunk) -> str:
    """Headings from the top; where there are none, the text itself.

    Never the site's trail: a renamed site would encode everything again.
    """
    return encoded_headings(chunk.heading_path) or chunk.text


def anchor_inputs(chunk: Chunk) -> tuple[str, ...]:
    """Texts of links into the chunk, as found."""
    return tuple(text for text in chunk.anchor_texts if text.strip())


def caption_inputs(chunk: Chunk) -> tuple[str, ...]:
    """Captions of tables and figures in the chunk."""
    return tuple(text for text in chunk.captions if text.strip())


def vector_texts(chunk: Chunk) -> tuple[str, ...]:
    """Every distinct text that the chunk needs a vector of."""
    texts = (text_input(chunk), heading_input(chunk), *anchor_inputs(chunk), *caption_inputs(chunk))
    return tuple(dict.fromkeys(texts))


def chunk_vectors(
    chunk: Chunk, lookup: Mapping[str, Vector], dim: int, tokens: Mapping[str, TokenVectors] | None = None
) -> ChunkVectors:
    """Gather the chunk's vectors; *lookup* contains one of shape (dim,) for each of its `vector_texts`.

    Args: tokens: token vectors by text, of chunks that keep theirs.
    Raises: KeyError: a text has no vector yet.
    """
    return ChunkVectors(
        text=lookup[text_input(chunk)],
        heading=lookup[heading_input(chunk)],
        anchors=_stack((lookup[text] for text in anchor_inputs(chunk)), dim),
        captions=_stack((lookup[text] for text in caption_inputs(chunk)), dim),
        tokens=tokens[text_input(chunk)] if tokens else no_tokens(),
    )


def _stack(vectors: Iterable[Vector], dim: int) -> Vector:
    return np.array(list(vectors), np.float32).reshape(-1, dim)


class BackgroundEncoder:
    """Encodes what it is given into a cache; may be shared between threads.

    Texts that have a vector, or wait for one, are not taken again. An error of the encoder, or Stopped, is
    raised by the next call that takes texts or waits for them, and by all after it; a TransientError by that
    call alone, and whoever calls after it has the texts tried again.

    Args: limit: texts that may wait; one call may exceed it, the next then finds no room.
    on_taken: called with the texts that a call added. on_encoded: called with the number of texts that
    were just saved, from the thread that encodes. batch_size: texts that the encoder takes at once, and is
    given where there are as many. with_tokens: token vectors are kept, too. clock: monotonic seconds, by
    which it knows how long callers have waited.
    """

    def __init__(
        self,
        *,
        cache: VectorCache,
        encoder: Encoder,
        limit: int,
        on_taken: Callable[[Collection[str]], None],
        on_encoded: Callable[[int], None],
        should_stop: Callable[[], bool],
        batch_size: int = 1,
        with_tokens: bool = False,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._clock = clock
        self._waited = threading.local()
        self._cache = cache
        self._encoder = encoder
        self._limit = limit
        self._on_taken = on_taken
        self._on_encoded = on_encoded
        self._should_stop = should_stop
        self._batch_size = batch_size
        self._with_tokens = with_tokens
        self._changed = threading.Condition()
        self._waiting: set[str] = set()
        self._working: set[str] = set()
        self._taken = self._done = 0
        self._error: Exception | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def taken(self) -> int:
        """How many texts had no vector and have been taken; all are encoded after `wait`."""
        return self._taken

    @property
    def encoded(self) -> int:
        """How many of them have their vector."""
        return self._done

    @property
    def seconds_waited(self) -> float:
        """How long calls from this thread have waited so far."""
        return getattr(self._waited, "seconds", 0.0)

    def offer(self, texts: Iterable[str]) -> int | None:
        """Take the texts if there is room for one, and return how many are new; None where there is none."""
        with self._changed:
            self._raise_error()
            return self._take(texts) if self._has_room() else None

    def put(self, texts: Iterable[str]) -> int:
        """Take the texts, after waiting for room; return how many are new."""
        with self._changed:
            self._wait_for(self._has_room)
            return self._take(texts)

    def wait(self) -> None:
        """Wait until every text taken has its vector."""
        with self._changed:
            self._wait_for(lambda: self._done == self._taken)

    def vectors(self, texts: Collection[str]) -> Mapping[str, Vector]:
        """Wait, then return the vectors of some texts.

        Raises: KeyError: a text that was never taken has none.
        """
        self.wait()
        return self._cache.get(texts)

    def tokens(self, texts: Collection[str]) -> Mapping[str, TokenVectors]:
        """Wait, then return the token vectors of some texts; nothing where none are kept.

        Raises: KeyError: a text that was never taken has none.
        """
        self.wait()
        return self._cache.tokens(texts) if self._with_tokens else {}

    def close(self) -> None:
        """Drop what has not been begun, and wait for the batch that has; whoever waits gets Stopped."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _has_room(self) -> bool:
        return self._taken - self._done < self._limit

    def _take(self, texts: Iterable[str]) -> int:
        fresh = set(self._cache.missing(texts)) - self._waiting - self._working
        if fresh:
            self._waiting |= fresh
            self._taken += len(fresh)
            self._on_taken(fresh)
            self._start()
            self._changed.notify_all()
        return len(fresh)

    def _wait_for(self, ready: Callable[[], bool]) -> None:
        self._raise_error()
        while not ready():
            if self._closed:
                raise Stopped("ended before every text had its vector; run again to go on")
            self._start()  # again, where another caller was given the error that ended it
            began = self._clock()
            self._changed.wait()
            self._waited.seconds = self.seconds_waited + self._clock() - began
            self._raise_error()

    def _raise_error(self) -> None:
        error = self._error
        if isinstance(error, TransientError):
            self._error = None
        if error is not None:
            raise error

    def _start(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._work, name="encode", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        try:
            while texts := self._next():
                with caused_by(Cause.EMBED):
                    self._encode(texts)
        except Exception as error:  # noqa: BLE001 - raised again where somebody waits for the vectors
            with self._changed:
                self._error = error
                if isinstance(error, TransientError):
                    self._put_back()
                self._changed.notify_all()

    def _put_back(self) -> None:
        """Let what was being encoded wait for another thread; what has its vector is skipped then."""
        self._waiting |= self._working
        self._working = set()
        self._done = self._taken - len(self._waiting)
        self._thread = None

    def _next(self) -> set[str]:
        """What waits by now, all at once: the more there is, the better batches of like length can be cut."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            self._working, self._waiting = self._waiting, set()
            return set() if self._closed else self._working

    def _encode(self, texts: set[str]) -> None:
        before = self._done

        def advance(done: int, _total: int) -> None:
            with self._changed:
                newly, self._done = before + done - self._done, before + done
                self._changed.notify_all()
            self._on_encoded(newly)

        encode_missing(
            texts,
            cache=self._cache,
            encoder=self._encoder,
            on_progress=advance,
            should_stop=lambda: self._closed or self._should_stop(),
            with_tokens=self._with_tokens,
            batch=max(BATCH, self._batch_size),
            characters=max(CHARACTERS, LONG_TEXT * self._batch_size),
        )
        with self._changed:
            self._done = before + len(texts)  # another process may have encoded some meanwhile
            self._working = set()
            self._changed.notify_all()
