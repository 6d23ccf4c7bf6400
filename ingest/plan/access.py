"""Who may see a document: what its source file and its front matter ask of a reader."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ingest.plan.scope import scope_subject
from schemas.access import EVERYTHING, PUBLIC, Groups
from schemas.source import Source


def groups_of(source: Source, uri: str) -> Groups:
    """Return the groups, any of which the source file asks for; those of the last glob that matches."""
    subject = scope_subject(uri)
    matching = [one.groups for one in source.access.paths if fnmatchcase(subject, one.path)]
    return frozenset(matching[-1] if matching else source.access.groups)


def may_see(reader: Groups, *asked: Iterable[str]) -> bool:
    """Whether a reader has one of the groups of each list; an empty list asks for none.

    Front matter is a list of its own, beside that of the source file: it can narrow who sees a document, and
    never let others see it.
    """
    if EVERYTHING in reader:
        return True
    has = reader | {PUBLIC}
    return all(not groups or not has.isdisjoint(groups) for groups in map(frozenset, asked))
