"""Questions about real documentation: entries found, citations that open there, answers without a model.

    python -m bench.questions [SET ...] [--report] [--kind KIND ...] [--rules] [--parts]
                              [--modes | --mode MODE ...] [--words]

Asks the development half; with --report the half held out, which no change is ever made for. --rules adds
the recipe without each rule of the graph and what each rule brought, --parts without each part of the blend,
--late without late interaction, in indexes built with SITEGRAPH_LATE_INTERACTION=1,
--modes the answers without a model by each mode, --mode those by one; with --words as where no cross-encoder
is installed. --save keeps the figures, --against compares with kept ones.
The first call builds an index per set, which takes minutes each.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from bench.questions.answers import answer_all, verdict_lines
from bench.questions.asking import (
    ask_all,
    open_set,
    recipes,
    without_late_interaction,
    without_part,
    without_reranker,
)
from bench.questions.baselines import plain_searches
from bench.questions.question_files import ASKED_SETS, KINDS
from bench.questions.rules import count_rules, print_rules, without_rules
from bench.questions.tables import Asked, kind_of, print_difference, print_groups, print_ways, set_of
from retrieval.ask_modes import AskMode
from retrieval.graph.expansion import GraphRule

BLEND = ("graph", "anchor", "authority", "freshness")
BASELINES = ("BM25", "dense", "RRF", "linear")


def main() -> None:
    """Ask all, print all."""
    options = _options()
    ways: dict[str, dict[str, dict[str, float]]] = {}
    rules: Counter[tuple[GraphRule, str]] = Counter()
    verdicts: dict[str, dict[str, str]] = {}
    for name in options.sets or ASKED_SETS:
        opened = open_set(name, held_out=options.report, kinds=options.kind)
        searches = {**plain_searches(opened), **recipes(opened)}
        if options.parts:
            searches |= {f"graph, without {part}": without_part(opened, part) for part in BLEND}
        if options.late:
            searches |= without_late_interaction(opened)
        if options.rules:
            searches |= dict(without_rules(opened))
            rules += count_rules(opened)
        for way, search in searches.items():
            if not options.way or way in options.way:
                found = {question: dict(figures) for question, figures in ask_all(opened, search).items()}
                ways.setdefault(way, {}).update(found)
        for mode in options.mode or (AskMode if options.modes else ()):
            said, found = answer_all(without_reranker(opened) if options.words else opened, mode)
            verdicts.setdefault(mode.value, {}).update(said)
            ways.setdefault(f"mode {mode.value}", {}).update({key: dict(one) for key, one in found.items()})
        print(f"{name}: {len(opened.questions)} questions", flush=True)
    report(ways)
    if options.rules:
        print_rules(rules)
    for mode, judged in verdicts.items():
        print(f"\nanswers without a model, {mode}")
        print("\n".join(verdict_lines(judged)), flush=True)
    if options.save:
        options.save.parent.mkdir(parents=True, exist_ok=True)
        options.save.write_text(json.dumps(ways, indent=0, sort_keys=True), encoding="utf-8")
    if options.against:
        kept = json.loads(options.against.read_text(encoding="utf-8"))
        print(f"\nagainst {options.against.name}")
        for way in ways.keys() & kept.keys():
            print_difference(ways[way], kept[way], way, by_kind=way == "graph")


def report(ways: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print the tables: all ways, then the recipe by kind and by set, then what it gains over what."""
    print(f"\nall, {len(next(iter(ways.values())))} questions with an answer")
    print_ways(ways)
    for way in ("graph", "graph, rerank"):
        if way in ways:
            print(f"\n{way}, by kind and by set")
            print_groups(ways[way], kind_of)
            print_groups(ways[way], set_of)
    _compare(ways, "graph", "no graph", by_kind=True)
    _compare(ways, "graph, rerank", "graph", by_kind=True)
    for baseline in BASELINES:
        _compare(ways, "graph", baseline, by_kind=True)
    for way in ways:
        if way.startswith("graph, without"):
            _compare(ways, "graph", way)
        elif way.startswith("graph, rerank, without"):
            _compare(ways, "graph, rerank", way)


def _compare(
    ways: dict[str, dict[str, dict[str, float]]], way: str, other: str, *, by_kind: bool = False
) -> None:
    if way in ways and other in ways:
        asked: Asked = ways[way]
        print_difference(asked, ways[other], f"\n{way} over {other}", by_kind=by_kind)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure retrieval on questions about real documentation.")
    parser.add_argument("sets", nargs="*", choices=[*ASKED_SETS, []], help="which sets (default: all)")
    parser.add_argument("--report", action="store_true", help="ask the half that is held out")
    parser.add_argument("--kind", action="append", default=[], choices=KINDS)
    parser.add_argument("--way", action="append", default=[], help="only this way, such as 'graph'")
    parser.add_argument("--rules", action="store_true", help="also without each rule of the graph")
    parser.add_argument("--modes", action="store_true", help="also answers without a model, by each mode")
    parser.add_argument("--mode", action="append", default=[], type=AskMode, choices=list(AskMode))
    parser.add_argument("--words", action="store_true", help="answer as where no cross-encoder is installed")
    parser.add_argument("--parts", action="store_true", help="also without each part of the blend")
    parser.add_argument("--late", action="store_true", help="also without late interaction, where it is on")
    parser.add_argument("--save", type=Path, help="keep the figures in this file")
    parser.add_argument("--against", type=Path, help="compare with figures kept before")
    return parser.parse_args()


if __name__ == "__main__":
    main()
