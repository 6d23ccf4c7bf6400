"""Manuals with several versions: which comes first, and their documents, each with its other versions."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from packaging.version import Version

from indexes.ports import ChunkReader
from schemas.families import AHEAD, SETTLED, Edition, SourceFamily, joining_key

_LEADING = re.compile(r"^(?:version|ver|release|rel|v)[-_.]?(?=\d)", re.IGNORECASE)
_OPEN = re.compile(r"(?<=\.)x$", re.IGNORECASE)
_BEYOND = "999999999"

Preference = tuple[int, Version, str, str]
"""The higher is preferred: settled names, then releases by number, then what is to come, then any name.
The version as it is written ends all ties."""

_NONE = Version("0")


def preference(version: str) -> Preference:
    """Place a version among others of its manual.

    `stable`, `latest` and `current` come before all releases, in this order; then releases, the newest first
    (PEP 440: `15.20`, `v2`, `1.x` after all of 1); then what is not released, by number (`16rc1`) and by name
    (`devel`, `main`); names that say nothing come last, by the alphabet from its end.
    """
    name = version.strip().lower()
    if name in SETTLED:
        return 4, _NONE, chr(len(SETTLED) - SETTLED.index(name)), version
    if name in AHEAD:
        return 1, _NONE, name, version
    try:
        number = Version(_OPEN.sub(_BEYOND, _LEADING.sub("", name)))
    except ValueError:  # none, or of more digits than Python reads
        return 0, _NONE, name, version
    return (2 if number.is_prerelease else 3), number, name, version


def newest_first(versions: set[str]) -> tuple[str, ...]:
    """Order versions, the preferred one first."""
    return tuple(sorted(versions, key=preference, reverse=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Manual:
    """One manual in all its versions, the preferred one first; equal to itself alone.

    `keys` has what joins each document with its other versions; `editions` has by that, in the order of
    the versions, the documents that are joined.
    """

    name: str
    versions: tuple[str, ...]
    sources: tuple[str, ...]
    keys: Mapping[str, str]
    editions: Mapping[str, tuple[Edition, ...]]

    def others(self, doc: str) -> tuple[Edition, ...]:
        """The other documents that *doc* is joined with; none for one of another manual."""
        return tuple(one for one in self.editions.get(self.keys.get(doc, ""), ()) if one.doc != doc)

    def of(self, doc: str) -> Edition:
        """The edition that a document of the manual is."""
        return next(one for one in self.editions[self.keys[doc]] if one.doc == doc)

    def newest(self, among: Collection[str] | None = None) -> Iterator[Edition]:
        """Every document that none of a preferred version is joined with, of those in *among* alone."""
        for joined in self.editions.values():
            left = [one for one in joined if among is None or one.doc in among]
            yield from (one for one in left if one.version == left[0].version)

    def all_editions(self) -> Iterator[Edition]:
        """All documents, joined ones together."""
        for joined in self.editions.values():
            yield from joined


def join_editions(sources: Iterable[SourceFamily], editions: Iterable[Edition]) -> tuple[Manual, ...]:
    """Join the documents of each family, by what their addresses have in common; manuals in name order."""
    of_source = {one.source: one for one in sources}
    of_family: dict[str, list[Edition]] = {}
    for one in editions:
        of_family.setdefault(of_source[one.source].family, []).append(one)
    return tuple(_join(name, of_source, of_family[name]) for name in sorted(of_family))


def manual_of(doc: str, manuals: Iterable[Manual]) -> Manual | None:
    """Return the manual that a document is of; None for one without versions."""
    return next((one for one in manuals if doc in one.keys), None)


def _join(name: str, of_source: Mapping[str, SourceFamily], editions: Collection[Edition]) -> Manual:
    versions = newest_first({one.version for one in editions})
    place = {version: number for number, version in enumerate(versions)}
    keys = {one.doc: joining_key(of_source[one.source], one) for one in editions}
    joined: dict[str, list[Edition]] = {}
    for one in sorted(editions, key=lambda one: (keys[one.doc], place[one.version], one.doc)):
        joined.setdefault(keys[one.doc], []).append(one)
    return Manual(
        name=name,
        versions=versions,
        sources=tuple(sorted({one.source for one in editions})),
        keys=keys,
        editions={key: tuple(found) for key, found in joined.items()},
    )


class Families:
    """Which documents of a generation are versions of one another; nothing is read without a family."""

    def __init__(self, sources: tuple[SourceFamily, ...] = (), chunks: ChunkReader | None = None) -> None:
        self._sources, self._chunks = sources, chunks

    def over(self, chunks: ChunkReader) -> "Families":
        """The same families as another reader of the generation has them, such as one that sees less."""
        return Families(self._sources, chunks)

    @cached_property
    def manuals(self) -> tuple[Manual, ...]:
        """All manuals that have a document with a version, in name order.

        Raises: StoreUnavailable: the chunk store is gone.
        """
        if self._chunks is None or not self._sources:
            return ()
        return join_editions(self._sources, self._chunks.editions([one.source for one in self._sources]))


NO_FAMILIES = Families()
"""What there is where no source has versions of a manual."""
