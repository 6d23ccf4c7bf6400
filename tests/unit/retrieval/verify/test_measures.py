"""What a question measures."""

import pytest

from retrieval.verify.quantities import measure_asked, says_measure


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("How long is a lease valid?", "A lease is valid for two hours.", True),
        ("How long is a lease valid?", "A lease is valid for 30 lamps.", False),
        ("How long is a lease valid?", "A lease is valid as long as its owner renews it.", True),
        ("For how long are backups kept?", "Backups are kept in the cellar.", False),
        ("How much memory does it take?", "It takes memory.", False),
        ("How much memory does it take?", "It takes 2 GiB of memory.", True),
        ("How often are backups taken?", "Backups are taken every night.", True),
        ("How often are backups taken?", "Backups are taken by the porter.", False),
        ("How old are the tapes?", "The tapes are 12 years old.", True),
        ("How are backups taken?", "Backups are taken by the porter.", True),
        ("Who keeps the tapes?", "The porter.", True),
    ],
)
def test_a_text_says_what_is_measured_or_nothing_is_measured(question: str, text: str, says: bool) -> None:
    assert says_measure(question, [text]) is says


def test_how_is_no_measure() -> None:
    assert measure_asked("How does the lease work, and how is it renewed?") is None
    assert measure_asked("How long?") is not None
