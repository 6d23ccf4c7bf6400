"""Sets of names written as one line of words."""


def word_set(names: str) -> frozenset[str]:
    """The names in *names*, which white space parts."""
    return frozenset(names.split())
