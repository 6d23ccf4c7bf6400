"""Since when a passage says each of its sentences, and its versions over the generations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from indexes.wiring import Readers
from retrieval.answering.answered import split_quotable
from retrieval.bundle.build import locate_in_pdf
from retrieval.bundle.render import cite_line
from schemas.changes import FeedChange, FeedEntry
from schemas.documents import Ancestor
from schemas.nodes import Chunk
from schemas.records import Record, to_record
from sitegraph.actions.archive import LedgerArchive, Past
from sitegraph.actions.word_difference import Piece, compare

STEPS_MAX = 20

EntriesOf = Callable[[str], Sequence[FeedEntry]]
"""An id to what generations did to it, in order."""


def became(id_: str, entries_of: EntriesOf) -> tuple[FeedEntry, ...]:
    """Return the changes that led from *id_*, which is no more, to what stands in its place now.

    The last entry's `new_id` is None where nothing does. An id that came back and went again is followed from
    where it went last.
    """
    steps: list[FeedEntry] = []
    at: str | None = id_
    while at is not None and len(steps) < STEPS_MAX:
        since = steps[-1].generation if steps else 0
        left = [one for one in departures(at, entries_of(at)) if one.generation > since]
        if not left:
            break
        steps.append(left[-1])
        at = left[-1].new_id
    return tuple(steps)


def was(id_: str, entries_of: EntriesOf) -> tuple[FeedEntry, ...]:
    """Return the changes that led to *id_*, newest first; the last one's `old_id` is None if it was new."""
    steps: list[FeedEntry] = []
    at: str | None = id_
    while at is not None and len(steps) < STEPS_MAX:
        came = [
            one
            for one in entries_of(at)
            if one.new_id == at != one.old_id and (not steps or one.generation < steps[-1].generation)
        ]
        if not came:
            break
        steps.append(came[-1])
        at = came[-1].old_id
    return tuple(steps)


def departures(id_: str, entries: Sequence[FeedEntry]) -> tuple[FeedEntry, ...]:
    """Return those of *entries* that took *id_* out, in order."""
    return tuple(one for one in entries if one.old_id == id_ != one.new_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageVersion:
    """A text that stood in the place of a passage; `generation` is the one that it came with.

    None: it is older than the change feed. `text` is None where it is kept no longer; `change` and `reason`
    are those of its coming, `pieces` what it has in common with the one before it, if both are kept.
    """

    id: str
    generation: int | None
    as_of: str | None
    change: FeedChange | None
    reason: str
    text: str | None
    pieces: tuple[Piece, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedSentence:
    """A sentence of a passage, and the generation that it came with.

    `or_before`: what stood there earlier is not known, so it may be older; without a generation it is older
    than anything that is known.
    """

    text: str
    generation: int | None
    as_of: str | None
    or_before: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """A passage sentence by sentence, and its versions, newest first."""

    chunk: Chunk
    sentences: tuple[DatedSentence, ...]
    versions: tuple[PassageVersion, ...]


def blame_chunk(readers: Readers, archive: LedgerArchive, chunk: Chunk) -> Blame | None:
    """Return since when a passage of the generation that is read says what it says.

    None: the ledger, which knows, cannot be read.
    """
    versions = archive.past(readers, lambda past: _versions(past, chunk))
    if versions is None:
        return None
    return Blame(chunk=chunk, sentences=date_sentences(versions), versions=versions)


def last_departure(readers: Readers, archive: LedgerArchive, id_: str) -> FeedEntry | None:
    """Return the change since which a passage that is no more is what its `new_id` says, or gone.

    None: nothing is known of it, or the ledger cannot be read.
    """
    steps = archive.past(readers, lambda past: became(id_, past.entries_of))
    return steps[-1] if steps else None


def history_record(found: Blame) -> Record:
    """Return what is known of a passage as plain data."""
    return {
        "chunk": found.chunk.id,
        "citation": cite_line(found.chunk, locate_in_pdf(found.chunk)),
        "heading_path": list(found.chunk.heading_path),
        "changed_at": found.chunk.changed_at,
        "sentences": [to_record(one) for one in found.sentences],
        "versions": [to_record(one) for one in found.versions],
    }


def _versions(past: Past, chunk: Chunk) -> tuple[PassageVersion, ...]:
    steps = was(chunk.id, past.entries_of)
    earlier = {step.old_id for step in steps if step.old_id is not None}
    texts = {**past.ledger.lineage.former_texts(earlier), chunk.id: chunk.text}
    return versions_of(chunk.id, steps, texts=texts, line=past.line)


def versions_of(
    id_: str, steps: Sequence[FeedEntry], *, texts: Mapping[str, str], line: Sequence[Ancestor]
) -> tuple[PassageVersion, ...]:
    """Return the versions of a passage, newest first; *steps* are those that led to it, as `was` gives them.

    The last one is older than the feed if nothing says how it came.
    """
    as_of = {one.generation: one.as_of for one in line}
    ids = [id_, *(step.old_id for step in steps if step.old_id is not None)]
    found = []
    for place, version in enumerate(ids):
        step = steps[place] if place < len(steps) else None
        text, before = texts.get(version), texts.get(ids[place + 1]) if place + 1 < len(ids) else None
        found.append(
            PassageVersion(
                id=version,
                generation=step.generation if step else None,
                as_of=as_of.get(step.generation) if step else None,
                change=step.change if step else None,
                reason=step.reason if step else "",
                text=text,
                pieces=compare(before, text) if text is not None and before is not None else None,
            )
        )
    return tuple(found)


def date_sentences(versions: Sequence[PassageVersion]) -> tuple[DatedSentence, ...]:
    """Return each sentence of the newest version with the oldest that has had it ever since.

    Sentences are equal if their words are; a sentence that went and came back is as old as its coming back.
    """
    said = [None if one.text is None else frozenset(split_quotable(one.text)) for one in versions]
    newest = versions[0].text or ""
    return tuple(_dated(sentence, versions, said) for sentence in split_quotable(newest))


def _dated(
    sentence: str, versions: Sequence[PassageVersion], said: Sequence[frozenset[str] | None]
) -> DatedSentence:
    place = 0
    while place + 1 < len(versions) and sentence in (said[place + 1] or ()):
        place += 1
    origin, is_last = versions[place], place + 1 == len(versions)
    unknown = origin.generation is None if is_last else said[place + 1] is None
    return DatedSentence(text=sentence, generation=origin.generation, as_of=origin.as_of, or_before=unknown)
