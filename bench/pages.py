"""How long the pages of `sitegraph serve` take over about 20,000 chunks, warm, and how much they weigh.

    python -m bench.pages .cache/bench-pages [--documents 2000] [--questions 30]

The index is made once, of sentences of the manual: each document has ten passages and links to three others.
Vectors of passages are made by hash, questions, which are headings of the manual, are encoded by the real
model. One worker is asked one page after the other. The load of the machine is printed beside: on a busy one
only the CPU time of the service says anything. The first page is `/` together with the files it loads; aim:
less than 300 ms and 50 KB.
"""

import argparse
import os
import random
import re
import statistics
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote_plus

from schemas.edges import Edge
from tests.fakes.disk_index import write_index
from tests.fakes.encoder import HashEncoder
from tests.fakes.exported_encoder import place_exported_encoder
from tests.fakes.running_service import served_pages
from tests.fakes.small_index import Document, link, page

DOCS = Path(__file__).parents[1] / "docs"
AIM_MS, AIM_KB = 300, 50
WARM = 5
PASSAGES, LINKS, DIM = 10, 3, 384
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Make the index if need be, ask, print."""
    parser = argparse.ArgumentParser(description="Milliseconds and kilobytes of the pages of serve.")
    parser.add_argument("work", type=Path)
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--questions", type=int, default=30)
    options = parser.parse_args()
    index = options.work / "index"
    if not (index / "CURRENT").exists():
        make_index(index, documents=options.documents)
    asked = questions(options.questions + WARM)
    with served_pages(index) as origin:
        kinds: dict[str, Callable[[str], int]] = {
            "first page": lambda _: first_page(origin),
            "results": lambda q: size_of(f"{origin}/search?q={q}"),
            "while typing": lambda q: size_of(f"{origin}/search?typing=1&q={q}"),
            "answer": lambda q: size_of(f"{origin}/answer?q={q}"),
        }
        for name, load in kinds.items():
            print(measure(name, load, asked))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; aim {AIM_MS} ms, {AIM_KB} KB")


def make_index(root: Path, *, documents: int) -> None:
    """Write an index of so many documents of ten passages each."""
    sentences = [
        one
        for file in sorted(DOCS.rglob("*.md"))
        for one in re.findall(r"[A-Z][^.<>{}|`\n]{40,200}\.", file.read_text(encoding="utf-8"))
    ]
    rng = random.Random(1)
    made = [_document(rng, sentences, number) for number in range(documents)]
    first = [chunks[0] for _, chunks in made]
    edges: list[Edge] = [
        link(chunk, other, other.heading_path[0])
        for chunk in first
        for other in rng.sample(first, LINKS)
        if other is not chunk
    ]
    encoder = place_exported_encoder(root.parent / "encoder")
    write_index(root, made, edges, encoder=encoder, vectors=HashEncoder(DIM))


def _document(rng: random.Random, sentences: Sequence[str], number: int) -> Document:
    headings = [" ".join(rng.choice(sentences).split()[:4]) for _ in range(PASSAGES)]
    named = {
        f"{heading} {place}": " ".join(rng.sample(sentences, 4)) for place, heading in enumerate(headings)
    }
    return page(f"page-{number}", named)


def questions(count: int) -> list[str]:
    """Headings of the manual, in an order that has nothing to do with their pages."""
    found = {
        heading
        for file in DOCS.rglob("*.md")
        for heading in re.findall(r"^##+ ([\w' -]+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    return [quote_plus(one) for one in sorted(found, key=lambda one: one[::-1])][:count]


def measure(name: str, load: Callable[[str], int], asked: Sequence[str]) -> str:
    """Ask for a page again and again; milliseconds (median, 95th percentile, CPU) and kilobytes."""
    for one in asked[:WARM]:
        load(one)
    taken, sizes, before = [], [], cpu_seconds()
    for one in asked[WARM:]:
        start = time.perf_counter()
        sizes.append(load(one))
        taken.append((time.perf_counter() - start) * 1000)
    cpu = (cpu_seconds() - before) * 1000 / len(taken)
    high = statistics.quantiles(taken, n=20)[-1]
    return (
        f"{name:14} {statistics.median(taken):6.0f} ms median {high:6.0f} ms p95 {cpu:6.0f} ms CPU "
        f"{max(sizes) / 1000:6.1f} KB at most"
    )


def first_page(origin: str) -> int:
    """Load `/` and the files it names; their bytes."""
    with urllib.request.urlopen(_request(f"{origin}/")) as answer:
        body = answer.read()
    files = set(re.findall(r'"(/static/[^"]+)"', body.decode()))
    return len(body) + sum(size_of(origin + file) for file in files)


def size_of(url: str) -> int:
    """Load an address; its bytes."""
    with urllib.request.urlopen(_request(url)) as answer:
        return len(answer.read())


def cpu_seconds() -> float:
    """CPU time of all processes below this one, the service and its worker."""
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        pid = waiting.pop()
        for task in Path(f"/proc/{pid}/task").iterdir():
            children = [int(child) for child in (task / "children").read_text().split()]
            waiting += children
            for child in children:
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2].split()
                total += (int(fields[11]) + int(fields[12])) / _TICKS
    return total


def _request(url: str) -> urllib.request.Request:
    return urllib.request.Request(url, headers={"Accept": "text/html"})


if __name__ == "__main__":
    main()
