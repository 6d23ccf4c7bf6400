"""When a page may be trusted."""

from dataclasses import replace

import pytest

from retrieval.wiki.page import Contradiction, Fact, PageStatus
from retrieval.wiki.trust import SINGLE_VALUED, contradict, current_hashes, said_by, single, weigh_pages
from tests.fakes.wiki import hand_page, people_index


def fact(object_: str, predicate: str = "is maintained by", subject: str = "Daemon", **ids: str) -> Fact:
    return Fact(subject=subject, predicate=predicate, object=object_, **ids)


def test_a_page_is_stale_exactly_if_a_passage_that_it_rests_on_is_gone_or_another() -> None:
    page = hand_page("A", "x", rests_on={"chunk:a": "1", "chunk:b": "2"})
    for hashes, stale in [
        ({"chunk:a": "1", "chunk:b": "2", "chunk:c": "9"}, ()),
        ({"chunk:a": "1", "chunk:b": "3"}, ("chunk:b",)),
        ({"chunk:b": "2"}, ("chunk:a",)),
        ({}, ("chunk:a", "chunk:b")),
    ]:
        trust = weigh_pages([page], hashes)[page.ref]
        assert trust.stale == stale
        assert trust.status is (PageStatus.STALE if stale else PageStatus.CURRENT)


def test_all_hashes_of_a_wiki_are_asked_for_in_one_call() -> None:
    index = people_index()
    one, other = (hand_page("A", "x", rests_on={row.id: row.content_hash}) for row in index.rows[:2])
    calls = []

    class Counting:
        def get(self, ids: list[str]) -> object:
            calls.append(ids)
            return index.chunks.get(ids)

    hashes = current_hashes(Counting(), [one, other])  # type: ignore[arg-type]
    assert hashes == {**one.rests_on, **other.rests_on}
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("predicate", "bare"),
    [
        ("is maintained by", "maintained by"),
        ("was born in", "born in"),
        ("Based in", "based in"),
        ("owner", "owner"),
    ],
)
def test_a_predicate_of_one_value_is_known_without_its_auxiliaries(predicate: str, bare: str) -> None:
    assert single(predicate) == bare
    assert bare in SINGLE_VALUED


@pytest.mark.parametrize("predicate", ["uses", "depends on", "is author of", "links_to", ""])
def test_a_predicate_that_may_have_several_values_contradicts_nothing(predicate: str) -> None:
    assert contradict([fact("A", predicate)], said_by([("", fact("B", predicate))])) == ()


def test_the_same_subject_and_single_valued_predicate_with_another_object_contradict() -> None:
    said = said_by([("", fact("Storage", "was maintained by", "daemon", chunk="chunk:x"))])
    (found,) = contradict([fact("Platform")], said)
    assert found == Contradiction(
        subject="Daemon", predicate="is maintained by", object="Platform", other="Storage", chunk="chunk:x"
    )
    assert found.line == "Daemon is maintained by Platform here, Storage in chunk:x"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (fact("Platform"), fact("PLATFORM ")),
        (fact("Platform", object_id="entity:p"), fact("The platform group", object_id="entity:p")),
        (fact("Platform", subject_id="entity:1"), fact("Storage", subject_id="entity:2")),
        (fact("Platform", subject="Daemon"), fact("Storage", subject="Other daemon")),
    ],
)
def test_equal_objects_and_other_subjects_do_not_contradict(one: Fact, other: Fact) -> None:
    assert contradict([one], said_by([("", other)])) == ()


def test_two_current_pages_contradict_each_other_and_a_stale_one_does_not() -> None:
    one = hand_page("A", "x", slug="a", rests_on={"chunk:a": "1"}, facts=(fact("Platform"),))
    other = hand_page("B", "x", slug="b", rests_on={"chunk:b": "2"}, facts=(fact("Storage"),))
    both = weigh_pages([one, other], {"chunk:a": "1", "chunk:b": "2"})
    assert [trust.contradictions[0].page for trust in both.values()] == ["topic/b", "topic/a"]
    assert {trust.status for trust in both.values()} == {PageStatus.CONTRADICTED}
    late = weigh_pages([one, other], {"chunk:a": "1", "chunk:b": "new"})
    assert late["topic/a"].status is PageStatus.CURRENT
    assert late["topic/b"].status is PageStatus.STALE


def test_a_flagged_contradiction_is_open_while_the_passage_that_says_otherwise_is_there() -> None:
    flag = Contradiction(subject="D", predicate="owner", object="P", other="S", chunk="chunk:x")
    page = hand_page("A", "x", contradictions=(flag,), facts=(fact("P", "owner", "D"),))
    assert weigh_pages([page], {"chunk:x": "1"})[page.ref].contradictions == (flag,)
    assert weigh_pages([page], {})[page.ref].status is PageStatus.CURRENT
    assert replace(page, contradictions=()).status is PageStatus.CURRENT


def test_a_person_settles_a_contradiction_by_mending_the_facts() -> None:
    flag = Contradiction(subject="D", predicate="owner", object="P", other="S", chunk="chunk:x")
    page = hand_page("A", "x", contradictions=(flag,), rests_on={"chunk:x": "1"})
    for facts in ((fact("S", "owner", "D"),), ()):
        trust = weigh_pages([replace(page, facts=facts)], {"chunk:x": "1"})
        assert trust[page.ref].status is PageStatus.CURRENT
