"""Completes the commands that messages advise, so that they can be pasted as they stand."""

import re
import shlex
from collections.abc import Sequence

SOURCE = "SOURCE.yaml"
"""Stands in advice for the source file, which only the command line knows by its path."""

_COMMAND = re.compile(r"(?<=: )sitegraph [a-z]+(?: (?!or\b|and\b)[^\s,;:()]+(?::[^\s,;:()]+)*)*")
"""Advice stands behind a colon: `go back with: sitegraph rollback --to 3`; it ends with the clause."""


def complete_for_call(message: str, arguments: Sequence[str]) -> str:
    """Complete commands for a call of the command line with these arguments."""
    return complete_commands(message, index=_option(arguments, "--index"), source=_source_file(arguments))


def complete_commands(message: str, *, index: str | None, source: str | None = None) -> str:
    """Return the message with the index and the source file of this call in every command that it advises.

    Args: index: as the call named it, None where it did not: what the environment says needs no repeating.
    """

    def complete(match: re.Match[str]) -> str:
        command = match[0].rstrip(".")
        if source is not None:
            command = command.replace(SOURCE, shlex.quote(source))
        if index is not None and "--index" not in command:
            command += f" --index {shlex.quote(index)}"
        return command + match[0][len(match[0].rstrip(".")) :]

    return _COMMAND.sub(complete, message)


def _option(arguments: Sequence[str], name: str) -> str | None:
    for place, argument in enumerate(arguments):
        if argument.startswith(f"{name}="):
            return argument.removeprefix(f"{name}=")
        if argument == name and place + 1 < len(arguments):
            return arguments[place + 1]
    return None


def _source_file(arguments: Sequence[str]) -> str | None:
    return next((one for one in arguments[1:] if one.endswith((".yaml", ".yml"))), None)
