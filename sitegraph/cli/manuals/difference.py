"""The difference of two versions of a manual, read from an index."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from indexes.families.manuals import Manual
from ingest.diff.alternate_forms import shingles_of
from schemas.families import Edition
from sitegraph.cli.manuals.compare import (
    ChunksOf,
    DocumentText,
    VersionDifference,
    compare_documents,
    editions_of,
    pair_renamed,
    read_texts,
)


def compare_versions(
    manual: Manual, old: str, new: str, chunks_of: ChunksOf, *, path: str | None = None
) -> VersionDifference:
    """Say which documents come, go, change their name and change what they say.

    *path*: a glob, as the shell's, on the key or the address of a document; others are not looked at.
    """
    before, after = (_of_version(manual, version, path) for version in (old, new))
    both = sorted(before.keys() & after.keys())
    pairs = [
        compare_documents(was, now)
        for was, now in zip(
            read_texts({key: before[key] for key in both}, chunks_of),
            read_texts({key: after[key] for key in both}, chunks_of),
            strict=True,
        )
    ]
    gone = _texts({key: before[key] for key in before if key not in after}, chunks_of)
    came = _texts({key: after[key] for key in after if key not in before}, chunks_of)
    renamed = pair_renamed(*({key: _shingles(text) for key, text in found.items()} for found in (gone, came)))
    named = {key for pair in renamed for key in pair}
    return VersionDifference(
        family=manual.name,
        old=old,
        new=new,
        added=tuple(text.named for key, text in came.items() if key not in named),
        removed=tuple(text.named for key, text in gone.items() if key not in named),
        renamed=tuple(compare_documents(gone[was], came[now]) for was, now in renamed),
        changed=tuple(pair for pair in pairs if pair.sections),
        unchanged=sum(not pair.sections for pair in pairs),
    )


def _of_version(manual: Manual, version: str, path: str | None) -> dict[str, Edition]:
    found = {key: editions_of(joined, version) for key, joined in manual.editions.items()}
    return {
        key: one
        for key, one in found.items()
        if one is not None and (path is None or fnmatchcase(key, path) or fnmatchcase(one.address, path))
    }


def _texts(editions: Mapping[str, Edition], chunks_of: ChunksOf) -> dict[str, DocumentText]:
    return {text.key: text for text in read_texts(editions, chunks_of)}


def _shingles(text: DocumentText) -> frozenset[int]:
    return shingles_of(chunk.text for chunk in text.chunks)
