"""Holds question files against the documents: each place exists, and what is asked for stands there.

python -m bench.questions.checking
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from lxml import html

from bench.questions.documents import unpack_documents
from bench.questions.gold import holds
from bench.questions.question_files import ASKED_SETS, load_questions


def check_gold(name: str, root: Path) -> Iterator[str]:
    """Yield what is wrong with the questions of a set, a line each."""
    for question in load_questions(name):
        for entry in question.entries:
            for place in entry.places:
                if not _exists(root, place):
                    yield f"{question.id}: no such place: {place}"
        for fact in question.facts:
            if not any(holds(_text(root, place), fact) for one in question.entries for place in one.places):
                yield f"{question.id}: no place says {fact[0]!r}"


def _exists(root: Path, place: str) -> bool:
    name, _, fragment = place.partition("#")
    if not (root / unquote(name)).is_file():
        return False
    if name.endswith(".pdf"):
        return 1 <= int(fragment.removeprefix("page=")) <= len(_pdf(root / name))
    return not fragment or unquote(fragment) in _anchors(root / unquote(name))


def _text(root: Path, place: str) -> str:
    name, _, fragment = place.partition("#")
    if name.endswith(".pdf"):
        return _pdf(root / name)[int(fragment.removeprefix("page=")) - 1]
    page = _page(root / unquote(name))
    # Cells of a row touch each other in the one, and the parts of a marked-up word are parted in the other.
    return f"{page.text_content()} {' '.join(page.itertext())}"


@cache
def _pdf(path: Path) -> list[str]:
    import pymupdf

    return [str(page.get_text()) for page in pymupdf.open(path)]


@cache
def _page(path: Path) -> html.HtmlElement:
    return html.fromstring(path.read_bytes())


@cache
def _anchors(path: Path) -> frozenset[str]:
    return frozenset(str(one) for one in _page(path).xpath("//@id | //a/@name"))


if __name__ == "__main__":
    for each in ASKED_SETS:
        for problem in check_gold(each, unpack_documents(each)):
            print(problem)
