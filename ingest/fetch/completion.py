"""Asking a server that speaks OpenAI's chat completions, for text or JSON of a schema, within a budget.

Source: https://platform.openai.com/docs/api-reference/chat/create, response_format of type json_schema, and
https://platform.openai.com/docs/api-reference/chat/object.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import httpx2

from ingest.fetch.loop_thread import LoopThread
from ingest.fetch.politeness import parse_retry_after
from schemas.errors import (
    BudgetExceeded,
    ConfigError,
    FetchRefused,
    FetchTimeout,
    HostBusy,
    ParseError,
    TransientError,
)
from schemas.names import Complete, Message
from schemas.text import whole_text

REASON_MAX = 200

_FENCE = "```"
_OPENING = re.compile(rf"{_FENCE}(?:json)?\s*\n")


def read_answer_json(url: str, data: bytes) -> Any:
    """Read the body of an answer. Raises: ParseError: it is no JSON in UTF-8."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ParseError("the model's server answers with something else than JSON", subject=url) from error


def read_content(url: str, answer: Any, *, key: str | None = None) -> str:
    """Return the text of the first choice, without the fence that some models put around JSON.

    Raises: ParseError: there is none, it ends where the server's own limit cut it, or the model refuses.
    """
    try:
        choice = answer["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        content, refusal = message.get("content"), message.get("refusal")
    except (LookupError, TypeError, AttributeError) as error:
        raise ParseError("the model's server answers without a choice", subject=url) from error
    if isinstance(refusal, str) and refusal:
        raise ParseError(f"the model refuses: {_shown(refusal, key)}", subject=url)
    if not isinstance(content, str):
        raise ParseError("the model's server answers without text", subject=url)
    if finish == "length":
        message = "the model's answer is cut off; let the server allow more tokens"
        raise ParseError(message, subject=url)
    return _unfenced(whole_text(content))


def read_reason(data: bytes, *, key: str | None = None) -> str:
    """Return what an error says of itself, as OpenAI words it; empty where it does not."""
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    error = answer.get("error") if isinstance(answer, Mapping) else None
    reason = error.get("message") if isinstance(error, Mapping) else error
    return _shown(reason, key) if isinstance(reason, str) else ""


def _unfenced(content: str) -> str:
    stripped = content.strip()
    opening = _OPENING.match(stripped)
    if opening is None or not stripped.endswith(_FENCE):
        return content
    inside = stripped[opening.end() : -len(_FENCE)]
    text = inside.rstrip()
    return text if "\n" in inside[len(text) :] else content


def _shown(text: str, key: str | None) -> str:
    """Return the start of a text, without the key that a server may repeat; cut first, half of it stays."""
    return (text.replace(key, "[key]") if key else text)[:REASON_MAX]


_CHARACTERS_A_TOKEN = 4
"""About what tokenizers make of English; for servers that do not say what an answer cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionLimits:
    """What asking may cost: times in seconds, `answer_bytes` of one answer.

    `seconds` is for one question with all its tries and waits, `longest_wait` what a busy server may ask for
    before another try. `calls` (tries count) and `tokens` (questions and answers) are for all questions
    together; None is no limit.
    """

    seconds: float = 60.0
    tries: int = 3
    backoff: float = 0.5
    longest_wait: float = 20.0
    answer_bytes: int = 1_000_000
    calls: int | None = None
    tokens: int | None = None


class Spending:
    """Counts calls and tokens against their limits; threads may share it."""

    def __init__(self, limits: CompletionLimits, *, subject: str) -> None:
        self._limits = limits
        self._subject = subject
        self._lock = Lock()
        self._calls = 0
        self._tokens = 0

    def begin_call(self, request: bytes) -> None:
        """Count a request that is about to be sent, so that what others are about to ask counts too.

        Raises: BudgetExceeded: it is one too many, or its text alone goes past the tokens that are left.
        """
        with self._lock:
            if self._limits.calls is not None and self._calls >= self._limits.calls:
                raise self._exceeded(f"{self._limits.calls} calls", "SITEGRAPH_LLM_CALLS")
            coming = self._tokens + len(request) // _CHARACTERS_A_TOKEN
            if self._limits.tokens is not None and coming > self._limits.tokens:
                raise self._exceeded(f"{self._limits.tokens} tokens", "SITEGRAPH_LLM_TOKENS")
            self._calls += 1
            self._tokens = coming

    def end_call(self, request: bytes, answer: Any) -> None:
        """Count the tokens that *answer* says it cost, or about what it must have."""
        usage = answer.get("usage") if isinstance(answer, Mapping) else None
        tokens = usage.get("total_tokens") if isinstance(usage, Mapping) else None
        if not isinstance(tokens, int) or tokens < 0:
            tokens = (len(request) + len(json.dumps(answer))) // _CHARACTERS_A_TOKEN
        with self._lock:
            self._tokens += max(0, tokens - len(request) // _CHARACTERS_A_TOKEN)

    def _exceeded(self, what: str, setting: str) -> BudgetExceeded:
        message = f"the budget of {what} for the model is used up; raise {setting}, or ask for less"
        return BudgetExceeded(message, subject=self._subject)


class Form(StrEnum):
    """How an answer is asked for; each is understood by more servers than the one before."""

    SCHEMA = "json_schema"
    JSON = "json_object"
    TEXT = "text"


FORMS = tuple(Form)


def _body_of(model: str, messages: Sequence[Message], schema: Mapping[str, Any] | None, form: Form) -> bytes:
    """Return the body of a request, in ASCII: a lone surrogate of a crawled text has no bytes of its own.

    Where the server is not told the schema, the model is.
    """
    sent: list[Message] = list(messages)
    body: dict[str, Any] = {"model": model, "temperature": 0}
    if schema is not None and form is Form.SCHEMA:
        named = {"name": "answer", "strict": True, "schema": schema}
        body["response_format"] = {"type": form, form.value: named}
    elif schema is not None:
        sent.append({"role": "user", "content": _INSTRUCTION.format(json.dumps(schema, sort_keys=True))})
        if form is Form.JSON:
            body["response_format"] = {"type": form}
    return json.dumps({**body, "messages": sent}).encode("ascii")


_INSTRUCTION = "Answer with nothing but one JSON object that keeps this JSON Schema: {}"


_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_NOT_UNDERSTOOD = frozenset({400, 415, 422, 501})
"""How servers answer a `response_format` that they do not know."""
_NO_REASON = frozenset({401, 403})
"""Their reason may repeat the key, or half of it."""

NO_LIMITS = CompletionLimits()


def open_completion(
    base_url: str, *, model: str, api_key: str | None, limits: CompletionLimits = NO_LIMITS
) -> Complete:
    """Return a function that asks the model at *base_url* (`http://127.0.0.1:8000/v1`) without chance.

    The address is the operator's own, so it may be a private one; redirects are not followed, and proxies of
    the environment not used. Threads may share the function, and with it the budget of *limits*. It raises
    FetchTimeout and HostBusy (after further tries), FetchRefused (another status than 200), ParseError (an
    answer of another shape, cut off, too large, or a refusal) and BudgetExceeded.

    Raises: ConfigError: no URL of HTTP, or a key that no header can carry.
    """
    if not _is_address(base_url):
        raise ConfigError("is no URL of http or https with a host and a port in range", subject=base_url)
    if api_key is not None and not (
        api_key.isascii() and api_key.isprintable() and api_key == api_key.strip()
    ):
        raise ConfigError("has characters that no header can carry", subject="SITEGRAPH_LLM_KEY")
    return _Model(f"{base_url.rstrip('/')}/chat/completions", model, api_key, limits)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in {"http", "https"}
            and bool(parts.hostname)
            and parts.port != 0
            and url.isprintable()
        )
    except ValueError:  # a port that is none, or brackets without an address
        return False


class _Model:
    """One model at one address; remembers which form of question its server understands."""

    def __init__(self, url: str, model: str, key: str | None, limits: CompletionLimits) -> None:
        self._url, self._model, self._key, self._limits = url, model, key, limits
        self._spending = Spending(limits, subject=url)
        self._form = FORMS[0]

    def __call__(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> str:
        loop = LoopThread()  # of its own: the caller may stand in another, and an interrupt ends this one
        try:
            return loop.run(self._within_time(messages, schema))
        finally:
            loop.close()

    async def _within_time(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> str:
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._in_a_form_it_knows(messages, schema)
        except TimeoutError as error:
            message = f"the model's server gives no whole answer within {self._limits.seconds:g} s"
            raise FetchTimeout(message, subject=self._url) from error

    async def _in_a_form_it_knows(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> str:
        """Ask for the schema, else for JSON, else for text, as far as the server goes along."""
        for form in FORMS[FORMS.index(self._form) :] if schema is not None else FORMS[-1:]:
            request = _body_of(self._model, messages, schema, form)
            status, data = await self._with_tries(request)
            if status == 200:
                answer = read_answer_json(self._url, data)
                self._spending.end_call(request, answer)
                return read_content(self._url, answer, key=self._key)
            if status not in _NOT_UNDERSTOOD or form is FORMS[-1]:
                break
            self._form = FORMS[FORMS.index(form) + 1]
        raise self._refused(status, data)

    async def _with_tries(self, request: bytes) -> tuple[int, bytes]:
        wait = self._limits.backoff
        for left in range(self._limits.tries - 1, -1, -1):
            self._spending.begin_call(request)
            try:
                return await self._exchange(request)
            except TransientError as error:
                asked = error.retry_after if isinstance(error, HostBusy) else None
                if not left or (asked or 0.0) > self._limits.longest_wait:
                    raise
            await asyncio.sleep(wait if asked is None else asked)
            wait *= 2
        raise AssertionError("the last try returns or raises")

    async def _exchange(self, request: bytes) -> tuple[int, bytes]:
        """Return status and body of one answer. Raises: HostBusy, FetchTimeout, ParseError."""
        # Unpacked, a small answer may be huge.
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        headers |= {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with (
                httpx2.AsyncClient(timeout=None, trust_env=False, follow_redirects=False) as client,
                client.stream("POST", self._url, content=request, headers=headers) as response,
            ):
                if response.status_code in _BUSY:
                    message = f"the model's server answers {response.status_code}; try later"
                    raise HostBusy(message, subject=self._url, retry_after=_retry_after(response.headers))
                return response.status_code, await self._read(response)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            message = f"the model's server does not answer ({type(error).__name__})"
            raise FetchTimeout(message, subject=self._url) from error

    async def _read(self, response: httpx2.Response) -> bytes:
        coding = response.headers.get("content-encoding", "identity")
        if coding != "identity":
            raise ParseError(f"the model's answer is packed ({coding}), unasked", subject=self._url)
        data = bytearray()
        async for part in response.aiter_raw():
            data += part
            if len(data) > self._limits.answer_bytes:
                message = f"the model's answer is over {self._limits.answer_bytes} bytes"
                raise ParseError(message, subject=self._url)
        return bytes(data)

    def _refused(self, status: int, data: bytes) -> FetchRefused:
        reason = "" if status in _NO_REASON else read_reason(data, key=self._key)
        said = f"{status} ({reason})" if reason else str(status)
        message = f"the model's server answers {said}; check address, model and key"
        return FetchRefused(message, subject=self._url)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks for; a date counts from the server's own, and says nothing without."""
    try:
        sent = parsedate_to_datetime(headers.get("date", ""))
    except (ValueError, OverflowError):
        sent = datetime.max
    return parse_retry_after(headers.get("retry-after"), now=sent.replace(tzinfo=UTC))
