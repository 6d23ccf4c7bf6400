from ingest.parse.chunking import MAX_TOKENS, split_spans, text_budget
from schemas.text import encoded_text
from tests.fakes.pages import count_words


def split(text: str, limit: int) -> list[str]:
    return [text[slice(*span)] for span in split_spans(text, max_tokens=limit, count_tokens=count_words)]


def test_a_text_that_fits_is_one_span_without_its_edges() -> None:
    assert split_spans("  two words \n", max_tokens=2, count_tokens=count_words) == ((2, 11),)


def test_white_space_alone_gives_no_span() -> None:
    assert split_spans(" \n\n\t ", max_tokens=5, count_tokens=count_words) == ()


def test_a_block_end_is_preferred_to_a_line_end() -> None:
    text = "\n".join(["a b c d e"] * 6) + "\n\n" + "\n".join(["v w x y z"] * 6)
    assert [part.split()[0] for part in split(text, 40)] == ["a", "v"]


def test_code_that_fits_stays_whole() -> None:
    prose, code = "word " * 100, "x = 1\n" * 60
    assert split(f"{prose.strip()}\n\n{code.strip()}", 250) == [prose.strip(), code.strip()]


def test_a_long_line_is_cut_at_sentences() -> None:
    parts = split("One two three four five. " * 60, 100)
    assert all(part.endswith(".") and count_words(part) <= 100 for part in parts)


def test_a_word_longer_than_any_passage_is_cut() -> None:
    parts = split("x" * 100_000, 250)
    assert "".join(parts) == "x" * 100_000
    assert max(map(len, parts)) <= 250 * 17


def test_a_tokenizer_that_counts_signs_is_obeyed() -> None:
    spans = split_spans("abc def ghi jkl", max_tokens=5, count_tokens=len)
    assert all(end - start <= 5 for start, end in spans)


def test_no_tiny_rest_is_left_where_a_better_cut_exists() -> None:
    parts = split("\n\n".join(["word " * 9 + "end"] * 26), 250)
    assert min(map(count_words, parts)) >= 40


def test_each_sign_is_counted_a_few_times_only() -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return count_words(text)

    text = ("A sentence of seven words stands here. " * 8 + "\n\n") * 500
    split_spans(text, max_tokens=250, count_tokens=count)
    assert counted < 5 * len(text)


def test_after_an_inserted_paragraph_the_cuts_fall_into_step_again() -> None:
    paragraphs = [f"Paragraph {n} " + f"says {n * n} " * (3 + n * 7 % 20) for n in range(300)]
    before = split("\n\n".join(paragraphs), 250)
    after = split("\n\n".join([*paragraphs[:40], "A new one. " * 12, *paragraphs[40:]]), 250)
    assert len(before) > 40
    assert len(set(after) - set(before)) <= 4


def test_what_is_encoded_is_the_path_and_the_text() -> None:
    assert encoded_text(("Guide", "Install"), "Run it.") == "Guide > Install\nRun it."
    assert encoded_text((), "Run it.") == "Run it."


def test_an_enormous_heading_leaves_room_for_the_text() -> None:
    path = ("Top", "long heading " * 400)
    assert text_budget(path, count_words) >= MAX_TOKENS // 3
    assert len(encoded_text(path, "The text.")) < 400


def test_the_last_headings_of_a_long_path_are_kept() -> None:
    path = (*(f"chapter with a rather long name {n}" for n in range(20)), "Options")
    first_line = encoded_text(path, "text").splitlines()[0]
    assert first_line.endswith("name 19 > Options")
    assert "name 0 " not in first_line
