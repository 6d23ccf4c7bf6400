"""Who may see a document: groups, and the sets of groups that readers have.

docs/how-to/who-sees-what.md has the rules.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from schemas.errors import ConfigError
from schemas.uses import Use, parse_uses

PUBLIC = "public"
"""The group that every reader has."""

EVERYTHING = "*"
"""What a reader has who sees the whole index, and what no list of groups of a document grants to others."""

_GROUP = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_NAME_MAX = 200

Groups = frozenset[str]

_ALLOW, _REFUSED = "allow=", "refused="
"""Before a use: what narrows a reader to documents that do not refuse it; what one that does asks."""


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


def refusal_of(use: Use) -> Groups:
    """What a document that refuses a use asks of a reader: not to be one that `allow=` narrows to the use."""
    return frozenset({f"{_REFUSED}{use}"})


def is_refusal(groups: Groups) -> bool:
    """Whether a list is one of `refusal_of`, which grants nothing."""
    return any(name.startswith(_REFUSED) for name in groups)


def refused_to(reader: Groups) -> Groups:
    """Return what is kept from a reader who is narrowed to uses, as documents that refuse them ask it."""
    return frozenset(f"{_REFUSED}{name.removeprefix(_ALLOW)}" for name in _narrowing(reader))


def _narrowing(names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(_ALLOW)})


def allowing(uses: str | Collection[str], *, subject: str) -> Groups:
    """What narrows a reader to documents that refuse none of *uses*. Raises: ConfigError: no such use."""
    return frozenset(f"{_ALLOW}{use}" for use in parse_uses(uses, subject=subject))


def narrow_groups(groups: str | None, uses: str | Collection[str] | None, *, subject: str) -> str | None:
    """Return groups as a text, narrowed to documents that refuse none of *uses*; without groups all of them.

    Groups that are empty stay so, for whoever reads them to refuse.
    Raises: ConfigError: there is no such use.
    """
    if uses is None or (groups is not None and not groups.strip(" ,+")):
        return groups
    return ",".join([groups or EVERYTHING, *sorted(allowing(uses, subject=subject))])


def is_open(groups: Groups) -> bool:
    """Whether these readers see every document, but for uses that are refused."""
    return EVERYTHING in groups


def is_group(name: str) -> bool:
    """Whether *name* can be a group: lower case letters, digits and `._-`, 40 at most."""
    return _GROUP.fullmatch(name) is not None


def parse_groups(text: str, *, subject: str) -> Groups:
    """Read the groups of a reader: with commas between, or as an audience is named; `*` is the whole index.

    `allow=USE` alone is the whole index without the documents that refuse the use.
    Raises: ConfigError: there is none, one is not a group, or `*` has company.
    """
    names = [name for part in re.split(r"[,+]", text) if (name := part.strip())]
    if names and len(_narrowing(names)) == len({*names}):
        names.append(EVERYTHING)
    if not names:
        raise ConfigError(f"names no group; {PUBLIC} is what everybody sees", subject=subject)
    return as_groups(names, subject=subject)


def as_groups(names: Iterable[str], *, subject: str) -> Groups:
    """Return groups of a reader without `public`, which all have; those that narrow them stay.

    Raises: ConfigError: one is not a group, or `*` has company; no such use narrows them.
    """
    every = frozenset(names)
    uses = [name.removeprefix(_ALLOW) for name in _narrowing(every)]
    marks = allowing(uses, subject=subject) if uses else frozenset()
    found = every - marks
    if found == {EVERYTHING}:
        return found | marks
    if wrong := sorted(name for name in found if not is_group(name)):
        raise ConfigError(
            f"{wrong[0]!r} is not a group; write lower case letters, digits, '.', '_' and '-', 40 at most, "
            f"or {EVERYTHING} alone for the whole index",
            subject=subject,
        )
    groups = (found - {PUBLIC}) | marks
    if len(audience_name(groups)) > _NAME_MAX:
        raise ConfigError(
            f"{len(groups)} groups make a name longer than {_NAME_MAX} characters", subject=subject
        )
    return groups


def audience_name(groups: Collection[str]) -> str:
    """Name the audience of readers who have these groups, and no others: `public`, `staff`, `hr+staff`.

    What narrows them stands last: `staff+allow=ai-input`; of the whole index alone: `allow=ai-input`.
    """
    marks = _narrowing(groups)
    names = sorted({*groups} - {*marks})
    if marks and names == [EVERYTHING]:
        return "+".join(marks)
    return "+".join([*(names or [PUBLIC]), *marks])


def groups_of_audience(name: str) -> Groups:
    """Return the groups of an audience by its name."""
    found = frozenset(name.split("+"))
    whole = {EVERYTHING} if len(_narrowing(found)) == len(found) else set()
    return (found | whole) - {PUBLIC}
