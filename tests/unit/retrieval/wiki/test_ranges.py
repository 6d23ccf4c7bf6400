"""The set that a question ranges over, and what becomes of an answer when it changes."""

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.wiki.check import check_wiki
from retrieval.wiki.filing import Filing
from retrieval.wiki.page import PageStatus
from retrieval.wiki.store import Wiki
from retrieval.wiki.sufficiency import leaves_out
from retrieval.wiki.trust import asks_for_set, kinds_asked, sets_of
from schemas.edges import EdgeKind
from schemas.nodes import Page
from tests.fakes.small_index import Document, SmallIndex, build_index, page, typed
from tests.fakes.wiki import LATER, Desk, desk_at

QUESTION = "What depends on GOV-0017?"
NOTE = "It depends on GOV-0017."


def governance(*dependents: str, indirect: str = "", guides: tuple[str, ...] = ()) -> SmallIndex:
    """A policy, decisions that depend on it, one that depends on the first of these, and guides."""
    policy = page("gov-0017", {"Retention": "Records are kept."}, doc_id="GOV-0017")
    adrs = [page(name, {name.upper(): NOTE.replace("It", name.upper())}) for name in dependents]
    far = [page(indirect, {indirect.upper(): "It depends on another."})] if indirect else []
    others = [page(name, {name: f"A guide to {name}."}, doc_type="guide") for name in guides]
    edges = [typed(EdgeKind.DEPENDS_ON, one[1][0], policy[1][0]) for one in adrs]
    edges += [typed(EdgeKind.DEPENDS_ON, one[1][0], adrs[0][1][0]) for one in far]
    return build_index([_typed_page(one) for one in (policy, *adrs, *far, *others)], edges)


def _typed_page(document: Document) -> Document:
    nodes, chunks = document
    first = nodes[0]
    assert isinstance(first, Page)
    first = replace(first, doc_type=chunks[0].doc_type, doc_id=chunks[0].doc_id)
    return (first, *nodes[1:]), chunks


def file(desk: Desk, *dependents: str, query: str = QUESTION) -> Filing:
    said = [(NOTE.replace("It", name.upper()), desk.chunk(name.upper())) for name in dependents]
    return desk.file(query, *said, evidence=desk.ask(query).evidence, graph=desk.index.graph)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A wiki before a policy on which one decision depends."""
    return desk_at(tmp_path, governance("adr-0031"))


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What depends on GOV-0017?", True),
        ("Which policies supersede GOV-0017?", True),
        ("How are GOV-0099 and ADR-0042 related?", True),
        ("Which pages mention leases?", True),
        ("List all documents on tapes.", True),
        ("What is a lease?", False),
        ("How do I replace a tape?", False),
        ("Who maintains the lease daemon?", False),
    ],
)
def test_relations_and_lists_of_documents_are_sets(question: str, asks: bool) -> None:
    assert asks_for_set(question) is asks


def test_a_question_names_the_kinds_of_edges_that_it_ranges_over() -> None:
    assert kinds_asked("What depends on X?") == {EdgeKind.DEPENDS_ON, EdgeKind.RELATED}
    assert kinds_asked("What is X?") == frozenset()


def test_what_a_filed_answer_ranges_over_stands_on_its_page_and_is_read_back(desk: Desk) -> None:
    page_ = file(desk, "adr-0031").page
    assert page_ is not None
    (found,) = [one for one in page_.ranges_over if one.count == "1"]
    assert (found.kinds, found.name, len(found.sha256)) == ("depends_on, related", "Retention", 64)
    assert desk.wiki.list().pages == (page_,)
    assert desk.ask(QUESTION).page == page_


@pytest.mark.parametrize(
    "changed", [governance("adr-0031", "adr-0042"), governance(), governance("adr-0031", indirect="adr-0099")]
)
def test_what_joins_or_leaves_the_set_makes_the_answer_stale_although_its_passages_are_as_they_were(
    desk: Desk, changed: SmallIndex
) -> None:
    assert file(desk, "adr-0031").written
    after = desk.over(changed)
    found = after.ask(QUESTION, now=LATER)
    assert found.page is None
    assert any("edges (depends_on, related) of Retention: 1 then" in one for one in found.verdicts[0].reasons)
    (page_,) = after.wiki.list().pages
    assert (page_.status, page_.status_since) == (PageStatus.STALE, LATER)
    (looked,), _ = check_wiki(after.wiki, after.index.chunks, after.index.graph, now=LATER)
    assert looked.to_record()["moved_sets"]


def test_a_set_that_changed_back_makes_the_page_current_again(desk: Desk) -> None:
    assert file(desk, "adr-0031").written
    assert desk.over(governance("adr-0031", "adr-0042")).ask(QUESTION).page is None
    assert desk.ask(QUESTION).page is not None


def test_a_stale_answer_is_rebuilt_in_its_place_with_its_new_set(desk: Desk) -> None:
    file(desk, "adr-0031")
    after = desk.over(governance("adr-0031", "adr-0042"))
    assert file(after, "adr-0031", "adr-0042").written
    (page_,) = after.wiki.list().pages
    assert "2" in {one.count for one in page_.ranges_over}
    assert after.ask(QUESTION).page == page_


def test_a_list_that_leaves_one_out_is_not_filed(tmp_path: Path) -> None:
    desk = desk_at(tmp_path, governance("adr-0031", "adr-0042"))
    assert file(desk, "adr-0031").reason == "it leaves out ADR-0042"


def test_another_document_of_the_type_that_is_asked_for_makes_a_list_stale_and_one_of_another_type_does_not(
    tmp_path: Path,
) -> None:
    query, bells = "Which guides speak of bells?", governance(guides=("bells",))
    desk = desk_at(tmp_path, bells)
    said = ("The guide to bells.", desk.chunk("A guide to bells"))
    filing = desk.file(query, said, evidence=desk.ask(query).evidence, graph=bells.graph)
    assert filing.page is not None
    assert [one.documents for one in filing.page.ranges_over] == ["doc_type=guide"]
    assert desk.over(governance("adr-0031", guides=("bells",))).ask(query).page is not None
    more = desk.over(governance(guides=("bells", "coal"))).ask(query)
    assert more.page is None
    assert "stale: documents (doc_type=guide): 1 then, 2 now" in more.verdicts[0].reasons


def test_without_a_graph_nothing_tells_whether_the_set_is_as_it_was(desk: Desk) -> None:
    file(desk, "adr-0031")
    found = desk.ask(QUESTION, graph=None)
    assert found.page is None
    assert "the set that it ranges over cannot be read, which takes the graph" in found.verdicts[0].reasons
    (page_,) = desk.wiki.list().pages
    assert page_.status is PageStatus.CURRENT
    desk.over(governance("adr-0031", "adr-0042")).ask(QUESTION)
    desk.ask(QUESTION, graph=None)
    assert desk.wiki.list().pages[0].status is PageStatus.STALE


def test_an_answer_that_is_a_set_is_not_filed_where_the_set_is_not_known(desk: Desk) -> None:
    said = (NOTE, desk.chunk("ADR-0031"))
    assert desk.file(QUESTION, said).reason == "the set that it ranges over is not known"
    assert not desk.wiki.folder.exists()


def test_a_page_that_was_filed_without_its_set_is_stale_and_is_rebuilt(desk: Desk) -> None:
    file(desk, "adr-0031")
    (file_,) = (desk.wiki.folder / "topic").iterdir()
    text = file_.read_text()
    begin, end = text.index("ranges_over:"), text.index("filed_sha256:")
    file_.write_text(text[:begin] + text[end:])
    assert (
        "stale: filed without the set that its question ranges over" in desk.ask(QUESTION).verdicts[0].reasons
    )
    assert file(desk, "adr-0031").written
    assert desk.ask(QUESTION).page is not None


def test_an_index_without_what_a_question_names_has_no_set(desk: Desk) -> None:
    assert sets_of(QUESTION, ["page:gone"], desk.index.graph) == ()
    assert Wiki(desk.wiki.folder).list().pages == ()


@pytest.mark.parametrize(
    ("question", "named", "left_out"),
    [
        ("What depends on GOV-0017?", "ADR-0031 and ADR-0044", ""),
        ("What depends on GOV-0017?", "ADR-0031", "ADR-0044"),
        ("What depends on GOV-0017?", "LAW-0002", "ADR-0031, ADR-0044"),
        ("What does GOV-0017 depend on?", "LAW-0002", ""),
        ("What does GOV-0017 depend on?", "ADR-0031 and ADR-0044", "LAW-0002"),
    ],
)
def test_a_list_is_compared_with_the_edges_of_the_way_that_is_asked_for(
    question: str, named: str, left_out: str
) -> None:
    names = ("gov-0017", "adr-0031", "adr-0044", "law-0002")
    policy, *adrs, law = (_typed_page(page(one, {one.upper(): "Text."}, doc_id=one.upper())) for one in names)
    edges = [typed(EdgeKind.DEPENDS_ON, one[1][0], policy[1][0]) for one in adrs]
    edges.append(typed(EdgeKind.DEPENDS_ON, policy[1][0], law[1][0]))
    graph = build_index([policy, *adrs, law], edges).graph
    found = leaves_out(question, [f"It is {named}."], [policy[0][0].id], graph)
    assert found == (left_out and f"it leaves out {left_out}")
