"""Of which version of its manual each passage is, and which others say the same."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from indexes.families.manuals import Manual, manual_of
from indexes.families.order import Preference, preference
from indexes.ports import ChunkReader
from retrieval.ranking.score import Scored
from schemas.evidence import Evidence, EvidenceVersion
from schemas.ids import normalise_text


def prefer_newest(candidates: Sequence[Scored], manuals: Sequence[Manual]) -> tuple[Scored, ...]:
    """Let of passages that say the same in several versions of a manual the preferred one stand for all.

    It takes the place of the best of them; passages that say the same within one version stay as they are.
    """
    if not manuals:
        return tuple(candidates)
    alike: dict[tuple[str, str], list[Scored]] = {}
    for one in candidates:
        if manual := manual_of(one.chunk.doc, manuals):
            alike.setdefault((manual.name, normalise_text(one.chunk.text)), []).append(one)
    instead: dict[str, Scored | None] = {}
    for several in alike.values():
        newest = max(several, key=_preference_of)
        if len({one.chunk.version for one in several}) > 1:
            instead |= {one.chunk.id: (newest if one is several[0] else None) for one in several}
    kept = (instead.get(one.chunk.id, one) for one in candidates)
    return tuple(_in_place_of(best, one) for best, one in zip(candidates, kept, strict=True) if one)


def _preference_of(one: Scored) -> Preference:
    return preference(one.chunk.version or "")


def _in_place_of(best: Scored, one: Scored) -> Scored:
    return one if one is best else replace(best, chunk=one.chunk)


def note_versions(
    evidence: tuple[Evidence, ...], manuals: Sequence[Manual], chunks: ChunkReader
) -> tuple[Evidence, ...]:
    """Say of each passage of a manual with versions of which it is, where else it stands, where it does not.

    Raises: StoreUnavailable: the store is gone.
    """
    of_doc = {one.doc: manual for one in evidence if (manual := manual_of(one.doc, manuals))}
    if not of_doc:
        return evidence
    said = _texts_beside(chunks, of_doc)
    noted = [one.chunk_id for one in evidence if one.doc in of_doc]
    own = {chunk.id: normalise_text(chunk.text) for chunk in chunks.get(noted)}
    return tuple(
        replace(one, versions=_note(of_doc[one.doc], one.doc, own.get(one.chunk_id), said))
        if one.doc in of_doc
        else one
        for one in evidence
    )


def _texts_beside(chunks: ChunkReader, manuals: Mapping[str, Manual]) -> Mapping[str, Collection[str]]:
    """What the other versions of some documents say, by document."""
    beside = {other.doc for doc, manual in manuals.items() for other in manual.others(doc)}
    said: dict[str, set[str]] = {}
    for chunk in chunks.of_documents(beside):
        said.setdefault(chunk.doc, set()).add(normalise_text(chunk.text))
    return said


def _note(manual: Manual, doc: str, text: str | None, said: Mapping[str, Collection[str]]) -> EvidenceVersion:
    own = manual.of(doc).version
    others = manual.others(doc)
    newer = manual.versions[: manual.versions.index(own)]
    there = {one.version for one in others}
    return EvidenceVersion(
        family=manual.name,
        version=own,
        also_in=tuple(_once(one.version for one in others if text in said.get(one.doc, ()))),
        not_in=tuple(version for version in newer if version not in there),
    )


def _once(versions: Iterator[str]) -> Iterator[str]:
    yield from dict.fromkeys(versions)
