"""The whole walk over a small index: what is found, what the graph adds, and that nothing depends on luck."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest

from indexes.ports import GraphReader
from retrieval.question.query import build_query, parse_filters
from retrieval.question.route import names_things
from retrieval.ranking.selection import Selection, select_evidence
from retrieval.retriever import Retriever
from schemas.edges import EdgeKind, LinkPosition
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Evidence, Origin
from schemas.nodes import Chunk
from schemas.records import to_record
from tests.fakes.governance import governance_documents, governance_index
from tests.fakes.memory_stores import MemoryAuthorityStore
from tests.fakes.small_index import AS_OF, GENERATION, SmallIndex, build_index, link, page, typed
from tests.fakes.wiki import FixedReranker


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    return governance_index()


def ask(index: SmallIndex, text: str, *, filters: Collection[str] = (), **options: Any) -> ContextBundle:
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    return retriever.retrieve(build_query(text, filters=parse_filters([*filters]), **options))


def paths(bundle: ContextBundle) -> list[str]:
    return [one.file_path or "" for one in bundle.evidence]


def of_file(bundle: ContextBundle, path: str) -> Evidence:
    return next(one for one in bundle.evidence if one.file_path == path)


def test_the_chunk_that_holds_the_words_comes_first(index: SmallIndex) -> None:
    best = ask(index, "unpack the base backup and replay the log").evidence[0]
    assert (best.S, best.file_path, best.section) == ("S1", "backup.md", "Restore")


def test_a_code_is_found_exactly_and_alone_routes_by_id(index: SmallIndex) -> None:
    for text, route in (("what is max_wal_size", "id"), ("how large may max_wal_size be", "plain")):
        bundle = ask(index, text)
        assert bundle.route == route
        assert bundle.evidence[0].section == "WAL size"


def test_a_code_like_word_that_is_no_document_does_not_route_by_id(index: SmallIndex) -> None:
    assert ask(index, "is UTF-8 supported").route == "plain"


def test_a_heading_as_the_whole_question_navigates(index: SmallIndex) -> None:
    bundle = ask(index, "cold STORAGE")
    assert bundle.route == "navigation"
    assert bundle.evidence[0].file_path == "storage.md"


def test_a_named_document_brings_its_typed_neighbours_of_both_directions(index: SmallIndex) -> None:
    bundle = ask(index, "What depends on GOV-0017?", top_k=5)
    assert bundle.route == "id"
    assert paths(bundle)[:2] == ["gov-0017.md", "gov-0017.md"]
    into, out = of_file(bundle, "adr-0031.md"), of_file(bundle, "prd-0008.md")
    assert [(step.kind, step.src, step.dst) for step in into.path] == [
        ("depends_on", into.doc, bundle.evidence[0].doc)
    ]
    assert [(step.kind, step.src, step.dst) for step in out.path] == [
        ("relates_to", bundle.evidence[0].doc, out.doc)
    ]
    assert {into.role, out.role} == {"bridge"}
    assert {into.source, out.source} <= {Origin.GRAPH, Origin.BOTH}


def test_the_code_prefix_names_documents_of_a_longer_id(index: SmallIndex) -> None:
    bundle = ask(index, "PRD-0008")
    assert (bundle.route, bundle.evidence[0].doc_id) == ("id", "PRD-0008-governance-pipeline")


def test_without_the_graph_no_neighbour_is_marked_and_nothing_is_degraded(index: SmallIndex) -> None:
    bundle = ask(index, "What depends on GOV-0017?", use_graph=False)
    assert bundle.degraded == ()
    assert bundle.evidence[0].doc_id == "GOV-0017"
    assert {one.source for one in bundle.evidence} == {Origin.VECTOR}
    assert all(one.scores.graph == 0 and one.path == () for one in bundle.evidence)


def test_a_failing_graph_degrades_the_answer_and_fails_nothing(index: SmallIndex) -> None:
    class LostGraph:
        """A graph whose server goes away after it was opened."""

        def __getattr__(self, name: str) -> GraphReader:
            raise StoreUnavailable("connection lost", subject="graph")

    retriever = Retriever(index.chunks, LostGraph(), index.encoder, generation=1, as_of=AS_OF)  # type: ignore[arg-type]
    bundle = retriever.retrieve(build_query("What depends on GOV-0017?"))
    assert bundle.degraded == ("graph",)
    assert bundle.evidence


def test_what_was_degraded_at_opening_is_said(index: SmallIndex) -> None:
    retriever = Retriever(index.chunks, None, index.encoder, generation=1, as_of=AS_OF, degraded=("graph",))
    assert retriever.retrieve(build_query("backup")).degraded == ("graph",)


def test_filters_hold_for_found_and_for_reached_chunks(index: SmallIndex) -> None:
    bundle = ask(index, "What depends on GOV-0017?", filters=["doc_type=adr"])
    assert set(paths(bundle)) == {"adr-0031.md"}
    assert ask(index, "GOV-0017", filters=["doc_type=nothing"]).evidence == ()


def linked_pages(
    *, position: LinkPosition, fragment: str | None = None
) -> tuple[SmallIndex, tuple[Chunk, ...]]:
    """A page about zebras that links to six others, in an index large enough for a search to miss them."""
    start = page("start", {"Zebra husbandry": "zebra zebra stripes grazing"})
    targets = [
        page(f"t{n}", {f"Topic {n}": f"alpha{n} beta{n}", "Deep": f"gamma{n} delta{n}"}) for n in range(6)
    ]
    noise = [page(f"n{n}", {f"Zebra note {n}": f"zebra number {n}"}) for n in range(30)]
    edges = [
        link(start[1][0], target[1][0], f"link {n}", position=position, fragment=fragment)
        for n, target in enumerate(targets)
    ]
    index = build_index([start, *targets, *noise], edges)
    return index, tuple(target[1][1] for target in targets)


def test_body_links_of_the_best_documents_reach_what_a_search_misses() -> None:
    index, _ = linked_pages(position=LinkPosition.BODY)
    bundle = ask(index, "grazing of Zebra stripes", top_k=50)
    reached = next(one for one in bundle.evidence if one.role == "bridge")
    assert reached.source is Origin.GRAPH
    assert reached.scores.graph > 0
    assert [step.kind for step in reached.path] == ["links_to"]
    assert (
        reached.score > ask(index, "grazing of Zebra stripes", top_k=50, use_graph=False).evidence[-1].score
    )


def test_a_link_gives_its_activation_to_the_section_it_names() -> None:
    index, deep = linked_pages(position=LinkPosition.BODY, fragment="deep")
    bundle = ask(index, "grazing of Zebra stripes", top_k=50)
    reached = {one.chunk_id for one in bundle.evidence if one.role == "bridge"}
    assert reached
    assert reached <= {chunk.id for chunk in deep}


def test_links_lead_on_from_what_a_question_names_and_nowhere_from_own_words() -> None:
    index, _ = linked_pages(position=LinkPosition.BODY)
    bundle = ask(index, "zebra stripes grazing", top_k=50)
    assert {one.role for one in bundle.evidence} == {"anchor", "rest"}
    assert any("names nothing" in note for note in bundle.diagnostics["notes"])


def test_navigation_links_do_not_spread() -> None:
    index, _ = linked_pages(position=LinkPosition.NAV)
    bundle = ask(index, "grazing of Zebra stripes", top_k=50)
    assert {one.role for one in bundle.evidence} == {"anchor", "rest"}
    assert any("too few links" in note for note in bundle.diagnostics["notes"])


def test_where_the_graph_leads_nowhere_new_it_changes_no_score() -> None:
    first, second = page("a", {"One": "zebra stripes"}), page("b", {"Two": "zebra alike"})
    index = build_index([first, second], [link(first[1][0], second[1][0], "two")])
    with_graph, without = ask(index, "a Zebra"), ask(index, "a Zebra", use_graph=False)
    assert any("too few links" in note for note in with_graph.diagnostics["notes"])
    assert [one.score for one in with_graph.evidence] == [one.score for one in without.evidence]


def test_every_typed_neighbour_of_a_named_hub_is_reached() -> None:
    hub = page("hub", {"Hub": "the hub"}, doc_id="GOV-0001")
    around = [page(f"p{n:02}", {f"Leaf {n}": f"leaf number {n}"}) for n in range(40)]
    index = build_index([hub, *around], [typed(EdgeKind.RELATES_TO, one[1][0], hub[1][0]) for one in around])
    assert ask(index, "GOV-0001", top_k=50).diagnostics["reached"] == 40
    lengthy = "our auditors keep asking month after month which leaves twigs and branches hang around here"
    asked = f"{lengthy} and what other pages somebody careful should open before signing off GOV-0001 again"
    assert not names_things(asked)
    assert ask(index, asked, top_k=50).diagnostics["reached"] == 40


def test_a_larger_top_k_only_appends(index: SmallIndex) -> None:
    long = [one.chunk_id for one in ask(index, "backup log", top_k=50).evidence]
    for top_k in (1, 3, 7):
        assert [one.chunk_id for one in ask(index, "backup log", top_k=top_k).evidence] == long[:top_k]


def test_the_order_of_rows_in_the_store_changes_nothing(index: SmallIndex) -> None:
    documents, edges = governance_documents()
    turned = build_index(documents[::-1], edges[::-1])
    for text in ("What depends on GOV-0017?", "backup log", "tape archive", "page 3"):
        assert dump(ask(turned, text)) == dump(ask(index, text))


def dump(bundle: ContextBundle) -> str:
    return json.dumps(to_record(bundle), sort_keys=True)


def test_a_pdf_passage_is_cited_by_page_and_box(index: SmallIndex) -> None:
    bundle = ask(index, "tape wear figure 2")
    assert bundle.route == "pdf-ish"
    pdf = of_file(bundle, "paper.pdf").pdf
    assert pdf is not None
    assert (pdf.file_id, pdf.bbox.x0, pdf.page_size.width) == ("paper.pdf", 72, 612)


def test_citations_repeat_what_the_evidence_says(index: SmallIndex) -> None:
    bundle = ask(index, "backup log")
    assert [one.S for one in bundle.evidence] == [f"S{n}" for n in range(1, len(bundle.evidence) + 1)]
    assert [(one.S, one.chunk_id, one.fragment) for one in bundle.citations] == [
        (one.S, one.chunk_id, one.fragment) for one in bundle.evidence
    ]


def test_summaries_name_the_parents_of_the_evidence_with_their_gist(index: SmallIndex) -> None:
    bundle = ask(index, "What depends on GOV-0017?", top_k=3)
    first = bundle.summaries[0]
    assert first.node == bundle.evidence[0].doc
    assert first.breadcrumbs == ("Manual", "Retention policy")
    assert first.gist == "Records are kept for seven years."


def test_a_pdf_is_summarised_with_the_page_of_its_best_passage(index: SmallIndex) -> None:
    bundle = ask(index, "tape wear figure 2", top_k=1)
    document, page_ = bundle.summaries
    assert document.node == bundle.evidence[0].doc
    assert page_.node.startswith("pdfpage:")
    assert page_.breadcrumbs == (*document.breadcrumbs, "p. 3")
    assert page_.gist == "Figure 2 shows tape wear over ten years."


def test_the_budget_cuts_texts_and_their_offsets(index: SmallIndex) -> None:
    words = " ".join(f"Sentence {n} is here." for n in range(60))
    long = build_index([page("long", {"Long": words})], [])
    best = ask(long, "sentence", token_budget=40).evidence[0]
    assert best.text.endswith(".")
    assert len(best.text) < len(words)
    assert words[best.offsets[0] : best.offsets[1]] == best.text


def test_rerank_without_a_reranker_is_said_and_changes_nothing(index: SmallIndex) -> None:
    plain, asked = ask(index, "backup"), ask(index, "backup", rerank=True)
    assert asked.degraded == ("rerank",)
    assert replace(asked, diagnostics={}, degraded=()) == replace(plain, diagnostics={})
    assert any("rerank" in note for note in asked.diagnostics["notes"])


@pytest.mark.parametrize(
    ("text", "rerank", "kinds"),
    [
        ("backup log tape", True, {"page", "pdfdoc"}),
        ("backup log tape", False, {"pdfdoc"}),
        ("GOV-0017", True, set()),
    ],
)
def test_what_is_nearest_has_places_of_its_own_in_pdfs_and_beside_a_cross_encoder_s(
    index: SmallIndex, monkeypatch: pytest.MonkeyPatch, text: str, rerank: bool, kinds: set[str]
) -> None:
    seen: list[Collection[str]] = []

    def spy(*args: Any, nearest: Sequence[str], **options: Any) -> Selection:
        seen.append(nearest)
        return select_evidence(*args, nearest=nearest, **options)

    monkeypatch.setattr("retrieval.retriever.select_evidence", spy)
    retriever = Retriever(
        index.chunks, None, index.encoder, generation=GENERATION, as_of=AS_OF, reranker=FixedReranker(1.0)
    )
    retriever.retrieve(build_query(text, rerank=rerank))
    assert {chunk.doc.partition(":")[0] for chunk in index.chunks.get(*seen)} == kinds


@pytest.mark.parametrize(("wanted", "judged"), [(None, True), (True, True), (False, False)])
def test_who_leaves_it_open_gets_what_is_there(index: SmallIndex, wanted: bool | None, judged: bool) -> None:
    judge = FixedReranker(1.0)
    retriever = Retriever(
        index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF, reranker=judge
    )
    result = retriever.walk(build_query("backup", rerank=wanted))
    assert result.query.rerank is judged
    assert any(one.logit is not None for one in result.candidates) is judged
    assert ask(index, "backup", rerank=None).degraded == ()


def test_the_score_is_the_blend_of_its_parts(index: SmallIndex) -> None:
    for one in ask(index, "backup log tape").evidence:
        parts = one.scores
        blend = 0.5 * parts.text + 0.25 * parts.graph + 0.15 * parts.anchor + 0.05 * parts.authority
        assert one.score == pytest.approx(blend + 0.05 * parts.freshness, abs=1e-6)


def test_what_links_and_clicks_say_of_a_document_counts_a_twentieth(index: SmallIndex) -> None:
    plain = {one.chunk_id: one for one in ask(index, "backup log tape", top_k=50).evidence}
    docs = sorted({one.doc for one in plain.values()})
    values = {doc: round(1 / number, 6) for number, doc in enumerate(docs[1:], 1)}
    authority = MemoryAuthorityStore()
    authority.put(GENERATION, values)
    retriever = Retriever(
        index.chunks,
        index.graph,
        index.encoder,
        generation=GENERATION,
        as_of=AS_OF,
        authority=authority.at(GENERATION),
    )

    weighed = retriever.retrieve(build_query("backup log tape", top_k=50)).evidence

    assert {one.scores.authority for one in plain.values()} == {0.0}
    assert {one.doc: one.scores.authority for one in weighed} == {docs[0]: 0.0, **values}
    for one in weighed:
        gained = one.score - plain[one.chunk_id].score
        assert gained == pytest.approx(0.05 * values.get(one.doc, 0.0), abs=2e-6)


@pytest.mark.parametrize(
    "text", ['"unbalanced', "a AND (b", "*", "🙂", "text:x^2 ~", "' OR 1=1 --", "\x00", "-", "."]
)
def test_any_text_is_a_question(index: SmallIndex, text: str) -> None:
    assert ask(index, text).query == text.strip()


def test_an_empty_index_gives_an_empty_bundle() -> None:
    bundle = ask(build_index([], []), "anything")
    assert (bundle.evidence, bundle.citations, bundle.summaries) == ((), (), ())
