"""Characters that nobody sees, and those that words need although nobody sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.text import replace_unseen

_TAGS = [chr(0xE0000 + ord(letter)) for letter in "act"]


@pytest.mark.parametrize(
    "hidden",
    [
        *("\x1b[2J", "\x00", "\x9b", "\x7f", "\u2028", "\ud800"),
        *("\u061c", "\u200e", "\u200f", "\u202e", "\u2066", "\u206a"),
        *("\u00ad", "\u034f", "\u115f", "\u17b4", "\u180e", "\u200b", "\u2060", "\u2061", "\u2064", "\u3164"),
        *("\ufeff", "\uffa0", "\ufff9", "\ufffb", "\U0001d173", *_TAGS, "\U000e0001", "\U000e0fff"),
        *("\ufe00", "\ufe0d", "\U000e0100", "\U000e01ef", "\u180b"),
    ],
    ids=ascii,
)
def test_what_people_do_not_see_is_replaced_one_for_one(hidden: str) -> None:
    text = f"before{hidden}after"
    assert replace_unseen(text) == f"before\ufffd{hidden[1:]}after"


@pytest.mark.parametrize(
    "text",
    [
        "tabs\tand\nlines, ünïcode 漢字",
        "می\u200cخواهم",
        "❤\ufe0f\u200d🔥 and 👩\u200d🚀",
        "a footnote ↩\ufe0e ends",
        "葛\U000e0100城市",
        "ᠪᠠᠳ\u180eᠠ ᠤ\u180b",
        "क\u094d\u200dष",
    ],
    ids=["plain", "Persian", "emoji", "footnote", "Japanese name", "Mongolian", "Hindi"],
)
def test_what_words_cannot_be_written_without_stays(text: str) -> None:
    assert replace_unseen(text) == text


@pytest.mark.parametrize("carrier", ["x", "☺\ufe0f", "葛\U000e0100"])
@pytest.mark.parametrize(
    "pair", ["\u200c\u200d", "\ufe0e\ufe0f", "\U000e0100\U000e01ef", "\u180b\u180c"], ids=ascii
)
def test_of_a_run_that_spells_a_message_no_second_one_passes(carrier: str, pair: str) -> None:
    shown = replace_unseen(carrier + pair * 20)
    assert sum(shown.count(letter) for letter in set(pair) - set(carrier)) <= 1
    assert shown.endswith("\ufffd" * 38)


@given(st.text(alphabet=st.characters() | st.sampled_from("\u200c\u200d\ufe0e\ufe0f漢\U000e0100")))
def test_the_length_stays_and_once_is_enough(text: str) -> None:
    shown = replace_unseen(text)
    assert len(shown) == len(text)
    assert replace_unseen(shown) == shown
