"""What a document calls itself, its sections and its terms, and which texts can be names at all."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from schemas.fragment import GraphFragment
from schemas.ids import normalise_text
from schemas.names import WORD, Name, NameRole, find_acronyms, leading_code
from schemas.nodes import Section

MIN_LENGTH = 4
"""Code points; shorter titles stand in too many texts that do not mean them."""

MAX_LENGTH = 120
"""Code points; what is longer is a sentence."""

_EVERYDAY = frozenset(
    re.findall(
        r"\S+",
        """about abstract acknowledgements acknowledgment acknowledgments also api appendices appendix
        archive arguments asked attributes authors background basics bibliography bugs caveats changelog
        changes chapter classes code commands community compatibility conclusion config configuration
        considerations contact contents contributing contributors conventions copyright credits
        definitions dependencies description details development discussion do documentation documents
        download downloads environment errors events example examples exceptions faq features files
        footnotes foreword forum frequently functions further general getting glossary guide handbook
        help hint hints history home homepage important index information install installation
        installing internals introduction issues it known latest legal licence license limitations links
        list main manual menu methods miscellaneous modules more name navigation new news next note
        notes obsolete options other output overview page parameters part parts policy preface previous
        privacy problems properties purpose questions quick quickstart rationale reading readme
        reference references related release requirements resources results return returns roadmap
        search section security see setup sources start started status summary support synopsis syntax
        table tables terms testing tests text the this tips title todo topics troubleshooting tutorial
        tutorials types untitled updates upgrading usage use using value values variables version
        versions view warning warnings welcome where works""",
    )
)
"""Words that a title may consist of and still name nothing."""

_SMALL = frozenset(
    re.findall(
        r"\w+", "a an and as at by for from how in into is of on or our the to vs what who why with your"
    )
)
# `\w` has the underscore too: to part a name at its underscores in all ways takes time without end.
_SYMBOL = re.compile(r"[^\W\d](?=\w*[._]\w)\w*+(?:\.\w++)*+(?:\(\))?|\w++\(\)|__\w+__")
_SIGNATURE = re.compile(r"[^\W\d][\w.]*\(.*\)")
_ID = re.compile(r"[A-Z]{2,}-?\d+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_name(text: str) -> bool:
    """Whether a text may name one thing wherever it stands: not too short, everyday or in lower case.

    A name has a word that is not everyday with a capital or a digit in it, or is a code symbol.
    """
    if not MIN_LENGTH <= len(text) <= MAX_LENGTH or _CONTROL.search(text) or "://" in text:
        return False
    return is_code_name(text) or any(map(_tells, name_words(text)))


def is_code_name(text: str) -> bool:
    """Whether a text is one symbol of a program, or an id."""
    return is_symbol(text) or is_id(text)


def is_symbol(text: str) -> bool:
    """Whether a text is one symbol of a program: dotted, snake case, a call, or a signature.

    Of these a page on a program has hundreds, and who looks one up has the exact index on codes: they are no
    entities, unless a document is called so.
    """
    return any(form.fullmatch(text) for form in (_SYMBOL, _SIGNATURE))


def is_id(text: str) -> bool:
    """Whether a text is an id such as RFC-2616: capitals and a number."""
    return _ID.fullmatch(text) is not None


def is_several_words(text: str) -> bool:
    """Whether at least two words of a text are more than articles and prepositions."""
    return sum(word.casefold() not in _SMALL for word in name_words(text)) > 1


def name_words(text: str) -> tuple[str, ...]:
    """Words of a text, without punctuation."""
    return tuple(WORD.findall(text))


def _tells(word: str) -> bool:
    folded = word.casefold()
    return (
        folded not in _EVERYDAY
        and folded not in _SMALL
        and len(word) > 1
        and not word.islower()
        and not word.isdigit()
    )


MAX_HEADINGS = 50
MAX_TERMS = 50
"""Names of each kind that one document gives; a glossary of thousands would be half of the catalogue."""

_QUALIFIER = re.compile(r"\s*\(([^()]*)\)\s*\Z")
_MARKED = re.compile(r"\w[-_.]\w|\d")
_NUMBER = re.compile(r"\A(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+(?=\S)")


class _Subject(NamedTuple):
    """What a document is about: the natural key of an entity."""

    name: str
    disambiguation: str


def subject_of(fragment: GraphFragment) -> _Subject | None:
    """Return the entity that a document is about; None for one whose title says nothing and that has no id.

    Two documents of one title are about the same, unless each has an id of its own or their titles end in
    different brackets.
    """
    name, qualifier = split_qualifier(fragment.title)
    if is_name(name):
        return _Subject(name, fragment.doc_id or qualifier)
    return _Subject(fragment.doc_id, "") if fragment.doc_id and _is_id(fragment.doc_id) else None


def stated_names(fragment: GraphFragment) -> tuple[Name, ...]:
    """Return all names that a document states, in a stated order, each text in each role once.

    Depends on the fragment alone; which of them are ambiguous is for the catalogue to say.
    """
    if not fragment.chunks:  # nothing of it is shown, so nothing leads to it
        return ()
    names = [*_own_names(fragment), *_headings(fragment), *_terms(fragment)]
    return tuple(dict.fromkeys(names))


def split_qualifier(title: str) -> tuple[str, str]:
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


def _called(fragment: GraphFragment, subject: _Subject) -> Iterator[tuple[str, NameRole]]:
    if fragment.doc_id and _is_id(fragment.doc_id):
        yield fragment.doc_id, NameRole.DOC_ID
        prefix = leading_code(fragment.doc_id)
        if prefix and prefix != fragment.doc_id:
            yield prefix, NameRole.CODE_PREFIX
    if subject.name != fragment.doc_id:
        yield subject.name, NameRole.TITLE
    whole = normalise_text(fragment.title)
    if whole != subject.name and is_name(split_qualifier(whole)[0]):
        yield whole, NameRole.ALIAS
    yield from ((alias, NameRole.ALIAS) for alias in map(normalise_text, fragment.names) if is_name(alias))


def _is_id(text: str) -> bool:
    """Whether an id can be told from a plain word: by a digit, a dash or an underscore."""
    return len(text) >= MIN_LENGTH and _MARKED.search(text) is not None


def _headings(fragment: GraphFragment) -> Iterable[Name]:
    titles = {normalise_text(fragment.title), split_qualifier(fragment.title)[0]}
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
