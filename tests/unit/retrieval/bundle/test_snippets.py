"""Which part of a passage is shown, and which of its words are marked."""

import re
import sys
from random import Random
from types import FrameType
from typing import Any

import pytest

from retrieval.bundle.render import LENGTH, QUESTION_WORDS, cut_snippet, mark_quote, mark_words

FILLER = " ".join(f"filling{number}" for number in range(200))


def marked(pieces: tuple[tuple[str, bool], ...]) -> list[str]:
    return [text for text, is_marked in pieces if is_marked]


def shown(pieces: tuple[tuple[str, bool], ...]) -> str:
    return "".join(text for text, _ in pieces)


def test_a_short_passage_is_shown_whole_line_by_line_with_the_words_asked_for_marked() -> None:
    pieces = cut_snippet("A lease\n\n- expires;  \n  - Leases are renewed.", "When does the lease expire?")
    assert shown(pieces) == "A lease\n- expires;\n- Leases are renewed."
    assert marked(pieces) == ["lease", "expires", "Leases"]


def test_a_long_passage_is_cut_at_words_around_where_most_words_stand() -> None:
    pieces = cut_snippet(f"lease {FILLER} the lease expires at noon {FILLER}", "lease expires")
    assert marked(pieces) == ["lease", "expires"]
    assert shown(pieces).startswith("… filling")
    assert shown(pieces).endswith(" …")
    assert len(shown(pieces)) <= LENGTH + 4


def test_of_short_lines_six_are_shown() -> None:
    pieces = cut_snippet("\n".join(f"- lease {number}" for number in range(20)), "lease")
    assert shown(pieces).splitlines() == [*(f"- lease {number}" for number in range(5)), "- lease 5 …"]


def test_a_passage_without_any_of_the_words_begins_at_its_beginning() -> None:
    assert shown(cut_snippet(FILLER, "lease")).startswith("filling0 filling1 ")


@pytest.mark.parametrize("length", [100, 300])
@pytest.mark.parametrize("seed", range(20))
def test_the_cut_is_where_a_look_at_every_place_finds_most_words(seed: int, length: int) -> None:
    random = Random(seed)
    words = ["lease", "expires", "noon"][: 1 + seed % 3]
    text = " ".join(random.choice([*words, *(f"filling{n}" for n in range(12))]) for _ in range(200))
    reach = length * 3 // 4
    places = [match for match in re.finditer(r"\w+", text) if match[0] in words]

    def inside(start: int) -> int:
        return len({match[0] for match in places if start <= match.start() < start + reach})

    best = max((match.start() for match in places), key=inside, default=0)
    start = 0 if best < length // 2 else text.find(" ", best - length // 5, best) + 1
    cut = shown(cut_snippet(text, " ".join(words), length=length)).removeprefix("… ").removesuffix(" …")
    assert text.startswith(cut, start)


def test_the_work_grows_with_the_passage_and_not_with_its_square() -> None:
    steps = [steps_of("aaaa " * times, "aaaa aaaab aaaabb") for times in (100, 200)]
    assert steps[1] < 3 * steps[0]


def test_of_a_question_without_end_its_first_words_are_looked_for() -> None:
    question = " ".join(f"word{number:03}" for number in range(QUESTION_WORDS))
    assert marked(cut_snippet("word000 lease", f"{question} lease")) == ["word000"]
    assert marked(cut_snippet("lease", f"{'word000 ' * 99} lease")) == ["lease"]


def steps_of(text: str, question: str) -> int:
    """Steps of the interpreter that a snippet takes: a measure that no busy machine changes."""
    steps = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        cut_snippet(text, question)
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize("text", ["x" * 1000, "", " ", "\n", "\u00df" * 400])
def test_text_without_spaces_is_cut_all_the_same(text: str) -> None:
    assert len(shown(cut_snippet(text, "lease"))) <= LENGTH + 4


def test_a_word_is_marked_with_its_endings_and_not_inside_of_another() -> None:
    assert marked(mark_words("cat category cats concat leased", {"cat", "lease"})) == ["cat", "leased"]


def test_a_quotation_is_found_whatever_the_white_space_and_its_characters() -> None:
    text = "Rows:\n1 | a (b)\n2 | c\nend"
    assert mark_quote(text, "1 | a (b) 2 | c") == (
        ("Rows:\n", False),
        ("1 | a (b)\n2 | c", True),
        ("\nend", False),
    )
    assert mark_quote(text, "not there") == ((text, False),)
    assert mark_quote(text, " ") == ((text, False),)
