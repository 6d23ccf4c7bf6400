"""PostgreSQL's printed index as questions: each term should find the section that the index sends to."""

from collections.abc import Iterator
from pathlib import Path

from lxml import html

from bench.retrieval.question_sets import Question, QuestionSet
from tests.fakes.real_sites import unpack

ARCHIVE, VERSION = "sites/postgresql.tar.xz", "15.20-0+deb12u1"
PAGES = "usr/share/doc/postgresql-doc-15/html"
INDEX_PAGE = "bookindex.html"
EVERY = 12
"""One term in twelve is asked, in the order of the index."""


def load_bookindex(folder: Path) -> QuestionSet:
    """Unpack the manual into *folder* and give it without its index page, which becomes the questions."""
    pages = unpack(ARCHIVE, VERSION, folder) / VERSION / PAGES
    terms = list(_terms(html.parse(pages / INDEX_PAGE).getroot()))
    questions = [
        Question(id=f"{number}:{term}", text=term, gold=frozenset(targets))
        for number, (term, targets) in enumerate(terms)
        if number % EVERY == 0
    ]
    documents = {page.name: page for page in sorted(pages.glob("*.html")) if page.name != INDEX_PAGE}
    return QuestionSet(name="postgresql", documents=dict(documents), questions=tuple(questions))


def _terms(root: html.HtmlElement) -> Iterator[tuple[str, list[str]]]:
    """Each term that has targets, a sub-term after the term it stands under."""
    for entry in root.iter("dt"):
        links = entry.xpath("./a[@class='indexterm']/@href")
        if links:
            above = entry.xpath("ancestor::dd[1]/preceding-sibling::dt[1]")
            names = [_name(one) for one in (*above, entry)]
            yield " ".join(names), [str(link) for link in links]


def _name(entry: html.HtmlElement) -> str:
    return " ".join((entry.text or "").split()).rstrip(",")
