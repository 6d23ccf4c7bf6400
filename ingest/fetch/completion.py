"""Asking a server that speaks OpenAI's chat completions for JSON of a schema.

Source: https://platform.openai.com/docs/api-reference/chat/create, response_format of type json_schema.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2

from schemas.errors import FetchRefused, FetchTimeout, HostBusy, ParseError
from schemas.extraction import Complete, Message

MAX_ANSWER = 1_000_000
"""Bytes of an answer; more than a passage could be worth."""

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})


def open_completion(base_url: str, *, model: str, api_key: str | None, timeout: float = 60.0) -> Complete:
    """Give a function that asks the model at *base_url* (`http://127.0.0.1:8000/v1`) without chance.

    The address is the operator's own, so it may be a private one; redirects are not followed, and proxies of
    the environment not used. The function raises FetchTimeout, HostBusy, FetchRefused (another status than
    200) and ParseError (an answer of another shape, or too large).
    """
    # Unpacked, a small answer may be huge.
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
    url = f"{base_url.rstrip('/')}/chat/completions"

    def complete(messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        wanted = {"name": "answer", "strict": True, "schema": schema}
        body = {
            "model": model,
            "messages": list(messages),
            "temperature": 0,
            "response_format": {"type": "json_schema", "json_schema": wanted},
        }
        return _content(url, _post(url, body, headers, timeout))

    return complete


def _post(url: str, body: Mapping[str, Any], headers: Mapping[str, str], timeout: float) -> Any:
    try:
        with (
            httpx2.Client(timeout=timeout, trust_env=False, follow_redirects=False) as client,
            client.stream("POST", url, json=body, headers=headers) as response,
        ):
            if response.status_code in _BUSY:
                raise HostBusy(f"the model's server answers {response.status_code}; try later", subject=url)
            if response.status_code != 200:
                message = f"the model's server answers {response.status_code}; check address, model and key"
                raise FetchRefused(message, subject=url)
            return _json(url, response)
    except httpx2.HTTPError as error:
        raise FetchTimeout(
            f"the model's server does not answer ({type(error).__name__})", subject=url
        ) from error


def _json(url: str, response: httpx2.Response) -> Any:
    data = bytearray()
    for part in response.iter_bytes():
        data += part
        if len(data) > MAX_ANSWER:
            raise ParseError(f"the model's answer is over {MAX_ANSWER} bytes", subject=url)
    try:
        return json.loads(bytes(data))
    except (ValueError, RecursionError) as error:
        raise ParseError("the model's server answers with something else than JSON", subject=url) from error


def _content(url: str, answer: Any) -> str:
    try:
        content = answer["choices"][0]["message"]["content"]
    except (LookupError, TypeError) as error:
        raise ParseError("the model's server answers without a choice", subject=url) from error
    if not isinstance(content, str):
        raise ParseError("the model's server answers without text", subject=url)
    return content
