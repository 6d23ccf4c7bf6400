"""Whole manuals on one page, and the headings there that name the manual and no part of it."""

from dataclasses import replace

from ingest.parse.html.dom import Survey, class_words
from ingest.parse.html.family import Family
from ingest.parse.outline import Heading, Part

_SPHINX_CHAPTER = "document-"
"""How Sphinx's single-file builder begins the id of each document that it puts into the one page."""


def mark_titles(parts: list[Part], survey: Survey, family: Family) -> list[Part]:
    """Return *parts* with the headings marked that title the document: no path below begins with them.

    The first heading of an ordinary page says what the page is about, and stays in the paths below. That of
    a whole manual says on every line what the document's title says, and the bookmarks of the same manual
    as PDF leave it out. In Texinfo chapters are h2 and each h1 is the manual's title, its top or a part.
    """
    if family is Family.TEXINFO:
        return [_marked(part) for part in parts]
    if not _is_whole(survey, family):
        return parts
    first = next((place for place, part in enumerate(parts) if isinstance(part, Heading)), None)
    return [_marked(part) if place == first else part for place, part in enumerate(parts)]


def _marked(part: Part) -> Part:
    return replace(part, is_title=True) if isinstance(part, Heading) and part.level == 1 else part


def _is_whole(survey: Survey, family: Family) -> bool:
    """Whether an AsciiDoc page is of the type book, or a Sphinx page one that contains all documents."""
    if family is Family.ASCIIDOCTOR:
        body = survey.root.find("body")
        return body is not None and "book" in class_words(body.get("class") or "")
    if family is Family.SPHINX:
        return any(
            name.startswith(_SPHINX_CHAPTER) and owner.tag == "span" for name, owner in survey.owners.items()
        )
    return False
