"""What each rule of the graph brings: how often, and how often that was what the question needed."""

from collections import Counter
from collections.abc import Iterator

from bench.questions.asking import TOP_K, OpenedSet, Search, recipe
from bench.questions.gold import stands_at
from bench.questions.question_files import AskedQuestion
from retrieval.evidence import build_retriever
from retrieval.graph.expansion import ALL_RULES, GraphRule
from retrieval.question.query import build_query
from schemas.edges import EdgeKind
from schemas.evidence import Evidence

COLUMNS = ("questions", "passages", "gold", "only")
_BY_ROLE = {"parent": GraphRule.PARENT, "sibling": GraphRule.SIBLING, "child": GraphRule.DETAIL}
_BY_EDGE = {EdgeKind.SIMILAR_TO.value: GraphRule.SIMILAR, EdgeKind.EXPLAINED_BY.value: GraphRule.TOOL}


def without_rules(opened: OpenedSet) -> Iterator[tuple[str, Search]]:
    """Yield the recipe without each rule, by name."""
    for rule in GraphRule:
        retriever = build_retriever(opened.readers, rules=ALL_RULES - {rule})
        yield f"graph, without {rule.value}", recipe(retriever)


def rule_of(evidence: Evidence) -> GraphRule | None:
    """Return the rule that brought a piece of evidence; None where no edge leads to it."""
    if not evidence.path:
        return None
    kinds = [step.kind for step in evidence.path]
    if "second_query" in kinds:
        return GraphRule.SECOND_QUERY
    by_edge = next((_BY_EDGE[kind] for kind in kinds if kind in _BY_EDGE), None)
    return _BY_ROLE.get(evidence.role) or by_edge or GraphRule.SPREAD


def count_rules(opened: OpenedSet) -> Counter[tuple[GraphRule, str]]:
    """Count what each rule brought among the ten of every question.

    `questions`: with such a passage. `passages`: all of them. `gold`: that stand at an entry. `only`: that no
    search without the graph shows among its ten.
    """
    retriever = build_retriever(opened.readers)
    plain = recipe(retriever, use_graph=False)
    counts: Counter[tuple[GraphRule, str]] = Counter()
    for question in opened.questions:
        bundle = retriever.retrieve(build_query(question.text, top_k=TOP_K))
        known = set(plain(question.text))
        brought = [(rule, one) for one in bundle.evidence if (rule := rule_of(one))]
        counts.update((rule, "questions") for rule in {rule for rule, _ in brought})
        counts.update((rule, "passages") for rule, _ in brought)
        for rule, one in brought:
            if _is_gold(opened, question, one.chunk_id):
                counts[rule, "gold"] += 1
                counts[rule, "only"] += one.chunk_id not in known
    return counts


def _is_gold(opened: OpenedSet, question: AskedQuestion, chunk: str) -> bool:
    (passage,) = opened.passages([chunk])
    return any(stands_at(passage, entry) for entry in question.entries)


def print_rules(counts: Counter[tuple[GraphRule, str]]) -> None:
    """Print a row per rule."""
    print(f"\n{'rule':20}" + "".join(f"{name:>11}" for name in COLUMNS))
    for rule in GraphRule:
        print(f"{rule.value:20}" + "".join(f"{counts[rule, name]:11}" for name in COLUMNS), flush=True)
