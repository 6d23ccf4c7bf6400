"""Indexes made from another one, and the files that mark them: copies, and indexes of audiences."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from indexes.layout import COPY, IndexLayout
from indexes.places import is_in_bucket, write_durably
from indexes.publish.current import read_current
from schemas.access import EVERYTHING, Groups, audience_name, groups_of_audience, is_open, parse_groups
from schemas.errors import ConfigError, DamageFound
from schemas.records import from_record, to_record
from schemas.settings import Settings

FOLDER = "audiences"
AUDIENCE_FILE = "AUDIENCE.json"
Marker = TypeVar("Marker")


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceMarker:
    """What the audience was made from: the generation of the whole index, 0 before the first time.

    `whole` is the id of that index, `groups` those of its readers. `purge`: its readers may see some of it no
    more, so that this goes, and earlier generations with it. `unsettled`: its rows may say more, or other,
    than its generation, after a crash or a rollback. `steps` are the last generations of the whole index that
    it was made from, each with its own.
    """

    whole: str
    groups: tuple[str, ...]
    made_from: int = 0
    purge: bool = False
    unsettled: bool = False
    steps: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """An audience that is declared: its name, the groups of its readers, and the folder of its index."""

    name: str
    groups: Groups
    folder: Path
    made_from: int

    @property
    def is_built(self) -> bool:
        """Whether it was brought up to date once."""
        return self.made_from > 0 and IndexLayout(self.folder).manifest.exists()


def audiences_of(root: Path) -> tuple[Audience, ...]:
    """Return the audiences of an index, ordered by name; none where nothing says who may see what.

    Raises: DamageFound: a marker cannot be read.
    """
    if is_in_bucket(root) or not (root / FOLDER).is_dir():
        return ()
    folders = sorted(path.parent for path in (root / FOLDER).glob(f"*/{AUDIENCE_FILE}"))
    return tuple(_audience(folder) for folder in folders)


def has_audiences(root: Path) -> bool:
    """Whether the index has any of groups, or one begun: who reads it over a network sees what is for them.

    One of the whole index that only a use narrows closes nothing.
    """
    folder = root / FOLDER
    names = os.listdir(folder) if not is_in_bucket(root) and folder.is_dir() else []
    return any(not is_open(groups_of_audience(name)) for name in names)


def whole_of(folder: Path) -> Path:
    """Return the index that an open audience is of, whose other audiences may close it; else the folder."""
    root, groups = seen_in(folder)
    return root if is_open(groups) else folder


def seen_in(folder: Path) -> tuple[Path, Groups]:
    """Return the index that the index in a folder is of, itself or its audience, and who reads it."""
    if folder.parent.name == FOLDER and (folder / AUDIENCE_FILE).exists():
        return folder.parent.parent, groups_of_audience(folder.name)
    return folder, frozenset({EVERYTHING})


def find_audience(root: Path, groups: Groups, *, subject: str) -> Audience:
    """Return the audience of readers with just these groups.

    Raises: ConfigError: it is not declared, or was never built; the message says how to.
    """
    known = audiences_of(root)
    name = audience_name(groups)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        have = ", ".join(one.name for one in known) or "none"
        raise ConfigError(
            f"no audience {name}; this index has: {have}; build it with: sitegraph audiences --add {name} "
            f"--index {root}",
            subject=subject,
        )
    if not found.is_built:
        raise ConfigError(
            f"the audience {name} was never built; build it with: sitegraph audiences --sync --index {root}",
            subject=subject,
        )
    return found


def settings_of_audience(settings: Settings, audience: Audience) -> Settings:
    """Return settings under which the index of an audience is opened: its own ledger and bytes."""
    return replace(settings, index=str(audience.folder), ledger_url=None, raw_url=None, groups=None)


def for_readers(settings: Settings, *, subject: str = "--groups") -> Settings:
    """Return settings that open what readers of `settings.groups` see; without groups, the whole index.

    Raises: ConfigError: a group is none, or there is no such audience.
    """
    if settings.groups is None:
        return settings
    groups = parse_groups(settings.groups, subject=subject)
    if groups == {EVERYTHING}:
        return replace(settings, groups=None)
    if "://" in settings.index:
        raise ConfigError(
            "a remote index has no audiences here; ask its server, with a token of these groups",
            subject=subject,
        )
    found = find_audience(Path(settings.index).resolve(), groups, subject=subject)
    if is_open(groups) and read_current(found.folder) == 0:
        raise ConfigError(
            f"nothing to read: {found.name} has no document, since all refuse that use", subject=subject
        )
    return settings_of_audience(settings, found)


def read_audience_marker(folder: Path) -> AudienceMarker | None:
    """Return what a folder says of itself as an audience; None for any other folder.

    Raises: DamageFound: it cannot be read.
    """
    remedy = "remove the folder and build the audience again with: sitegraph audiences --add"
    return _read(AudienceMarker, folder / AUDIENCE_FILE, remedy)


def write_audience_marker(folder: Path, marker: AudienceMarker) -> None:
    """Declare a folder as that of an audience, durably."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / AUDIENCE_FILE, marker)


def refuse_audience(root: Path) -> None:
    """Raise ConfigError where a folder is an audience's: only runs of the whole index change it."""
    if not is_in_bucket(root) and read_audience_marker(root) is not None:
        raise ConfigError(
            f"is an audience of {root.resolve().parent.parent} and read-only; run the command there",
            subject=str(root),
        )


def _audience(folder: Path) -> Audience:
    marker = read_audience_marker(folder)
    assert marker is not None
    groups = groups_of_audience(folder.name)
    if groups != frozenset(marker.groups):
        raise DamageFound(
            f"says it is of {audience_name(marker.groups)}; remove the folder, and build the audience again",
            subject=str(folder / AUDIENCE_FILE),
        )
    return Audience(name=folder.name, groups=groups, folder=folder, made_from=marker.made_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyMarker:
    """Where a copy comes from; `replaced` are generations it held before, and when they were replaced.

    Times are seconds since 1970. `raw`: bytes of PDFs are copied, too.
    """

    url: str
    raw: bool = True
    replaced: Mapping[str, float] = field(default_factory=dict)


def read_marker(root: Path) -> CopyMarker | None:
    """Return the marker of a copy, None for any other folder.

    Raises: DamageFound: it cannot be read.
    """
    return _read(CopyMarker, root / COPY, "delete it and pull again")


def write_marker(root: Path, marker: CopyMarker) -> None:
    """Write the marker of a copy, durably."""
    _write(root / COPY, marker)


def refuse_copy(root: Path) -> None:
    """Raise ConfigError where a folder is a copy: what is written there, the next pull would undo."""
    if (marker := read_marker(root)) is not None:
        raise ConfigError(
            f"is a copy of {marker.url} and only read; run it where it is made, or into another --index",
            subject=str(root),
        )


def _read(of: type[Marker], file: Path, remedy: str) -> Marker | None:
    try:
        return from_record(of, json.loads(file.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamageFound(f"cannot be read; {remedy}", subject=str(file)) from error


def _write(file: Path, marker: AudienceMarker | CopyMarker) -> None:
    write_durably(file, json.dumps(to_record(marker), indent=2, sort_keys=True) + "\n")
