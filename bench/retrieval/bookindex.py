"""PostgreSQL's printed index as questions: each term should find the section that the index sends to."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import mean

from lxml import html

from bench.retrieval.asking import TOP_K, open_retriever
from bench.retrieval.indexing import build_index
from bench.retrieval.question_sets import Question, QuestionSet
from indexes.ports import ChunkReader, Encoder
from indexes.wiring import open_readers
from retrieval.learning.tuning import Interval, paired_bootstrap, reciprocal_rank
from retrieval.question.query import build_query
from retrieval.search.seeds import DEPTH
from schemas.evidence import SearchField
from schemas.nodes import Chunk
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


def sections_of(rows: Iterable[Chunk]) -> dict[str, str]:
    """Return the section each target of the index leads to: by `page#fragment`, and by `page` its first."""
    sections: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (row.doc, row.ordinal, row.id)):
        page = (row.file_path or "").rpartition("/")[2]
        for fragment in (row.fragment, *row.fragments):
            sections.setdefault(f"{page}#{fragment}" if fragment else page, row.section_id or row.doc)
        sections.setdefault(page, row.section_id or row.doc)
    return sections


def plain_hybrid(chunks: ChunkReader, encoder: Encoder, text: str) -> list[str]:
    """Rank chunks by RRF 60 over words and vectors of texts alone: what all else is held against."""
    lists = (
        chunks.search_text(SearchField.TEXT, text, top_k=DEPTH),
        chunks.search_vector(SearchField.TEXT, encoder.encode_query(text), top_k=DEPTH),
    )
    scores: dict[str, float] = {}
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda chunk: (-round(scores[chunk], 6), chunk))


def measure_bookindex(cache: Path) -> tuple[Interval, float, float]:
    """Ask all terms; give the gain in MRR over plain hybrid, and both."""
    questions = load_bookindex(cache / "postgresql" / "site")
    readers = open_readers(build_index(questions, cache=cache), environment={})
    rows = {row.id: row for row in readers.chunks.scan()}
    sections = sections_of(rows.values())
    retriever = open_retriever(readers.index)
    ours: list[float] = []
    plain: list[float] = []
    for question in questions.questions:
        gold = {sections[target] for target in question.gold if target in sections}
        bundle = retriever.retrieve(build_query(question.text, top_k=TOP_K))
        found = [one.chunk_id for one in bundle.evidence]
        ours.append(reciprocal_rank(_sections(rows, found), gold))
        others = plain_hybrid(readers.chunks, readers.encoder, question.text)
        plain.append(reciprocal_rank(_sections(rows, others), gold))
    return paired_bootstrap(ours, plain), mean(ours), mean(plain)


def _sections(rows: Mapping[str, Chunk], ranked: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(rows[chunk].section_id or rows[chunk].doc for chunk in ranked))
