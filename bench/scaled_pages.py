"""Pages made of real sentences, and vectors made by hash, both the same every time."""

import html
import json
import random
import re
from collections.abc import Collection
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np

from indexes.ports import Vector

PAGES = 1_000
SECTIONS = 10
DIM = 384

_SENTENCE = re.compile(r"[A-Z][^.<>{}|]{40,240}\.(?=\s)")
_MARKUP = re.compile(r"<(script|style|head).*?</\1>|<[^>]*>", re.S)
_FILE = "sentences.json"


def write_sentences(folder: Path, work: Path) -> None:
    """Collect the distinct sentences of all HTML pages under *folder*."""
    sentences: set[str] = set()
    for page in sorted(folder.rglob("*.html")):
        text = html.unescape(_MARKUP.sub(" ", page.read_text(errors="replace")))
        sentences.update(" ".join(found.split()) for found in _SENTENCE.findall(text))
    (work / _FILE).write_text(json.dumps(sorted(sentences)))


def write_pages(work: Path, number: int, pages: int = PAGES) -> Path:
    """Write the pages of one run and give their folder; 10,000 pages take the numbers of ten runs."""
    sentences: list[str] = json.loads((work / _FILE).read_text())
    folder, rng = work / f"part-{number}", random.Random(number)
    folder.mkdir()
    first = PAGES * number
    for page in range(pages):
        (folder / f"page-{page:04d}.md").write_text(_page(rng, sentences, first, page, pages))
    return folder


def change_pages(work: Path, number: int, pages: int) -> Path:
    """Add a section to the first *pages* of a run's pages, always the same one, and give their folder."""
    sentences: list[str] = json.loads((work / _FILE).read_text())
    folder, rng = work / f"part-{number}", random.Random(f"changes of {number}")
    for page in sorted(folder.glob("page-*.md"))[:pages]:
        page.write_text(f"{page.read_text()}\n{_section(rng, sentences)}\n")
    return folder


def _page(rng: random.Random, sentences: list[str], first: int, page: int, pages: int) -> str:
    title = _title(rng, sentences)
    related = [f"DOC-{rng.randrange(first + pages):06d}" for _ in range(2)]
    head = {"id": f"DOC-{first + page:06d}", "title": title, "relates_to": sorted(set(related))}
    sections = "\n\n".join(_section(rng, sentences, pages) for _ in range(SECTIONS))
    return f"---\n{json.dumps(head)}\n---\n\n# {title}\n\n{sections}\n"


def _section(rng: random.Random, sentences: list[str], pages: int = PAGES) -> str:
    body = " ".join(rng.choices(sentences, k=rng.randint(3, 7)))
    target, name = f"page-{rng.randrange(pages):04d}.md", _title(rng, sentences)
    return f"## {_title(rng, sentences)}\n\n{body} See [{name}]({target})."


def _title(rng: random.Random, sentences: list[str]) -> str:
    words = re.findall(r"[A-Za-z]{4,}", " ".join(rng.choices(sentences, k=2)))
    return " ".join(rng.sample(words, min(4, len(words)))).capitalize()


class HashedVectors:
    """Keeps the port Encoder: a text's vector is part topic, part its first line, part its own, by hash."""

    dim = DIM
    model_sha256 = "0" * 64

    def encode_query(self, text: str) -> Vector:
        """The vector of the text; a question is one like any other."""
        return self.encode_documents([text])[0]

    def encode_documents(self, texts: Collection[str]) -> Vector:
        """Unit vectors whose neighbours are those of the same page, then those of the same topic."""
        rows = [self._vector(text) for text in texts]
        matrix = np.stack(rows) if rows else np.zeros((0, DIM), np.float32)
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    def count_tokens(self, text: str) -> int:
        """Words, which is near enough for pages that nothing encodes."""
        return len(text.split())

    def _vector(self, text: str) -> Vector:
        page = text.partition("\n")[0].partition(" > ")[0]
        topic = self._topics[_seed(page) % len(self._topics)]
        mixed: Vector = 0.5 * topic + 0.55 * _direction(_seed(page)) + 0.65 * _direction(_seed(text))
        return mixed

    @cached_property
    def _topics(self) -> list[Vector]:
        return [_direction(number) for number in range(300)]


def _seed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _direction(seed: int) -> Vector:
    drawn = np.random.default_rng(seed).standard_normal(DIM, np.float32)
    unit: Vector = drawn / np.linalg.norm(drawn)
    return unit
