"""Which texts hold any of many names, in one pass over each, however many names there are."""

from collections.abc import Callable, Collection

from ahocorasick_rs import AhoCorasick


def sieve_of(names: Collection[str]) -> Callable[[str], bool]:
    """Return what says whether a text has one of the names in it, inside a word too.

    Its time follows the text and not the number of names (Aho and Corasick, 1975).
    """
    automaton = AhoCorasick(sorted(names))
    return lambda text: bool(automaton.find_matches_as_indexes(text))
