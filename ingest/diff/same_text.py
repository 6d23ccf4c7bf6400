"""Pages that changed to one text together: whatever it says, a site does not rewrite many pages alike."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from zlib import crc32

ALIKE = 0.8
"""Part of the words of two texts that are in both, from which on they are one: addresses and dates vary."""

_SKETCHED = 64
_GROUPS = 50
"""Texts that are counted side by side: one of which that many pages come is found in any order."""

Sketch = frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A page that readers see and that has another text now: sketches of both texts."""

    uri: str
    before: Sketch
    now: Sketch


@dataclass(slots=True)
class _Group:
    first: Rewrite
    uris: list[str] = field(default_factory=list)


def sketch(words: Collection[str]) -> Sketch:
    """The least hashes of a text's words, which are as alike as the texts are.

    Source: A. Z. Broder, On the resemblance and containment of documents, 1997 (bottom-k sketches).
    """
    return frozenset(sorted({crc32(word.encode("utf-8", "replace")) for word in words})[:_SKETCHED])


def resemblance(one: Sketch, other: Sketch) -> float:
    """Estimate which part of all words of two texts is in both, from 0 to 1; two empty texts are one."""
    least = sorted(one | other)[:_SKETCHED]
    return sum(word in one and word in other for word in least) / len(least) if least else 1.0


def same_text_limit(same_text: int, *, live: int) -> int:
    """Pages from which on a change to one text is held: *same_text*, or half of a smaller source."""
    return min(same_text, max(2, ceil(live / 2)))


def find_same_text(rewrites: Sequence[Rewrite], *, at_least: int) -> Mapping[str, str]:
    """Return the pages that now have one text and had different ones, each with another page that has it too.

    Pages that were alike before may change alike: only those count that are more alike than they were.
    """
    groups: list[_Group] = []
    for rewrite in sorted(rewrites, key=lambda rewrite: rewrite.uri):
        _put(groups, rewrite)
    found = [sorted(group.uris) for group in groups if len(group.uris) >= at_least]
    return {uri: uris[1] if uri == uris[0] else uris[0] for uris in found for uri in uris}


def _put(groups: list[_Group], rewrite: Rewrite) -> None:
    alike = ((one, resemblance(one.first.now, rewrite.now)) for one in groups)
    group, now = next(((one, now) for one, now in alike if now >= ALIKE), (None, 0.0))
    if group is None:
        if len(groups) >= _GROUPS:
            groups.remove(min(groups, key=lambda one: len(one.uris)))
        groups.append(_Group(rewrite, [rewrite.uri]))
    elif resemblance(group.first.before, rewrite.before) < now:
        group.uris.append(rewrite.uri)
