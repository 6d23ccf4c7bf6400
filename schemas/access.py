"""Who may see a document: groups, and the sets of groups that readers have.

docs/how-to/who-sees-what.md has the rules.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from schemas.errors import ConfigError

PUBLIC = "public"
"""The group that every reader has."""

EVERYTHING = "*"
"""What a reader has who sees the whole index, and what no list of groups of a document grants to others."""

_GROUP = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_NAME_MAX = 200

Groups = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathAccess:
    """The groups, any of which suffices, of the documents that a glob matches."""

    path: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAccess:
    """What a source file says of who may see its documents; no groups and no paths: everybody.

    The last glob of `paths` that matches a document stands in the place of `groups`.
    """

    groups: tuple[str, ...] = ()
    paths: tuple[PathAccess, ...] = ()

    @property
    def is_stated(self) -> bool:
        """Whether the source file says anything of it."""
        return bool(self.groups or self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderToken:
    """A reader over a network: the sha256 of the bearer token, and the groups of who shows it."""

    name: str
    sha256: str
    groups: Groups


def is_group(name: str) -> bool:
    """Whether *name* can be a group: lower case letters, digits and `._-`, 40 at most."""
    return _GROUP.fullmatch(name) is not None


def parse_groups(text: str, *, subject: str) -> Groups:
    """Read the groups of a reader: with commas between, or as an audience is named; `*` is the whole index.

    Raises: ConfigError: there is none, one is not a group, or `*` has company.
    """
    names = [name for part in re.split(r"[,+]", text) if (name := part.strip())]
    if not names:
        raise ConfigError(f"names no group; {PUBLIC} is what everybody sees", subject=subject)
    return as_groups(names, subject=subject)


def as_groups(names: Iterable[str], *, subject: str) -> Groups:
    """Return groups of a reader without `public`, which all have.

    Raises: ConfigError: one is not a group, or `*` has company.
    """
    found = frozenset(names)
    if found == {EVERYTHING}:
        return found
    if wrong := sorted(name for name in found if not is_group(name)):
        raise ConfigError(
            f"{wrong[0]!r} is not a group; write lower case letters, digits, '.', '_' and '-', 40 at most, "
            f"or {EVERYTHING} alone for the whole index",
            subject=subject,
        )
    groups = found - {PUBLIC}
    if len(audience_name(groups)) > _NAME_MAX:
        raise ConfigError(
            f"{len(groups)} groups make a name longer than {_NAME_MAX} characters", subject=subject
        )
    return groups


def audience_name(groups: Collection[str]) -> str:
    """Name the audience of readers who have these groups, and no others: `public`, `staff`, `hr+staff`."""
    return "+".join(sorted(groups)) or PUBLIC


def groups_of_audience(name: str) -> Groups:
    """Return the groups of an audience by its name."""
    return frozenset(name.split("+")) - {PUBLIC}
