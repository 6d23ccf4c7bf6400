"""Ways to answer a question; imports nothing, since every command begins with it."""

from enum import StrEnum


class AskMode(StrEnum):
    """How evidence is found."""

    PLAIN = "plain"
    DUAL = "dual"
    WIKI = "wiki"
    ITERATIVE = "iterative"
