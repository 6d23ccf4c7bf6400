"""Edits of the race: documents in, documents out, the same every time for a seed."""

import random
import re
from collections.abc import Callable, Sequence

from bench.peers.documents import Documents, make_paragraph, make_title

_NUMBER = re.compile(r"(?<=The limit is )\d+(?= rows\.)")
_HEADING = re.compile(r"(?<=^## ).+$", re.M)


def insert_paragraphs(documents: Documents, sentences: Sequence[str], pages: int, *, seed: int) -> Documents:
    """Insert a paragraph between two others into each of so many documents."""
    rng = random.Random(seed)

    def insert(text: str) -> str:
        blocks = text.split("\n\n")
        prose = [place for place, block in enumerate(blocks) if not block.startswith("#")]
        blocks.insert(rng.choice(prose), make_paragraph(rng, sentences))
        return "\n\n".join(blocks)

    return _edit(documents, pages, rng, insert)


def change_numbers(documents: Documents, pages: int, *, seed: int) -> Documents:
    """Change one number in each of so many documents."""
    rng = random.Random(seed)
    return _edit(documents, pages, rng, lambda text: _replace_one(_NUMBER, text, rng, _other_number))


def rename_headings(documents: Documents, sentences: Sequence[str], pages: int, *, seed: int) -> Documents:
    """Give one section of each of so many documents another heading."""
    rng = random.Random(seed)
    return _edit(
        documents,
        pages,
        rng,
        lambda text: _replace_one(_HEADING, text, rng, lambda _: make_title(rng, sentences)),
    )


def delete_documents(documents: Documents, pages: int, *, seed: int) -> Documents:
    """Leave so many documents out."""
    gone = set(random.Random(seed).sample(sorted(documents), pages))
    return {name: text for name, text in documents.items() if name not in gone}


def _edit(documents: Documents, pages: int, rng: random.Random, edit: Callable[[str], str]) -> Documents:
    chosen = rng.sample(sorted(documents), pages)
    return {**documents, **{name: edit(documents[name]) for name in chosen}}


def _replace_one(
    pattern: re.Pattern[str], text: str, rng: random.Random, change: Callable[[str], str]
) -> str:
    found = rng.choice(list(pattern.finditer(text)))
    return text[: found.start()] + change(found[0]) + text[found.end() :]


def _other_number(number: str) -> str:
    return str(int(number) % 999 + 1)
