"""What one document calls itself, its sections and its terms."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingest.link.everyday import MIN_LENGTH, is_id, is_name, is_several_words, is_symbol
from schemas.acronyms import find_acronyms
from schemas.fragment import GraphFragment
from schemas.ids import normalise_text
from schemas.names import Name, NameRole, code_prefix
from schemas.nodes import Section

MAX_HEADINGS = 50
MAX_TERMS = 50
"""Names of each kind that one document gives; a glossary of thousands would be half of the catalogue."""

_QUALIFIER = re.compile(r"\s*\(([^()]*)\)\s*\Z")
_MARKED = re.compile(r"\w[-_.]\w|\d")
_NUMBER = re.compile(r"\A(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+(?=\S)")


class Subject(NamedTuple):
    """What a document is about: the natural key of an entity."""

    name: str
    disambiguation: str


def subject_of(fragment: GraphFragment) -> Subject | None:
    """Return the entity that a document is about; None for one whose title says nothing and that has no id.

    Two documents of one title are about the same, unless each has an id of its own or their titles end in
    different brackets.
    """
    name, qualifier = split_title(fragment.title)
    if is_name(name):
        return Subject(name, fragment.doc_id or qualifier)
    return Subject(fragment.doc_id, "") if fragment.doc_id and _is_id(fragment.doc_id) else None


def names_of(fragment: GraphFragment) -> tuple[Name, ...]:
    """Return all names that a document states, in a stated order, each text in each role once.

    Depends on the fragment alone; which of them are ambiguous is for the catalogue to say.
    """
    if not fragment.chunks:  # nothing of it is shown, so nothing leads to it
        return ()
    names = [*_own_names(fragment), *_headings(fragment), *_terms(fragment)]
    return tuple(dict.fromkeys(names))


def split_title(title: str) -> tuple[str, str]:
    """Return ("Mercury", "planet") for "Mercury (planet)"; the second is empty without brackets."""
    text = normalise_text(title)
    match = _QUALIFIER.search(text)
    return (text[: match.start()], normalise_text(match[1])) if match and match.start() else (text, "")


def _own_names(fragment: GraphFragment) -> Iterator[Name]:
    subject = subject_of(fragment)
    if subject is None:
        return
    for text, role in _called(fragment, subject):
        yield Name(
            text=text,
            role=role,
            entity=subject.name,
            disambiguation=subject.disambiguation,
            node=fragment.doc,
        )


def _called(fragment: GraphFragment, subject: Subject) -> Iterator[tuple[str, NameRole]]:
    if fragment.doc_id and _is_id(fragment.doc_id):
        yield fragment.doc_id, NameRole.DOC_ID
        prefix = code_prefix(fragment.doc_id)
        if prefix and prefix != fragment.doc_id:
            yield prefix, NameRole.CODE_PREFIX
    if subject.name != fragment.doc_id:
        yield subject.name, NameRole.TITLE
    whole = normalise_text(fragment.title)
    if whole != subject.name and is_name(split_title(whole)[0]):
        yield whole, NameRole.ALIAS
    yield from ((alias, NameRole.ALIAS) for alias in map(normalise_text, fragment.names) if is_name(alias))


def _is_id(text: str) -> bool:
    """Whether an id can be told from a plain word: by a digit, a dash or an underscore."""
    return len(text) >= MIN_LENGTH and _MARKED.search(text) is not None


def _headings(fragment: GraphFragment) -> Iterable[Name]:
    titles = {normalise_text(fragment.title), split_title(fragment.title)[0]}
    sections = (node for node in fragment.nodes if isinstance(node, Section) and node.level > 0)
    texts = ((_NUMBER.sub("", normalise_text(section.heading)), section.id) for section in sections)
    names = [
        Name(text=text, role=NameRole.HEADING, entity=text, node=node)
        for text, node in texts
        if text not in titles and is_name(text) and not is_symbol(text)
        if is_several_words(text) or is_id(text)
    ]
    return names[:MAX_HEADINGS]


def _terms(fragment: GraphFragment) -> Iterable[Name]:
    found = dict.fromkeys(acronym for chunk in fragment.chunks for acronym in find_acronyms(chunk.text))
    names: list[Name] = []
    for acronym in found:
        expansion = normalise_text(acronym.expansion)
        names.append(Name(text=expansion, role=NameRole.TERM, entity=expansion))
        names.append(Name(text=acronym.short, role=NameRole.ACRONYM, entity=expansion))
    return names[:MAX_TERMS]
