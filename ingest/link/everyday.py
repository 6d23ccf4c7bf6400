"""Which texts can be names at all: by their form, before anything is known of other documents."""

import re

from schemas.names import WORD

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
    return is_code(text) or any(map(_tells, words_of(text)))


def is_code(text: str) -> bool:
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
    return sum(word.casefold() not in _SMALL for word in words_of(text)) > 1


def words_of(text: str) -> tuple[str, ...]:
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
