"""What names and links cost a run that changes few of many documents, as CPU seconds.

    python -m bench.linking [--documents 1000 10000 100000]

Each document has eleven names of four words and eleven links; texts and names are words of one vocabulary.
`ten` and `thousand` are what reading so many documents asks of the names, a hundred at a time; `whole` is the
catalogue of all names, which runs made before they looked names up. Links are loaded, changed for ten
documents, weighed and written. Prints one JSON object a size.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench.comparison import Figures
from flows.derive.names import StatedNames
from indexes.stores.ledger.ledger import Ledger, open_ledger
from ingest.link.authority import (
    DocumentLinks,
    LinkState,
    dump_links,
    load_links,
    no_links,
    replace_links,
    weigh_documents,
)
from ingest.link.catalogue import Stated, build_catalogue
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import LiveDocument
from schemas.names import Name, NameRole
from tests.fakes.ledger_rows import publish

BATCH = 100
NAMES, LINKS, CHUNKS, WORDS_A_CHUNK = 11, 11, 11, 100
VOCABULARY = 20_000


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description="What names and links cost in an index of many documents.")
    parser.add_argument("--documents", type=int, nargs="*", default=[1_000, 10_000])
    for count in parser.parse_args().documents:
        with tempfile.TemporaryDirectory() as scratch:
            names = measure_names(Path(scratch), count)
        print(json.dumps({"documents": count, "names": names, "links": measure_links(count)}), flush=True)


def measure_names(work: Path, count: int) -> Figures:
    """Ten and a thousand documents against all."""
    ledger = open_ledger(f"sqlite:///{work / 'ledger.sqlite'}")
    live = [_document(number) for number in range(count)]
    saved = _cpu(lambda: _save(ledger, live))
    publish(ledger, *(DocumentChange(kind=ChangeKind.ADDED, old=None, new=one) for one in live), base=0)
    held = ledger.names.held(1, without_docs=())
    figures = {
        "save_a_thousand": round(1000 * saved / count, 2),
        "ten": round(_cpu(lambda: _look_up(ledger, live, 10)), 3),
        "thousand": round(_cpu(lambda: _look_up(ledger, live, 1000)), 2),
        "whole": round(_cpu(lambda: build_catalogue(Stated(doc, name) for doc, name in held)), 2),
    }
    ledger.close()
    return figures


def measure_links(count: int) -> Figures:
    """The links of all documents, of which ten link elsewhere."""
    changed = _links(random.Random(1), range(count), count)
    data = dump_links(replace_links(no_links(), changed))
    ten, states = _links(random.Random(2), range(10), count), list[LinkState]()
    return {
        "load": round(_cpu(lambda: states.append(load_links(data))), 3),
        "change": round(_cpu(lambda: states.append(replace_links(states[0], ten))), 3),
        "weigh": round(_cpu(lambda: weigh_documents(states[1], {})), 3),
        "dump": round(_cpu(lambda: dump_links(states[1])), 3),
        "bytes": len(data),
    }


def _look_up(ledger: Ledger, live: Sequence[LiveDocument], count: int) -> None:
    rng = random.Random(count)
    stated = StatedNames(names=ledger.names, base=1, changes={})
    for start in range(0, count, BATCH):
        read = rng.sample(live, min(BATCH, count - start))
        texts = [_words(rng, WORDS_A_CHUNK) for _ in range(CHUNKS * len(read))]
        fragment: Any = SimpleNamespace(chunks=[SimpleNamespace(text=text) for text in texts])
        linked = {rng.choice(live).doc for _ in range(LINKS * len(read))}
        stated.catalogue_for({one.doc: one for one in read}, [fragment], linked)


def _save(ledger: Ledger, live: Sequence[LiveDocument]) -> None:
    rng = random.Random(0)
    for start in range(0, len(live), BATCH):
        ledger.names.save([(one.fragment_sha, _names(rng, one)) for one in live[start : start + BATCH]])


def _names(rng: random.Random, live: LiveDocument) -> tuple[Name, ...]:
    texts = [_words(rng, 4).capitalize() for _ in range(NAMES)]
    nodes = [live.doc, *(f"section:{live.doc}-{number}" for number in range(1, NAMES))]
    roles = [NameRole.TITLE, *[NameRole.HEADING] * (NAMES - 1)]
    rows = zip(texts, roles, nodes, strict=True)
    return tuple(Name(text=text, role=role, entity=text, node=node) for text, role, node in rows)


def _document(number: int) -> LiveDocument:
    return LiveDocument(
        doc=f"page:{number:026d}",
        source="bench",
        uri=f"file://bench/{number}.md",
        fragment_sha=f"{number:064x}",
        content_hash="0" * 64,
    )


def _links(rng: random.Random, sources: range, count: int) -> DocumentLinks:
    docs = [f"page:{number:026d}" for number in sources]
    ends = {doc: {f"page:{rng.randrange(count):026d}" for _ in range(LINKS)} - {doc} for doc in docs}
    weights: Mapping[tuple[str, str], float] = {(doc, end): 1.0 for doc in docs for end in ends[doc]}
    return DocumentLinks(docs={*docs}, kinds=dict.fromkeys(docs, "markdown"), weights={**weights})


def _words(rng: random.Random, count: int) -> str:
    # As in language much is made of few words, and one in eight has a capital, with which a name begins.
    drawn = (f"word{int(VOCABULARY ** rng.random())}" for _ in range(count))
    return " ".join(word.capitalize() if rng.random() < 1 / 8 else word for word in drawn)


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
