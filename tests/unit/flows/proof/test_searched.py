"""By which words a chunk is searched for."""

from indexes.frozen_plan import own_words


def test_the_longest_words_between_spaces_are_chosen() -> None:
    said = "The clone command copies a repository, with its remote-tracking branches and the configuration"
    assert own_words(said) == ("branches", "command", "copies")


def test_a_word_is_asked_for_once() -> None:
    assert own_words("branches branches branches branches") == ("branches",)


def test_a_text_without_such_words_has_none() -> None:
    assert own_words("1.2.3 -> (x_y)") == ()
