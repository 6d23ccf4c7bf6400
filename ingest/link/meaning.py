"""Which entity a document means by a name that several have."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ingest.link.catalogue import EntityCandidate
from ingest.link.everyday import words_of

BY_LINK = 0.8
BY_WORDS = 0.7
"""How sure one of several of a name is meant: since the document links to it, since its words stand there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentContext:
    """What is known of a document whose text is read: what it links to, and its words, case folded."""

    doc: str
    linked: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


def choose_meanings(
    candidates: Sequence[EntityCandidate], reading: DocumentContext
) -> tuple[EntityCandidate, ...]:
    """Return what a name means in a document: one entity, or all whose ids begin with it, or none if unclear.

    Of several of one name it is the one that the document itself is about or explains; else the one that it
    links to; else the one whose distinguishing words it uses.
    """
    prefixed = tuple(candidate for candidate in candidates if candidate.is_prefix)
    several = [candidate for candidate in candidates if not candidate.is_prefix]
    chosen = several[0] if len(several) == 1 else _choose(several, reading)
    return (*((chosen,) if chosen else ()), *prefixed)


def _choose(several: Collection[EntityCandidate], reading: DocumentContext) -> EntityCandidate | None:
    own = [c for c in several if reading.doc in c.docs or reading.doc in c.definers]
    if own:
        return own[0] if len(own) == 1 else None
    linked = [c for c in several if reading.linked.intersection(c.docs)]
    if len(linked) == 1:
        return replace(linked[0], confidence=min(BY_LINK, linked[0].confidence))
    matching = [c for c in several if _matches(c, reading)]
    return (
        replace(matching[0], confidence=min(BY_WORDS, matching[0].confidence)) if len(matching) == 1 else None
    )


def _matches(candidate: EntityCandidate, reading: DocumentContext) -> bool:
    words = {word.casefold() for word in words_of(candidate.disambiguation) if len(word) > 2}
    return bool(words) and words <= reading.words
