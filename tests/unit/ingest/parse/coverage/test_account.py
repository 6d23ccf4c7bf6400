"""Words seen against words kept."""

from collections.abc import Iterator

import pytest

from ingest.parse.coverage.account import account


@pytest.mark.parametrize(
    ("seen", "kept", "lost", "invented"),
    [
        ("The oil is poured in.", "the oil is poured in", [], ()),
        ("The oil is poured in.", "The oil poured in", ["is"], ()),
        ("Oil and oil.", "Oil and", ["oil"], ()),
        ("one  two", "onetwo", ["one", "two"], ("onetwo",)),
        ("10\u2076 m\u00b2, caf\u00e9", "106 m2 cafe\u0301", [], ()),
        ("a lamp", "Note: 1. a lamp", [], ("note",)),
        ("light1 is shed", "light [1] is shed", [], ()),
        ("the exam-\nple is well-\nknown", "the example is well-known", [], ()),
        ("an ex\u00adample", "an ex ample", [], ()),
    ],
)
def test_words_are_compared_as_a_reader_takes_them(
    seen: str, kept: str, lost: list[str], invented: tuple[str, ...]
) -> None:
    found = account(seen, [kept], ())
    assert ([loss.word for loss in found.losses], found.inventions) == (lost, invented)
    assert found.lost == len(lost)


def test_what_is_left_out_for_a_reason_is_not_lost_and_asked_for_no_further_than_needed() -> None:
    asked = []

    def explain() -> Iterator[tuple[str, str]]:
        for reason, text in (("nav", "Home About"), ("hidden", "secret"), ("never", "asked")):
            asked.append(reason)
            yield reason, text

    found = account("Home About The oil secret burns", ["The oil"], explain())
    assert found.dropped == (("nav", 2), ("hidden", 1))
    assert [(loss.word, loss.context) for loss in found.losses] == [
        ("burns", "home about the oil secret burns")
    ]
    assert asked == ["nav", "hidden", "never"]
    account("The oil", ["The oil"], explain())
    assert asked == ["nav", "hidden", "never"]
    assert account("a b", ["a"], (), hides=True).losses == ()
