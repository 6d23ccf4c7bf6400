"""Counting and cutting by the model's own tokens."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from indexes.embed.tokens import TokenCounter
from indexes.embed.weights import load_model_spec
from schemas.errors import DamageFound

CLS, SEP = 101, 102


@pytest.fixture(scope="module")
def tokens() -> TokenCounter:
    """The default model's tokenizer, whose file asks for padding to 128."""
    return TokenCounter(load_model_spec().path / "tokenizer.json")


def test_nothing_is_padded_to_the_length_of_another(tokens: TokenCounter) -> None:
    assert [len(ids) for ids in tokens.encode(["one", "one two three"], 256)] == [3, 5]


def test_a_cut_text_still_ends_with_the_closing_token(tokens: TokenCounter) -> None:
    (ids,) = tokens.encode(["word " * 50], 10)

    assert len(ids) == 10
    assert (ids[0], ids[-1]) == (CLS, SEP)
    assert CLS not in ids[1:]


def test_an_empty_text_is_the_two_special_tokens(tokens: TokenCounter) -> None:
    assert tokens.encode([""], 256) == [[CLS, SEP]]
    assert tokens.count("") == 0


def test_counting_while_others_cut_gives_the_same_count(tokens: TokenCounter) -> None:
    text = "word " * 300
    with ThreadPoolExecutor(4) as threads:
        cuts = [threads.submit(tokens.encode, [text], 16) for _ in range(50)]
        counts = [threads.submit(tokens.count, text) for _ in range(50)]

    assert {count.result() for count in counts} == {300}
    assert {len(cut.result()[0]) for cut in cuts} == {16}


@pytest.mark.parametrize("content", [None, "", '{"model": 1}'], ids=["missing", "empty", "another JSON"])
def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "tokenizer.json"
    if content is not None:
        file.write_text(content)

    with pytest.raises(DamageFound, match=r"tokenizer\.json"):
        TokenCounter(file)


@given(
    st.text(
        st.sampled_from("ab é\u0301Σ漢ß.-_'\t\n\r\x0b\x85\u00a0\u2028\ufeff[SEP]#")
        | st.characters(exclude_categories=["Cs"])
    )
)
def test_counting_word_by_word_counts_what_the_model_sees(tokens: TokenCounter, text: str) -> None:
    assert tokens.count(text) == len(tokens.encode([text], 100_000)[0]) - len([CLS, SEP])


def test_a_tokenizer_that_sees_white_space_counts_whole_texts(tmp_path: Path) -> None:
    vocabulary = {"a": 0, "b": 1, "Ġ": 2, "Ġb": 3}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=[("Ġ", "b")]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.save(str(tmp_path / "tokenizer.json"))

    tokens = TokenCounter(tmp_path / "tokenizer.json")

    assert [tokens.count(text) for text in ("a b", "a  b")] == [2, 3]
