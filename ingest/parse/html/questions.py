"""Questions of a DocBook FAQ: where an entry begins, and what it asks."""

import re

from lxml.html import HtmlElement

from ingest.parse.html.dom import class_words
from ingest.parse.html.family import Shape
from ingest.parse.html.inline import inline_text
from ingest.parse.numbering import strip_numbering

MAX_QUESTION = 200
"""Code points; a longer one tells a story, and is no title."""

_CELLS = ("td", "th")
_LABEL = re.compile(r"^[QA](?:uestion|nswer)?\s*[:.]\s*", re.IGNORECASE)


def is_question(element: HtmlElement, shape: Shape) -> bool:
    """Whether an entry of a FAQ begins here: a row of a table, or a `div`. Source: DocBook XSL, qandaset."""
    return (
        shape.has_questions
        and element.tag in {"tr", "div"}
        and "question" in class_words(element.get("class") or "")
    )


def question_of(element: HtmlElement) -> str:
    """Return what is asked, without number and label, up to where code or a second paragraph begins."""
    cells = [cell for cell in element if cell.tag in _CELLS]
    asked = cells[-1] if cells else element
    first = next(asked.iter("p"), None)
    if first is None and next(asked.iter("pre"), None) is not None:
        first = next(asked.iter("b", "strong"), None)
    text = _LABEL.sub("", strip_numbering(inline_text(asked if first is None else first)))
    return text if len(text) <= MAX_QUESTION else ""


def is_question_label(element: HtmlElement, shape: Shape) -> bool:
    """Whether a cell holds the number or the letter of the question in the cell behind it."""
    if element.tag not in _CELLS:
        return False
    row, behind = element.getparent(), element.getnext()
    return (
        row is not None and behind is not None and is_question(row, shape) and element.getprevious() is None
    )


def asks(table: HtmlElement, shape: Shape) -> bool:
    """Whether the rows of a table are questions and answers."""
    return shape.has_questions and any(is_question(row, shape) for row in table.iter("tr"))
