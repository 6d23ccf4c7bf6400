"""Questions with known answers over real passages and PDFs, asked with and without graph and reranker.

    python -m bench.retrieval [SET ...] [--without PART ...]

Prints a table per set and the paired bootstrap intervals of what the graph and the reranker are worth; with
--without, of what parts of the blend are. The first call builds an index per set, which takes minutes each.
"""

import argparse
from collections.abc import Mapping
from statistics import mean

from bench.retrieval.asking import PARTS, Figures, Way, ask_all, open_retriever
from bench.retrieval.bookindex import measure_bookindex
from bench.retrieval.indexing import CACHE, build_index
from bench.retrieval.question_sets import QuestionSet, load_sets
from retrieval.learning.tuning import paired_bootstrap

PLAIN = Way(name="vectors and words", use_graph=False)
GRAPH = Way(name="graph")
FULL = Way(name="graph, rerank", rerank=True)
BOOKINDEX = "postgresql"
COMPARED = ("R@5", "R@10", "all@10")


def main() -> None:
    """Ask all, print all."""
    parser = argparse.ArgumentParser(description="Measure retrieval on questions with known answers.")
    parser.add_argument("sets", nargs="*", help=f"which sets, {BOOKINDEX} among them (default: all)")
    parser.add_argument("--without", action="append", default=[], choices=sorted(PARTS))
    options = parser.parse_args()
    for name, questions in load_sets().items():
        if not options.sets or name in options.sets:
            measure_set(questions, options.without)
    if not options.sets or BOOKINDEX in options.sets:
        gain, ours, plain = measure_bookindex(CACHE)
        print(f"\n{BOOKINDEX}, terms of the printed index to sections")
        print(f"MRR {100 * ours:.1f}, plain hybrid {100 * plain:.1f}: {gain}")


def measure_set(questions: QuestionSet, parts: list[str]) -> None:
    """Print the tables of one set."""
    index = build_index(questions)
    retriever = open_retriever(index)
    ways = [GRAPH] if parts else [PLAIN, GRAPH, FULL]
    if questions.name == "mmlongbench":
        ways += [Way(name=f"{one.name}, right document", **_fields(one)) for one in ways]
    tables = {way.name: ask_all(retriever, questions, way) for way in ways}
    for part in parts:
        tables[f"graph, without {part}"] = ask_all(open_retriever(index, without=part), questions, GRAPH)
    print(f"\n{questions.name}: {len(questions.questions)} questions, {len(questions.documents)} documents")
    print_table(tables)
    if not parts:
        print_difference(tables, GRAPH.name, PLAIN.name)
        print_difference(tables, FULL.name, GRAPH.name)
    for part in parts:
        print_difference(tables, GRAPH.name, f"graph, without {part}")


def _fields(way: Way) -> dict[str, bool]:
    return {"use_graph": way.use_graph, "rerank": way.rerank, "right_document": True}


def print_table(tables: Mapping[str, Figures]) -> None:
    """Print a row per way."""
    names = list(next(iter(tables.values())))
    print(f"{'':36}" + "".join(f"{name:>8}" for name in names))
    for name, figures in tables.items():
        print(f"{name:36}" + "".join(f"{100 * mean(figures[one]):8.1f}" for one in names), flush=True)


def print_difference(tables: Mapping[str, Figures], name: str, other: str) -> None:
    """Print what *name* gains over *other*, with the 95 % interval, in points."""
    gains = (f"{one} {paired_bootstrap(tables[name][one], tables[other][one])}" for one in COMPARED)
    print(f"{name} over {other}: " + "; ".join(gains), flush=True)


if __name__ == "__main__":
    main()
