"""The bench of questions: its files, what counts as found, and what an answer is worth."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.questions.answers import COMPLETE, INVENTED, PARTIAL, RIGHTLY, WRONG, WRONGLY, judge
from bench.questions.asking import measure
from bench.questions.baselines import by_rank, by_share, fuse
from bench.questions.checking import check_gold
from bench.questions.documents import SETS, unpack_documents
from bench.questions.gold import Passage, found_entries, holds, opens_right, passage_of
from bench.questions.league import measure_pages, page_questions, pages_of
from bench.questions.question_files import (
    ASKED_SETS,
    KINDS,
    AskedQuestion,
    BadQuestionFile,
    Entry,
    load_questions,
)
from schemas.evidence import Hit
from schemas.nodes import BBox
from tests.fakes.real_sites import DATA

QUESTION = AskedQuestion(
    id="manual-lookup-1",
    kind="lookup",
    number=1,
    text="How long does a lease last?",
    entries=(Entry("config.html#LEASE", ("config.html#all",)),),
    facts=(("ninety seconds", "90 s"), ("LEASE_TTL",)),
)


def web(path: str, fragment: str | None = None, *fragments: str, text: str = "") -> Passage:
    return passage_of(
        url=f"http://127.0.0.1:1/{path}", file_path=None, fragment=fragment, fragments=fragments, text=text
    )


@pytest.mark.parametrize("name", ASKED_SETS)
def test_each_set_asks_every_kind_and_half_of_it_is_held_out(name: str) -> None:
    questions = load_questions(name)
    assert {one.kind for one in questions} == set(KINDS)
    assert len(questions) >= 40
    assert 0.4 <= sum(one.held_out for one in questions) / len(questions) <= 0.6


@pytest.mark.data
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", [name for name in ASKED_SETS if SETS[name].archive])
def test_every_gold_place_exists_and_the_facts_stand_there(name: str, tmp_path: Path) -> None:
    if not DATA.is_dir():
        pytest.skip(f"no documents: {DATA} is not there")
    assert not list(check_gold(name, unpack_documents(name, cache=tmp_path)))


def test_a_page_counts_once_and_by_any_of_its_names() -> None:
    pages = pages_of([web("a.html", "x"), web("config.html", "y"), web("a.html", "z")])
    assert pages == [frozenset({"a.html"}), frozenset({"config.html"})]
    (ours,) = page_questions("manual", [QUESTION])
    assert measure_pages(ours, pages) == {"MRR": 0.5, "hit@1": 0.0, "hit@5": 1.0, "hit@10": 1.0}
    assert measure_pages(ours, pages[:1])["MRR"] == 0.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- id: x-howto-1", "question is empty"),
        ("- {id: x-poem-1, question: Q}", "an id is x-KIND-NUMBER"),
        ("- {id: x-howto-1, question: Q, entries: [], facts: []}", "go with every kind"),
        ("- {id: x-howto-1, question: Q, entries: [{at: page}], facts: [[a]]}", "a place is"),
        ("- {id: x-unanswerable-1, question: Q, entries: [], facts: []}", "why"),
        ("- {id: x-howto-1, question: Q, entires: []}", "unknown key 'entires'"),
        ("{}", "a list of questions"),
    ],
)
def test_a_broken_question_file_is_refused_with_the_place(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(BadQuestionFile, match=says):
        load_questions("x", folder=tmp_path)


def test_a_passage_stands_at_its_own_fragment_at_those_inside_it_and_on_its_page() -> None:
    inside = web("config.html", "first", "LEASE")
    elsewhere = web("config.html", "other")
    assert found_entries([elsewhere, inside], QUESTION) == (2,)
    assert found_entries([web("")], QUESTION) == (None,)
    assert web("").places == {"index.html"}


def test_a_passage_at_an_anchor_inside_a_section_stands_in_that_section() -> None:
    passage = passage_of(
        url="http://127.0.0.1:1/a.html",
        file_path=None,
        fragment="id2",
        fragments=(),
        text="",
        section="scope",
    )
    assert passage.opens == {"a.html", "a.html#id2", "a.html#scope"}
    assert passage.places == {"a.html", "a.html#id2", "a.html#scope"}
    inside = replace(QUESTION, entries=(Entry(at="a.html#scope"),))
    assert opens_right([passage], inside, inside.entries[0], under=None)


def test_a_passage_stands_where_one_that_is_equal_to_it_does() -> None:
    here, there = web("manual.html", "def_x"), web("glossary.html", "def_x")
    assert here.also_at(there).places == here.places | there.places
    asked = replace(QUESTION, entries=(Entry(at="glossary.html#def_x"),))
    assert found_entries([here], asked) == (None,)
    assert found_entries([here.also_at(there)], asked) == (1,)


def test_a_passage_of_a_pdf_stands_on_its_page() -> None:
    passage = passage_of(
        url=None,
        file_path="a/manual.pdf",
        fragment=None,
        fragments=(),
        text="",
        page_no=7,
        box=BBox(0, 0, 1, 1),
    )
    assert passage.places == {"manual.pdf#page=7"}


def test_a_citation_that_opens_at_an_earlier_entry_is_a_hit_that_opens_wrong() -> None:
    figures = measure(QUESTION, [web("config.html", "first", "LEASE", text="LEASE_TTL")])
    assert (figures["hit@1"], figures["opens"], figures["says"]) == (1.0, 0.0, 1.0)
    assert measure(QUESTION, [web("config.html", "LEASE")])["opens"] == 1.0


def test_a_box_is_right_where_the_words_under_it_hold_a_fact() -> None:
    question = AskedQuestion(
        id="m-lookup-1",
        kind="lookup",
        number=1,
        text="?",
        entries=(Entry("m.pdf#page=2"),),
        facts=(("LEASE_TTL",),),
    )
    found = Passage(
        places=frozenset({"m.pdf#page=2"}),
        opens=frozenset({"m.pdf#page=2"}),
        text="",
        box=(2, BBox(0, 0, 9, 9)),
    )
    assert measure(question, [found], under=lambda page, box: "LEASE_TTL is")["opens"] == 1.0
    assert measure(question, [found], under=lambda page, box: "something else")["opens"] == 0.0


def test_recall_counts_the_share_of_entries_and_a_hit_one_of_them() -> None:
    both = AskedQuestion(
        id="m-relation-1",
        kind="relation",
        number=1,
        text="?",
        entries=(Entry("a.html"), Entry("b.html")),
        facts=(("x",),),
    )
    figures = measure(both, [web("c.html"), web("a.html")])
    assert (figures["hit@1"], figures["hit@3"], figures["R@3"], figures["all@10"]) == (0.0, 1.0, 0.5, 0.0)


def test_facts_are_whole_words_whatever_case_spaces_and_quotes() -> None:
    assert holds("It’s  kept\nninety Seconds.", ("ninety seconds",))
    assert holds("with -h, it", ("-h",))
    assert not holds("with --help", ("-h",))
    assert not holds("1900 s", ("90 s",))


@pytest.mark.parametrize(
    ("said", "cited", "verdict"),
    [
        ("LEASE_TTL is 90 s.", [], COMPLETE),
        ("LEASE_TTL is long.", [], PARTIAL),
        ("See there.", [web("config.html", "LEASE")], PARTIAL),
        ("Two minutes.", [web("other.html")], WRONG),
        (None, [], WRONGLY),
    ],
)
def test_an_answer_is_worth_the_facts_it_holds_and_the_place_it_cites(
    said: str | None, cited: list[Passage], verdict: str
) -> None:
    assert judge(QUESTION, said, cited) == verdict


def test_a_question_without_an_answer_is_rightly_not_found() -> None:
    nothing = AskedQuestion(
        id="m-unanswerable-1", kind="unanswerable", number=1, text="?", entries=(), facts=()
    )
    assert judge(nothing, None, []) == RIGHTLY
    assert judge(nothing, "Surely.", []) == INVENTED


def test_baselines_fuse_by_rank_and_by_share() -> None:
    words = [Hit("a", "d", 10.0), Hit("b", "d", 1.0)]
    sense = [Hit("b", "d", 0.9), Hit("c", "d", 0.8)]
    assert fuse([by_rank(words), by_rank(sense)])[0] == "b"
    assert fuse([by_share(words), by_share(sense)]) == ["b", "a", "c"]
