"""The wiki before the graph: when a page answers, when it does not, and what is said of it then."""

import json
from pathlib import Path

import pytest

from retrieval.wiki.ask import NO_GRAPH, NOT_ASKED
from retrieval.wiki.page import PageStatus
from schemas.errors import StoreUnavailable
from tests.fakes.wiki import (
    LATER,
    QUESTION,
    STORAGE,
    Desk,
    FixedReranker,
    desk_at,
    hand_page,
    people_index,
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty wiki before three pages."""
    return desk_at(tmp_path, people_index())


@pytest.fixture
def filed(desk: Desk) -> Desk:
    """The same with the answer to the question filed."""
    said = ("The lease daemon is maintained by the Platform Group.", desk.chunk("maintained by"))
    evidence = desk.ask(QUESTION).evidence
    assert desk.file(QUESTION, said, evidence=evidence).written
    return desk


def test_the_wiki_is_always_asked_before_the_graph_which_a_sufficient_page_leaves_untouched(
    filed: Desk,
) -> None:
    found = filed.ask(graph=filed.untouchable)
    assert found.text == "The lease daemon is maintained by the Platform Group. [S1]"
    assert found.to_record()["answered_from"] == "wiki"
    assert found.to_record()["evidence_chain"] == NOT_ASKED


def test_an_answer_from_the_wiki_always_cites_the_page_and_its_chunks(filed: Desk) -> None:
    record = filed.ask(graph=filed.untouchable).to_record()
    chunk = filed.chunk("maintained by")
    (reference,) = [one for one in record["wiki_references"] if one["sufficient"]]
    assert (reference["category"], reference["slug"]) == ("topic", "who-maintains-the-lease-daemon")
    assert reference["rests_on"] == [chunk.id]
    assert [(one["S"], one["chunk_id"]) for one in record["citations"]] == [("S1", chunk.id)]
    (document,) = record["supporting_documents"]
    assert document["supporting_chunks"] == [{"chunk_id": chunk.id, "text": chunk.text}]


def test_labels_of_a_page_mean_the_passages_it_rests_on_whatever_the_budget(desk: Desk) -> None:
    query = "Who maintains the lease daemon and where is that group based?"
    where, who = desk.chunk("based in"), desk.chunk("maintained by")
    sentences = (
        ("That group is based in the Oxford Site.", where),
        ("The lease daemon is maintained by the Platform Group.", who),
    )
    assert desk.file(query, *sentences).written
    found = desk.ask(query, graph=desk.untouchable, token_budget=16)
    assert [(one.S, one.text) for one in found.bundle.evidence] == [("S1", where.text), ("S2", who.text)]


def test_an_empty_wiki_leads_to_the_graph(desk: Desk) -> None:
    found = desk.ask("How is the Lease Daemon connected to the Oxford Site?")
    assert (found.page, found.text, found.verdicts) == (None, "", ())
    assert found.evidence is not None
    chain = "Lease Daemon --[is maintained by]--> Platform Group --[is based in]--> Oxford Site"
    assert found.evidence.chain_line == chain
    said = [desk.chunk("maintained by").id, desk.chunk("based in").id]
    assert [one.chunk_id for one in found.bundle.evidence][:2] == said
    assert found.to_record()["answered_from"] == "graph"


def test_a_page_whose_passage_changed_is_never_trusted_and_says_so(filed: Desk) -> None:
    changed = filed.over(people_index(maintainer=STORAGE))
    found = changed.ask(now=LATER)
    assert found.page is None
    (verdict,) = found.verdicts
    assert verdict.reasons == ("stale: 1 of 1 passages that it rests on changed",)
    (page,) = changed.wiki.list().pages
    assert (page.status, page.status_since) == (PageStatus.STALE, LATER)


def test_a_stale_page_is_not_trusted_until_it_is_rebuilt(filed: Desk) -> None:
    changed = filed.over(people_index(maintainer=STORAGE))
    said = ("The lease daemon is maintained by the Storage Group.", changed.chunk("maintained by"))
    assert changed.ask().page is None
    rebuilt = changed.file(QUESTION, said, now=LATER)
    assert rebuilt.written
    assert changed.ask(graph=changed.untouchable).text.startswith(
        "The lease daemon is maintained by the Storage"
    )
    assert len(changed.wiki.list().pages) == 1


def test_a_page_that_rests_on_no_passage_is_shown_and_never_an_answer(desk: Desk) -> None:
    desk.wiki.write(hand_page(QUESTION, "The lease daemon: ask Zoe, she maintains it."))
    found = desk.ask()
    assert found.page is None
    assert [one.reasons for one in found.verdicts] == [("it rests on no passage of the index",)]
    assert found.to_record()["wiki_references"][0]["slug"] == "by-hand"


def test_a_question_whose_words_the_page_covers_too_little_goes_to_the_graph(filed: Desk) -> None:
    found = filed.ask("Who maintains the lease daemon while the cellar is flooded?")
    assert found.evidence is not None
    assert "of the question's words" in found.verdicts[0].reasons[0]


def test_a_page_that_holds_the_words_and_answers_another_question_does_not_do(filed: Desk) -> None:
    found = filed.ask("What is the daemon?")
    assert found.verdicts[0].coverage == 1
    assert found.verdicts[0].reasons == ("it is about something else, as far as words tell",)


@pytest.mark.parametrize(("logit", "answers"), [(3.0, True), (2.9, False)])
def test_with_a_cross_encoder_the_best_section_must_reach_a_logit_of_three(
    filed: Desk, logit: float, answers: bool
) -> None:
    reranker = FixedReranker(logit)
    found = filed.ask(reranker=reranker)
    assert (found.page is not None) is answers
    assert found.verdicts[0].logit == logit
    assert reranker.asked == ["The lease daemon is maintained by the Platform Group."]


def test_a_question_of_the_same_words_in_another_order_is_another_question(desk: Desk) -> None:
    chunk, words = desk.chunk("maintained by"), "Who is the keeper of the warden of leases?"
    assert desk.file(words, ("The keeper of the warden of leases is Bob.", chunk)).written
    assert desk.ask(words).page is not None
    for other in (
        "Who is the warden of the keeper of leases?",
        "Who is the warden of the warden's keeper of leases",
    ):
        for reranker in (None, FixedReranker(9)):
            found = desk.ask(other, reranker=reranker)
            assert "it answers these words in another order" in found.verdicts[0].reasons
        assert desk.file(other, ("The warden of the keeper of leases is Eve.", chunk)).written


def test_a_graph_that_goes_away_degrades_the_answer_and_fails_nothing(desk: Desk) -> None:
    class Gone:
        def __getattr__(self, name: str) -> object:
            raise StoreUnavailable("cannot be reached", subject="graph")

    for graph in (None, Gone()):
        found = desk.ask(graph=graph)
        assert found.bundle.degraded == ("graph",)
        assert [one.chunk_id for one in found.bundle.evidence][:1] == [desk.chunk("maintained by").id]
        assert found.to_record()["evidence_chain"] == NO_GRAPH


def test_new_evidence_that_contradicts_a_page_is_flagged_in_the_answer_and_on_the_page_and_both_are_kept(
    filed: Desk,
) -> None:
    kept = filed.chunk("maintained by")
    changed = filed.over(people_index(disputed=True))
    found = changed.ask("Where is the Storage Group and its Lease Daemon?")
    (flag,) = found.contradictions["topic/who-maintains-the-lease-daemon"]
    assert (flag.object, flag.other) == ("Platform Group", "Storage Group")
    (page,) = changed.wiki.list().pages
    assert (page.status, page.contradictions) == (PageStatus.CONTRADICTED, (flag,))
    assert "maintained by the Platform Group" in page.body
    assert {kept.id, flag.chunk} <= {chunk.id for chunk in found.evidence.chunks}  # type: ignore[union-attr]
    again = changed.ask()
    assert again.page is None
    assert again.verdicts[0].reasons == (f"contradicted: {flag.line}",)


def test_a_broken_page_is_a_problem_in_the_answer_and_never_an_error(filed: Desk) -> None:
    (filed.wiki.folder / "topic" / "broken.md").write_text("no front matter")
    found = filed.ask(graph=filed.untouchable)
    assert [one.path for one in found.problems] == ["topic/broken.md"]
    assert found.page is not None


def test_equal_wiki_index_and_question_give_equal_bytes(filed: Desk) -> None:
    for query in (QUESTION, "How is the Lease Daemon connected to the Oxford Site?"):
        assert filed.ask(query).to_record() == filed.ask(query).to_record()


def test_the_record_has_the_keys_of_query_with_evidence(filed: Desk) -> None:
    keys = {"query", "subgraph", "supporting_documents", "evidence_chain", "wiki_references"}
    for query in (QUESTION, "Where is the Oxford Site?", "xyzzy"):
        record = filed.ask(query).to_record()
        assert keys <= record.keys()
        assert set(record["subgraph"]) == {"nodes", "edges"}
        assert json.loads(json.dumps(record)) == record
        for document in record["supporting_documents"]:
            assert set(document) == {"doc_id", "doc_title", "supporting_chunks"}
            assert all(set(one) == {"chunk_id", "text"} for one in document["supporting_chunks"])
