"""The encoder of builds: sentence-transformers on torch. Readers use reader_encoder.py instead."""

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from indexes.embed.pooling import pool_tokens, to_unit
from indexes.embed.routes import CHECK_TEXTS, Dtype, EncodingRoute, RouteCheck, choose_route
from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import ModelSpec
from indexes.ports import Encoded, TokenVectors, Vector
from schemas.errors import ConfigError
from schemas.settings import install_line

_log = logging.getLogger(__name__)

T = TypeVar("T")


def offline_environment() -> dict[str, str]:
    """Variables to set before torch is imported; flows apply them, nothing below may.

    No model file is looked for on the network, and tokenizers do not start threads that a fork would
    inherit.
    """
    return {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false"}


class SentenceTransformerEncoder:
    """Keeps the port TokenEncoder with a model folder; imports torch (5-10 s) at the first text it encodes.

    Queries are always fp32. Documents take the faster exact-enough route, checked once (1-2 s), at the
    first of them. Safe to share between threads: texts are encoded one call at a time.

    On a CPU each thread encodes batches of its own: several that share every matrix wait for each other
    after each, and spin meanwhile (1.5 times the CPU time a text on two cores, twice on busy ones).

    Args: threads: of the whole process; None takes as many as torch would.
    clock: seconds of CPU time (time.process_time), which a busy machine distorts least; of wall time on a
    GPU. batch_size: 16 on a CPU pads least; a GPU wants 256-1024.
    """

    def __init__(
        self,
        spec: ModelSpec,
        *,
        clock: Callable[[], float],
        threads: int | None = None,
        device: str = "cpu",
        batch_size: int = 16,
    ) -> None:
        self._spec = spec
        self._clock = clock
        self._threads = threads
        self._device = device
        self._batch_size = batch_size
        self._lock = threading.RLock()
        self._model: Any = None
        self._pool: ThreadPoolExecutor | None = None
        self._hands = 1
        self._tokens: TokenCounter | None = None
        self._check: RouteCheck | None = None

    @property
    def dim(self) -> int:
        return self._spec.dim

    @property
    def model_sha256(self) -> str:
        return self._spec.sha256

    @property
    def route(self) -> EncodingRoute:
        """The route documents take; fp32 until documents have been encoded."""
        return self._check.route if self._check else EncodingRoute.FP32

    @property
    def route_check(self) -> RouteCheck | None:
        """What the start check found; None until documents have been encoded."""
        return self._check

    def encode_query(self, text: str) -> Vector:
        with self._lock:
            vectors = self._encode([text], EncodingRoute.FP32, prompt=self._spec.query_prompt)
        return vectors.reshape(self.dim)

    def encode_documents(self, texts: Collection[str]) -> Vector:
        """Encode texts; pass thousands at once, since they are sorted by length to save padding."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        with self._lock:
            return self._encode(list(texts), self._checked(), prompt=self._spec.document_prompt)

    def encode_query_tokens(self, text: str) -> Vector:
        with self._lock:
            (found,) = self._forward(
                self._loaded(), EncodingRoute.FP32, self._spec.query_prompt, [text], output_value=None
            )
            return to_unit(_token_rows(found))

    def encode_with_tokens(self, texts: Collection[str]) -> Encoded:
        """Encode as `encode_documents` does, with the texts' token vectors, pooled here."""
        if not texts:
            return Encoded(np.zeros((0, self.dim), np.float32), ())
        with self._lock:
            route, listed = self._checked(), list(texts)
            encode = partial(self._encode_part_with_tokens, self._loaded(), route, self._spec.document_prompt)
            found = self._in_parts(encode, listed)
        vectors = np.stack([vector for vector, _ in found])
        return Encoded(to_unit(vectors), tuple(tokens for _, tokens in found))

    def _checked(self) -> EncodingRoute:
        if self._check is None:
            self._check = self._check_routes()
        return self.route

    def count_tokens(self, text: str) -> int:
        # Not the model's own tokenizer: that one changes its truncation while it encodes in another thread.
        if self._tokens is None:
            self._tokens = TokenCounter(self._spec.path / "tokenizer.json")
        return self._tokens.count(text)

    def _encode(self, texts: Sequence[str], route: EncodingRoute, *, prompt: str) -> Vector:
        encode = partial(self._encode_part, self._loaded(), route, prompt)
        return np.stack(self._in_parts(encode, texts))

    def _in_parts(self, encode: Callable[[Sequence[str]], Sequence[T]], texts: Sequence[str]) -> Sequence[T]:
        """Call *encode* on parts of *texts*, a thread each; give its answers in the order of *texts*."""
        if self._pool is None or len(texts) <= self._batch_size:
            return encode(texts)
        hands = deal(texts, self._hands)
        parts = self._pool.map(encode, [[texts[number] for number in hand] for hand in hands])
        found = dict(
            chain.from_iterable(zip(hand, part, strict=True) for hand, part in zip(hands, parts, strict=True))
        )
        return [found[number] for number in range(len(texts))]

    def _encode_part(
        self, model: Any, route: EncodingRoute, prompt: str, texts: Sequence[str]
    ) -> Sequence[Vector]:
        vectors = self._forward(model, route, prompt, texts, convert_to_numpy=True, normalize_embeddings=True)
        unit: Vector = np.asarray(vectors, np.float32)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        return list(unit)

    def _encode_part_with_tokens(
        self, model: Any, route: EncodingRoute, prompt: str, texts: Sequence[str]
    ) -> Sequence[tuple[Vector, TokenVectors]]:
        # A batch at a time: what is not pooled yet takes four times the memory, in fp32.
        found: list[tuple[Vector, TokenVectors]] = []
        ordered = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
        for start in range(0, len(ordered), self._batch_size):
            batch = [texts[number] for number in ordered[start : start + self._batch_size]]
            outputs = self._forward(model, route, prompt, batch, output_value=None)
            found += [(_floats(one["sentence_embedding"]), pool_tokens(_token_rows(one))) for one in outputs]
        by_number = dict(zip(ordered, found, strict=True))
        return [by_number[number] for number in range(len(texts))]

    def _forward(
        self, model: Any, route: EncodingRoute, prompt: str, texts: Sequence[str], **how: Any
    ) -> Any:
        with self._precision(route):
            return model.encode(
                list(texts), prompt=prompt, batch_size=self._batch_size, show_progress_bar=False, **how
            )

    def _precision(self, route: EncodingRoute) -> AbstractContextManager[Any]:
        if route is EncodingRoute.FP32:
            return nullcontext()
        import torch

        autocast: AbstractContextManager[Any] = torch.autocast(
            torch.device(self._device).type, dtype=torch.bfloat16
        )
        return autocast

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = self._load()
            if self._device == "cpu":
                self._open_pool(self._model)
        return self._model

    def _load(self) -> Any:
        try:
            model = load_sentence_transformer(self._spec, device=self._device)
            if self._device != "cpu":
                model.encode(["."], show_progress_bar=False)  # some devices take a model and cannot run it
            return model
        except (RuntimeError, AssertionError) as error:  # torch's, for a device that is not there
            if self._device == "cpu":
                raise
            message = f"{self._device!r} cannot be used: {error}; set it to cpu, or another device"
            raise ConfigError(message, subject="SITEGRAPH_DEVICE") from error

    def _open_pool(self, model: Any) -> None:
        import torch

        self._hands = self._threads or torch.get_num_threads()
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(self._hands, initializer=torch.set_num_threads, initargs=(1,))
        # A tokenizer keeps its padding and truncation in itself, so it serves one thread at a time.
        model.preprocess = _in_turn(model.preprocess)

    def _check_routes(self) -> RouteCheck:
        self._loaded()
        if self._spec.dtype is Dtype.FP32:
            return RouteCheck(route=EncodingRoute.FP32, reason="fp32 is asked for")
        if not _has_bf16(self._device):
            return RouteCheck(route=EncodingRoute.FP32, reason=f"{self._device} has no fast bf16")
        exact, rough = (self._encode(CHECK_TEXTS, route, prompt="") for route in EncodingRoute)
        check = choose_route(
            cosine=float((exact * rough).sum(axis=1).min()),
            seconds=tuple(
                (self._seconds(EncodingRoute.FP32), self._seconds(EncodingRoute.BF16_AUTOCAST))
                for _ in range(3)
            ),
            dtype=self._spec.dtype,
        )
        _log.log(logging.INFO if check.route is not EncodingRoute.FP32 else logging.WARNING, check.reason)
        return check

    def _seconds(self, route: EncodingRoute) -> float:
        start = self._clock()
        self._encode(CHECK_TEXTS[::4], route, prompt="")
        return self._clock() - start


def load_sentence_transformer(spec: ModelSpec, *, device: str = "cpu", **model_kwargs: Any) -> Any:
    """Load the model from its folder, without network, pickle or code of the model's own.

    Raises: ConfigError: the library is not installed, or the model is not what *spec* says.
    """
    try:
        from sentence_transformers import SentenceTransformer
        from tqdm import tqdm
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise ConfigError(
            f"is not installed; run: {install_line('pipeline')}", subject=str(error.name)
        ) from error
    transformers_logging.disable_progress_bar()
    # Its default lock is a semaphore of the system, of which a process that is ended leaves a complaint.
    tqdm.set_lock(threading.RLock())
    model = SentenceTransformer(
        str(spec.path),
        device=device,
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs={"use_safetensors": True, **model_kwargs},
    )
    found = (model.get_embedding_dimension(), model.max_seq_length)
    if found != (spec.dim, spec.max_tokens):
        raise ConfigError(
            f"model gives (dim, max tokens) {found}, its files say {(spec.dim, spec.max_tokens)}",
            subject=spec.name,
        )
    return model


def _token_rows(output: Any) -> Vector:
    """Return what the model gave for the tokens of a text, without those that fill up its batch."""
    return _floats(output["token_embeddings"][output["attention_mask"].bool()])


def _floats(tensor: Any) -> Vector:
    array: Vector = tensor.detach().float().cpu().numpy()
    return array


def deal(texts: Sequence[str], hands: int) -> tuple[tuple[int, ...], ...]:
    """Deal the numbers of texts out in order of length, so that all hands have the same to do."""
    ordered = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    return tuple(tuple(ordered[first::hands]) for first in range(min(hands, len(texts))))


def _in_turn(call: Callable[..., Any]) -> Callable[..., Any]:
    lock = threading.Lock()

    def call_in_turn(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return call(*args, **kwargs)

    return call_in_turn


def _has_bf16(device: str) -> bool:
    import torch

    if torch.device(device).type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("amx_bf16") or capabilities.get("avx512_bf16"))
