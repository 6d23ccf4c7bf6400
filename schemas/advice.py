"""What to do about a trouble: decided by its kind, worded for where it is read and what was typed."""

import re
import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

SOURCE = "SOURCE.yaml"
"""Stands in advice for the source file, which only the reader's door knows by its path."""


class Trouble(StrEnum):
    """What went wrong, as far as it decides what to do."""

    ROBOTS = "robots.txt disallows it"
    PRIVATE = "an address that is not public"
    LOGIN = "the site wants a login"
    NOT_FOUND = "the site has no such page"
    SITE_FAILS = "the site fails"
    NO_NAME = "no such host name"
    NO_CONNECTION = "nobody answers"
    CERTIFICATE = "a certificate that does not verify"
    NO_DOCUMENT = "no document"
    NO_CONTENT = "no content, as a login or error page"
    LEADS_AWAY = "a redirect out of the source"
    UNTOLD = "anything else that a site can do"
    ONE_SEED = "a seed that cannot be read, while others can"
    FAILING = "too many documents failed"
    MISSING = "documents that answered 404"
    REMOVAL = "too much would go"
    LOSS = "too much would lose its text, or is put aside"
    MODEL = "another model"
    HELD = "a rollback holds publishing"
    CHECKS = "questions lost their evidence"
    DAMAGE = "a damaged index"
    PAST_REPAIR = "an index that nothing repeats"
    DAMAGED_BEFORE = "an earlier generation is damaged"


_TO_REVIEW = "to review: sitegraph plan SOURCE.yaml; "
_TO_GO_AHEAD = "to go ahead: sitegraph run SOURCE.yaml --accept"
ADVICE: Mapping[Trouble, str] = {
    Trouble.ROBOTS: "its owner asks not to be crawled",
    Trouble.PRIVATE: "if it is your own, name it under `allow_private` in the source file",
    Trouble.LOGIN: "a login stands in a source file, under `auth` or `login`",
    Trouble.NOT_FOUND: "check the address",
    Trouble.SITE_FAILS: "try again later",
    Trouble.NO_NAME: "check how the host is spelt, and the network",
    Trouble.NO_CONNECTION: "check host and port, the network, and whether a proxy is needed",
    Trouble.CERTIFICATE: "have this machine trust who signed it (update-ca-certificates)",
    Trouble.NO_DOCUMENT: "give the address of a page or a document",
    Trouble.NO_CONTENT: "if it is content, name it under `quarantine.exempt` in the source file",
    Trouble.LEADS_AWAY: "if that is where it is now, give that address",
    Trouble.UNTOLD: "look at it with: sitegraph inspect URL",
    Trouble.ONE_SEED: "to go on without it: sitegraph run SOURCE.yaml --accept",
    Trouble.FAILING: "or raise `max_failures` in the source file",
    Trouble.MISSING: "if the pages that answer 404 are gone for good, go ahead with: "
    "sitegraph run SOURCE.yaml --accept",
    Trouble.REMOVAL: f"{_TO_REVIEW}{_TO_GO_AHEAD}",
    Trouble.LOSS: _TO_GO_AHEAD,
    Trouble.MODEL: f"{_TO_REVIEW}{_TO_GO_AHEAD}, "
    "or set SITEGRAPH_MODEL, SITEGRAPH_DTYPE and SITEGRAPH_LATE_INTERACTION back",
    Trouble.HELD: "lift it with: sitegraph rollback --lift",
    Trouble.CHECKS: "see all with: sitegraph check --held, publish anyway with: "
    "sitegraph run SOURCE.yaml --accept",
    Trouble.DAMAGE: "repair it with: sitegraph repair",
    Trouble.PAST_REPAIR: "restore what is lost from a backup, or build another index with: "
    "sitegraph run SOURCE.yaml --index ANOTHER",
    Trouble.DAMAGED_BEFORE: "choose another generation with: sitegraph rollback --to N, "
    "or repair the current one with: sitegraph repair",
}

_BY_REASON = (
    (r"robots\.txt disallows", Trouble.ROBOTS),
    (r"allow_private", Trouble.PRIVATE),
    (r"HTTP (?:401|403|407)", Trouble.LOGIN),
    (r"HTTP (?:404|410)", Trouble.NOT_FOUND),
    (r"HTTP (?:429|5\d\d)", Trouble.SITE_FAILS),
    (r"does not resolve|did not resolve", Trouble.NO_NAME),
    (r"no connection|did not answer|no answer|was reset", Trouble.NO_CONNECTION),
    (r"certificate", Trouble.CERTIFICATE),
    (r"unsupported type|not HTTP", Trouble.NO_DOCUMENT),
)
"""By the words of the reason, which is all that the ledger keeps of what a fetch met."""


def trouble_of(reason: str) -> Trouble:
    """Name the trouble with a document by the reason that its fetch gave."""
    return next((trouble for words, trouble in _BY_REASON if re.search(words, reason)), Trouble.UNTOLD)


class DoorKind(StrEnum):
    """By which way somebody came, and so what they can do."""

    COMMAND_LINE = "command line"
    WORKER = "worker"
    PYTHON = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where advice is read, and what was typed there: None where the environment or nobody said it.

    `deployment` is what a worker runs, as `FLOW/NAME`; `parameters` are those of the run that are not the
    deployment's own, by name.
    """

    kind: DoorKind
    index: str | None = None
    source: str | None = None
    deployment: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


COMMAND_LINE: ContextVar[Door | None] = ContextVar("command_line", default=None)
"""The command line that this process answers, if it answers one."""

_COMMAND = re.compile(r"(?<=: )sitegraph [a-z]+(?: (?!or\b|and\b)[^\s,;:()]+(?::[^\s,;:()]+)*)*")
"""Advice stands behind a colon: `go back with: sitegraph rollback --to 3`; it ends with the clause."""


def advise(message: str, door: Door) -> str:
    """Return the message with every command in it as somebody at this door can use it, as it stands.

    A run of the source is another run of the deployment, or another call of the function; all else is a
    command, with what was typed. Only a run takes what is no source file: nothing else is advised with it.
    """

    def complete(match: re.Match[str]) -> str:
        command = match[0].rstrip(".")
        return _worded(command, door) + match[0][len(command) :]

    return _COMMAND.sub(complete, message if _has_file(door) else message.replace(_TO_REVIEW, ""))


def _has_file(door: Door) -> bool:
    return door.source is None or door.source.lower().endswith((".yaml", ".yml"))


def _worded(command: str, door: Door) -> str:
    words = command.split()
    if words[1] == "run" and SOURCE in words:
        if door.deployment is not None:
            return _as_deployment(words[3:], door.deployment, door.parameters)
        if door.kind is DoorKind.PYTHON:
            return _as_call(words[3:], door)
    if door.source is not None and (words[1] == "run" or _has_file(door)):
        command = command.replace(SOURCE, shlex.quote(door.source))
    if door.index is not None and "--index" not in command:
        command += f" --index {shlex.quote(door.index)}"
    return command


def _as_deployment(options: list[str], name: str, parameters: Mapping[str, str]) -> str:
    given = {**parameters, **{key: value or "true" for key, value in _values(options).items()}}
    told = (f"-p {shlex.quote(f'{key}={value}')}" for key, value in given.items())
    return " ".join(["prefect deployment run", shlex.quote(name), *told])


def _as_call(options: list[str], door: Door) -> str:
    given = {"index": repr(door.index)} if door.index is not None else {}
    given |= {key: repr(value) if value else "True" for key, value in _values(options).items()}
    arguments = [repr(door.source or SOURCE), *(f"{key}={value}" for key, value in given.items())]
    return f"sitegraph.index_source({', '.join(arguments)})"


def _values(options: list[str]) -> dict[str, str | None]:
    """Options of a command by name; None of one that takes no value."""
    after = [*options[1:], "--"]
    pairs = zip(options, after, strict=True)
    return {
        one.removeprefix("--"): None if following.startswith("--") else following
        for one, following in pairs
        if one.startswith("--")
    }
