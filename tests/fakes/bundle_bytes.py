"""Asks an index the same questions again and again, its stores opened again now and then.

    python -m tests.fakes.bundle_bytes INDEX RUNS

One line for each different set of answers: how often, and the sha256 of the bundles' JSON. More than one line
is a fault.
"""

import json
import os
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

from indexes.wiring import open_readers
from retrieval.evidence import build_retriever
from retrieval.question.query import build_query
from schemas.evidence import Query
from schemas.records import to_record

REOPEN_EVERY = 10
TEXTS = ("What depends on GOV-0017?", "keep the log and the backup", "cold storage", "tape wear figure 2")


def queries() -> list[Query]:
    """Every question with and without the graph, and two with the reranker."""
    found = [build_query(text, use_graph=use, top_k=9) for text in TEXTS for use in (False, True)]
    return [*found, *(build_query(text, rerank=True, top_k=9) for text in TEXTS[:2])]


def main() -> None:
    """Ask and count."""
    index, runs = Path(sys.argv[1]), int(sys.argv[2])
    seen: Counter[str] = Counter()
    for run in range(runs):
        if run % REOPEN_EVERY == 0:
            readers = open_readers(index, environment=dict(os.environ), use_rerank=True)
            assert not readers.warnings, readers.warnings
            retriever = build_retriever(readers)
        bundles = [to_record(retriever.retrieve(query)) for query in queries()]
        assert not any(one["degraded"] for one in bundles)
        assert any(one["logit"] is not None for one in bundles[-1]["evidence"])
        seen[sha256(json.dumps(bundles, ensure_ascii=False).encode()).hexdigest()] += 1
    for digest, count in sorted(seen.items()):
        print(count, digest)


if __name__ == "__main__":
    main()
