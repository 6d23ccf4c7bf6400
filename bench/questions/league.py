"""The league: the right page and passage on eight manuals, beside plain rankings of the same chunks.

    python -m bench.questions.league [SET ...] [--save FILE] [--against FILE]

Pages: 63 questions of a public benchmark of crawlers over four sites, of which a hit is a page whose address
contains what its authors wrote, and all questions of our own over sites. Passages: our own questions. One
configuration for all. The first call builds an index per set, which takes minutes each.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.questions.asking import TOP_K, Figures, OpenedSet, Search, ask_all, open_set, recipes
from bench.questions.baselines import DEPTH, plain_searches
from bench.questions.gold import Passage
from bench.questions.question_files import AskedQuestion
from bench.questions.tables import Asked, kind_of, print_difference, print_header, print_row, set_of
from retrieval.evidence import build_retriever
from retrieval.question.query import TOKEN_BUDGET_MAX, build_query
from tests.fakes.real_sites import DATA

QUERIES = DATA / "league" / "queries.json"
SITES = ("python-docs", "fastapi-docs", "react-dev", "rust-book")
IN_LEAGUE = (*SITES, "apache", "octave", "exim", "flask")
PLAIN = ("BM25", "dense", "RRF", "linear")
OURS = ("no graph", "graph", "graph, rerank")
PAGE_MEASURES = ("MRR", "hit@1", "hit@5", "hit@10")
PASSAGE_MEASURES = ("MRR", "hit@1", "R@3", "R@10")


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question whose answer is a page, and which pages answer it."""

    id: str
    text: str
    answers: Callable[[str], bool]


def page_questions(name: str, asked: Sequence[AskedQuestion]) -> Iterator[PageQuestion]:
    """Yield the public questions of a set, then those of our own with an answer."""
    public = json.loads(QUERIES.read_text("utf-8")).get(name, ()) if name in SITES else ()
    for number, one in enumerate(public):
        kind = str(one["kind"]).replace("-", "_")
        yield PageQuestion(f"{name}-{kind}-{number}", one["query"], _contains_any(one))
    for own in asked:
        if own.entries:
            pages = frozenset(place.partition("#")[0] for entry in own.entries for place in entry.places)
            yield PageQuestion(own.id, own.text, pages.__contains__)


def _contains_any(question: Mapping[str, Any]) -> Callable[[str], bool]:
    wanted = (question["url_contains"], question["or_page_contains"])
    return lambda page: any(one in page for one in wanted)


def pages_of(passages: Sequence[Passage]) -> list[frozenset[str]]:
    """Return the names of each page once, in the order of its best passage."""
    names = [frozenset(place.partition("#")[0] for place in one.places) for one in passages]
    return list(dict.fromkeys(names))


def measure_pages(question: PageQuestion, pages: Sequence[frozenset[str]]) -> Figures:
    """Return the reciprocal rank of the first right page of ten, and whether it is among the first k."""
    ranks = (rank for rank, names in enumerate(pages[:TOP_K], start=1) if any(map(question.answers, names)))
    rank = next(ranks, None)
    hits = {f"hit@{k}": float(rank is not None and rank <= k) for k in (1, 5, 10)}
    return {**hits, "MRR": 1 / rank if rank else 0.0}


def page_searches(opened: OpenedSet) -> Mapping[str, Search]:
    """Return by name what lists pages: plain rankings, and `query --by page`."""
    retriever = build_retriever(opened.readers)

    def by_page(**options: bool) -> Search:
        def search(text: str) -> Sequence[str]:
            query = build_query(text, top_k=TOP_K, token_budget=TOKEN_BUDGET_MAX, by="page", **options)
            return [one.chunk_id for one in retriever.retrieve(query).evidence]

        return search

    ours = (by_page(use_graph=False), by_page(), by_page(rerank=True))
    return {**plain_searches(opened, top_k=DEPTH), **dict(zip(OURS, ours, strict=True))}


Ways = dict[str, dict[str, Figures]]
"""Figures by way and question."""


def play(name: str, pages: Ways, passages: Ways) -> None:
    """Ask all questions of a set in all ways."""
    opened = open_set(name, held_out=None if name != "flask" else False)
    questions = list(page_questions(name, opened.questions))
    for way, search in page_searches(opened).items():
        found = {one.id: pages_of(opened.passages(search(one.text))) for one in questions}
        figures = {one.id: measure_pages(one, found[one.id]) for one in questions}
        pages.setdefault(way, {}).update(figures)
    searches = {**plain_searches(opened), **recipes(opened)} if opened.questions else {}
    for way in (*PLAIN, *OURS):
        if way in searches:
            passages.setdefault(way, {}).update(ask_all(opened, searches[way]))
    print(f"{name}: {len(questions)} questions", flush=True)


def report(ways: Ways, measures: Sequence[str], title: str) -> None:
    """Print a row per way, a row per set and kind of the default, and what it gains over the others."""
    print(f"\n{title}, {len(ways['graph'])} questions")
    print_header("", measures)
    for way, asked in ways.items():
        print_row(way, asked.values(), measures)
    for group in (set_of, kind_of):
        for one in sorted({group(key) for key in ways["graph"]}):
            chosen = [figures for key, figures in ways["graph"].items() if group(key) == one]
            print_row(f"    graph: {one} ({len(chosen)})", chosen, measures)
    for way in ways:
        if way != "graph":
            gains: Asked = ways["graph"]
            print_difference(gains, ways[way], f"graph over {way}", measures=measures)
    reranked, graph = ways["graph, rerank"], ways["graph"]
    print_difference(reranked, graph, "rerank over graph", measures=measures)
    for one in sorted(set(map(set_of, graph))):
        of_set = {key: figures for key, figures in reranked.items() if set_of(key) == one}
        print_difference(of_set, graph, f"    rerank over graph: {one}", measures=measures)


def main() -> None:
    """Ask all, print all."""
    parser = argparse.ArgumentParser(description="Rank pages and passages beside plain rankings.")
    parser.add_argument("sets", nargs="*", choices=[*IN_LEAGUE, []], help="which sets (default: all)")
    parser.add_argument("--save", type=Path, help="keep the figures in this file")
    parser.add_argument("--against", type=Path, help="compare with figures kept before")
    options = parser.parse_args()
    pages: Ways = {}
    passages: Ways = {}
    for name in options.sets or IN_LEAGUE:
        play(name, pages, passages)
    report(pages, PAGE_MEASURES, "pages")
    if passages:
        report(passages, PASSAGE_MEASURES, "passages")
    if options.save:
        kept = {"pages": pages, "passages": passages}
        options.save.write_text(json.dumps(kept, indent=0, sort_keys=True), encoding="utf-8")
    if options.against:
        before = json.loads(options.against.read_text(encoding="utf-8"))
        for way in pages.keys() & before["pages"].keys():
            print_difference(pages[way], before["pages"][way], f"pages, {way}", measures=PAGE_MEASURES)
        for way in passages.keys() & before["passages"].keys():
            print_difference(
                passages[way], before["passages"][way], f"passages, {way}", measures=PASSAGE_MEASURES
            )


if __name__ == "__main__":
    main()
