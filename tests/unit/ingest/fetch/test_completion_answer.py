"""Whatever a server says, reading it gives a text or one kind of error."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.fetch.completion import read_answer_json, read_content, read_reason
from schemas.errors import ParseError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "refusal", "finish_reason", "error"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(answer=VALUES)
def test_an_answer_of_any_shape_is_a_text_or_a_parse_error(answer: object) -> None:
    with suppress(ParseError):
        assert isinstance(read_content("http://model.test", answer), str)


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=40) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_bytes_of_any_kind_are_read_or_refused_and_never_a_crash(data: bytes) -> None:
    assert isinstance(read_reason(data), str)
    with suppress(ParseError):
        read_answer_json("http://model.test", data)


@pytest.mark.parametrize(
    "content", ["```json" + "\n" * 50_000 + "{", "```\n" + "a\n\n" * 50_000, "```json\n```"]
)
def test_an_answer_that_never_ends_its_fence_is_taken_as_it_is(content: str) -> None:
    answer = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    assert read_content("http://h.example/", answer) == content
