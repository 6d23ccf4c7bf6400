"""The graph of the loop: what is merged, in whatever order and however often, gives one graph."""

from hypothesis import given
from hypothesis import strategies as st

from retrieval.iterative.facts import EntityKind, NameMention, Statement, StepFacts
from retrieval.iterative.graph import (
    HOPS_MAX,
    Graph,
    distances,
    linearise,
    merge,
    prune_graph,
    resolve,
    subjects_of,
)
from retrieval.iterative.readers import parse_facts, read_by_rule
from schemas.evidence import Evidence
from schemas.ids import canonical_json
from tests.fakes.novels import evidence

NAMES = st.sampled_from(["Ada Quill", "ADA QUILL", "A. Quill", "Bo Reed", "Mercury", "Port Almond", "1931"])
CHUNKS = st.sampled_from(["chunk:a", "chunk:b", "chunk:c"])
SPANS = st.integers(0, 40).map(lambda start: (start, start + 5))
MENTIONS = st.builds(
    NameMention,
    step=st.integers(1, 4),
    chunk=CHUNKS,
    span=st.none() | SPANS,
    name=NAMES,
    kind=st.sampled_from(EntityKind),
    attributes=st.lists(
        st.tuples(st.sampled_from(["country", "work"]), st.sampled_from(["UK", "US"])), max_size=2
    ).map(tuple),
    aliases=st.lists(NAMES, max_size=2).map(tuple),
    ref=st.none() | st.sampled_from(["entity:1", "entity:2"]),
)
STATEMENTS = st.builds(
    Statement,
    step=st.integers(1, 4),
    chunk=CHUNKS,
    span=SPANS,
    subject=NAMES,
    predicate=st.sampled_from(["wrote", "mentions"]),
    object=NAMES,
    subject_ref=st.none() | st.just("entity:1"),
)
FACTS = st.builds(
    StepFacts,
    mentions=st.lists(MENTIONS, max_size=8).map(tuple),
    statements=st.lists(STATEMENTS, max_size=6).map(tuple),
)
PIECES = st.sampled_from(
    [
        "Ada Quill",
        "Mercury",
        "the",
        "of",
        "born in",
        "GOV-0017",
        "1931",
        "a_b",
        ". ",
        ", ",
        " ",
        "\n",
        "(",
        "é",
        "İ",
    ]
)
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60)
PASSAGES = st.dictionaries(
    st.sampled_from(["Ada Quill", "Mercury (planet)", "Port Almond", "Bo"]), TEXTS, min_size=1, max_size=4
).map(lambda texts: tuple(evidence(title, text) for title, text in texts.items()))


@given(facts=FACTS, more=FACTS)
def test_merging_is_idempotent(facts: StepFacts, more: StepFacts) -> None:
    graph = merge(merge(Graph(), facts), more)
    assert merge(graph, facts) == merge(graph, more) == graph
    assert resolve(merge(graph, more)) == resolve(graph)


@given(passages=PASSAGES, data=st.data())
def test_the_order_of_passages_within_a_step_does_not_matter(
    passages: tuple[Evidence, ...], data: st.DataObject
) -> None:
    mixed = data.draw(st.permutations(passages))
    graphs = [merge(Graph(), read_by_rule(order, StepFacts(), step=1)) for order in (passages, mixed)]
    assert graphs[0] == graphs[1]
    assert linearise(resolve(graphs[0])) == linearise(resolve(graphs[1]))


@given(passages=PASSAGES)
def test_the_span_of_every_triple_stands_in_its_chunk(passages: tuple[Evidence, ...]) -> None:
    texts = {one.chunk_id: one.text for one in passages}
    relations = [
        {"subject": a.heading_path[0], "predicate": "is", "object": word, "text": b.text[:20]}
        for a in passages
        for b in passages
        for word in b.text.split()[:2]
    ]
    told = parse_facts(canonical_json({"entities": [], "relations": relations}), passages, step=1)
    assert told is not None
    for facts in (told, read_by_rule(passages, StepFacts(), step=1)):
        for statement in facts.statements:
            start, end = statement.span
            assert 0 <= start < end <= len(texts[statement.chunk])
        for triple in resolve(merge(Graph(), facts)).triples:
            assert texts[triple.statement.chunk][slice(*triple.statement.span)].strip()


@given(facts=FACTS)
def test_nothing_that_is_kept_is_farther_than_three_hops(facts: StepFacts) -> None:
    question = "Where was Ada Quill born?"
    graph = prune_graph(resolve(merge(Graph(), facts)), question)
    subjects = subjects_of(question, graph.entities)
    far = distances(graph, subjects)
    assert not subjects or all(far[place] <= HOPS_MAX for place in range(len(graph.entities)))


@given(facts=FACTS)
def test_two_things_that_the_index_tells_apart_are_never_one(facts: StepFacts) -> None:
    assert all(len(one.refs) <= 1 for one in resolve(merge(Graph(), facts)).entities)
