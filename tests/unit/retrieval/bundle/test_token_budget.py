"""Texts are cut at good places before evidence is dropped, and offsets follow."""

from hypothesis import given
from hypothesis import strategies as st

from retrieval.bundle.build import cut_offsets, cut_text, fit_budget


def count(text: str) -> int:
    return len(text.split())


def cut(text: str, limit: int) -> str:
    return text[: cut_text(text, count, limit=limit)]


def test_texts_within_the_budget_stay_whole() -> None:
    assert fit_budget(["one two", "three"], count, budget=3) == (7, 5)


def test_a_block_end_is_preferred_to_a_sentence_end() -> None:
    assert cut("One two three. Four five.\n\nSix. Seven eight nine ten.", 7) == "One two three. Four five."


def test_a_sentence_end_is_taken_where_the_block_would_leave_too_little() -> None:
    assert (
        cut("One.\n\nTwo three four. Five six. Seven eight nine.", 7) == "One.\n\nTwo three four. Five six."
    )


def test_prose_wrapped_over_lines_is_not_cut_inside_a_sentence() -> None:
    assert cut("One two. Three four\nfive six seven.", 5) == "One two."


def test_table_rows_and_code_lines_are_kept_whole() -> None:
    table = "| a | b. c |\n| d e f g | h. i |\n"
    assert cut(table, 9) == "| a | b. c |"
    code = "    x = f(1). g(2)\n    y = 3\n"
    assert cut(code, 5) == "    x = f(1). g(2)"


def test_a_row_that_is_too_long_is_dropped_and_not_cut() -> None:
    assert cut("| one two three four five six |", 4) == ""


def test_prose_without_any_end_is_cut_after_a_word() -> None:
    assert cut("one two three four five", 3) == "one two three"


def test_long_texts_share_what_short_ones_leave() -> None:
    long, short = " ".join(["word."] * 100), "tiny text."
    lengths = fit_budget([long, short, long], count, budget=82)
    assert [count(text[:length]) for text, length in zip((long, short, long), lengths, strict=True)] == [
        40,
        2,
        40,
    ]


def test_the_last_evidence_goes_first_when_shares_get_too_small() -> None:
    long = " ".join(["word."] * 100)
    assert [bool(length) for length in fit_budget([long] * 4, count, budget=50)] == [True, True, False, False]


def test_the_first_evidence_always_keeps_something() -> None:
    assert fit_budget(["one two three four five"], count, budget=2) == (7,)


@given(
    st.lists(st.text(alphabet="ab.\n| ", max_size=400), max_size=8), st.integers(min_value=16, max_value=200)
)
def test_the_budget_is_never_exceeded_and_kept_texts_are_beginnings(texts: list[str], budget: int) -> None:
    lengths = fit_budget(texts, count, budget=budget)
    assert len(lengths) == len(texts)
    assert all(0 <= length <= len(text) for text, length in zip(texts, lengths, strict=True))
    assert sum(count(text[:length]) for text, length in zip(texts, lengths, strict=True)) <= budget


def test_offsets_follow_a_cut() -> None:
    assert cut_offsets((100, 120), "x" * 20, 8) == (100, 108)
    assert cut_offsets((100, 120), "x" * 20, 20) == (100, 120)


def test_a_repeated_table_header_moves_no_offset() -> None:
    assert cut_offsets((100, 120), "h" * 5 + "x" * 20, 15) == (100, 110)
    assert cut_offsets((100, 120), "h" * 5 + "x" * 20, 25) == (100, 120)
