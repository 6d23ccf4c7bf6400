"""What an answer of chat completions says, or why it says nothing.

Source: https://platform.openai.com/docs/api-reference/chat/object.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from schemas.errors import ParseError
from schemas.unseen import whole_text

REASON_MAX = 200

_FENCE = "```"
_OPENING = re.compile(rf"{_FENCE}(?:json)?\s*\n")


def read_json(url: str, data: bytes) -> Any:
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
