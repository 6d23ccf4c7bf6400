"""Manuals with several versions: their documents joined, each with its other versions."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from indexes.families.order import newest_first
from schemas.families import Edition, SourceFamily, joining_key


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
