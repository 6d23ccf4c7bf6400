"""Documents of the race: Markdown pages of real sentences with links and numbers, the same every time."""

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

SECTIONS = 10

Documents = Mapping[str, str]
"""Texts by file name."""


def make_documents(sentences: Sequence[str], count: int, *, seed: int = 0) -> Documents:
    """Make *count* pages of ten sections; each section links to another page and states a number."""
    rng = random.Random(seed)
    return {name_of(number): _page(rng, sentences, count) for number in range(count)}


def name_of(number: int) -> str:
    """Return the file name of a page."""
    return f"page-{number:04d}.md"


def make_paragraph(rng: random.Random, sentences: Sequence[str]) -> str:
    """Make a paragraph of two sentences."""
    return " ".join(rng.sample(sentences, 2))


def make_title(rng: random.Random, sentences: Sequence[str]) -> str:
    """Make a heading of four words."""
    words = re.findall(r"[A-Za-z]{4,}", " ".join(rng.choices(sentences, k=2)))
    return " ".join(rng.sample(words, min(4, len(words)))).capitalize()


def write_documents(folder: Path, documents: Documents) -> None:
    """Make *folder* contain these files; one that is as it should be is not touched."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in documents:
            path.unlink()
    for name, text in documents.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _page(rng: random.Random, sentences: Sequence[str], count: int) -> str:
    sections = "\n\n".join(_section(rng, sentences, count) for _ in range(SECTIONS))
    return f"# {make_title(rng, sentences)}\n\n{make_paragraph(rng, sentences)}\n\n{sections}\n"


def _section(rng: random.Random, sentences: Sequence[str], count: int) -> str:
    body = "\n\n".join(make_paragraph(rng, sentences) for _ in range(rng.randint(1, 3)))
    limit = f"The limit is {rng.randrange(100, 1000)} rows."
    link = f"See [{make_title(rng, sentences)}]({name_of(rng.randrange(count))})."
    return f"## {make_title(rng, sentences)}\n\n{body} {limit} {link}"
