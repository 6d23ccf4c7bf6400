"""What a request to chat completions says, in the forms that servers understand.

Source: https://platform.openai.com/docs/api-reference/chat/create.
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from schemas.extraction import Message


class Form(StrEnum):
    """How an answer is asked for; each is understood by more servers than the one before."""

    SCHEMA = "json_schema"
    JSON = "json_object"
    TEXT = "text"


FORMS = tuple(Form)


def body_of(model: str, messages: Sequence[Message], schema: Mapping[str, Any] | None, form: Form) -> bytes:
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
