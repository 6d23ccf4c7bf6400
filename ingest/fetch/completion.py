"""Asking a server that speaks OpenAI's chat completions, for text or for JSON of a schema.

Source: https://platform.openai.com/docs/api-reference/chat/create, response_format of type json_schema.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2

from ingest.fetch.completion_answer import read_content, read_json, read_reason
from ingest.fetch.completion_budget import CompletionLimits, Spending
from ingest.fetch.completion_request import FORMS, body_of
from ingest.fetch.loop_thread import LoopThread
from ingest.fetch.politeness import parse_retry_after
from schemas.errors import ConfigError, FetchRefused, FetchTimeout, HostBusy, ParseError, TransientError
from schemas.extraction import Complete, Message

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
            request = body_of(self._model, messages, schema, form)
            status, data = await self._with_tries(request)
            if status == 200:
                answer = read_json(self._url, data)
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
