"""Completes the commands that messages advise with what this call of the command line named."""

from collections.abc import Sequence
from itertools import pairwise

from schemas.advice import Door, DoorKind, advise

_SWITCHES = frozenset({"--due", "--accept", "--repair", "--quiet"})
"""Options of `run` that take no value."""


def door_of(arguments: Sequence[str]) -> Door:
    """What a call of the command line with these arguments has named."""
    index, source = _option(arguments, "--index"), _source(arguments)
    return Door(kind=DoorKind.COMMAND_LINE, index=index, source=source)


def complete_for_call(message: str, arguments: Sequence[str]) -> str:
    """Complete commands for a call of the command line with these arguments."""
    return advise(message, door_of(arguments))


def complete_commands(message: str, *, index: str | None, source: str | None = None) -> str:
    """Return the message with the index and the source file of this call in every command that it advises.

    Args: index: as the call named it, None where it did not: what the environment says needs no repeating.
    """
    return advise(message, Door(kind=DoorKind.COMMAND_LINE, index=index, source=source))


def _option(arguments: Sequence[str], name: str) -> str | None:
    for place, argument in enumerate(arguments):
        if argument.startswith(f"{name}="):
            return argument.removeprefix(f"{name}=")
        if argument == name and place + 1 < len(arguments):
            return arguments[place + 1]
    return None


def _source(arguments: Sequence[str]) -> str | None:
    """The source file that was named; of a run whatever it is of, such as an address or a folder."""
    file = next((one for one in arguments[1:] if one.endswith((".yaml", ".yml"))), None)
    if file is not None or arguments[:1] != ["run"]:
        return file
    return next((one for before, one in pairwise(arguments) if _is_argument(one, after=before)), None)


def _is_argument(word: str, *, after: str) -> bool:
    is_value = after.startswith("-") and after not in _SWITCHES and "=" not in after
    return not word.startswith("-") and not is_value
