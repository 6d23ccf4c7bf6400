"""Every page of a wiki held against the index."""

from pathlib import Path

from retrieval.wiki.check import check_wiki
from retrieval.wiki.page import PageStatus
from tests.fakes.wiki import LATER, NOW, QUESTION, STORAGE, desk_at, hand_page, people_index


def test_a_changed_passage_makes_exactly_the_pages_that_rest_on_it_stale(tmp_path: Path) -> None:
    desk = desk_at(tmp_path, people_index())
    daemon, groups, coal = (desk.chunk(words) for words in ("maintained by", "based in", "Coal is"))
    desk.file(QUESTION, ("The Platform Group maintains it.", daemon))
    desk.file("Where does the group sit?", ("In the Oxford Site.", groups))
    desk.file("What of coal and groups?", ("Coal is in the cellar.", coal), ("They sit there.", daemon))
    desk.wiki.write(hand_page("Notes", "See [[Nobody]] and [[where does the group sit]]."))
    (tmp_path / "wiki" / "topic" / "broken.md").write_text("x")
    looked, problems = check_wiki(desk.wiki, desk.index.chunks, desk.index.graph, now=NOW)
    assert {one.trust.status for one in looked} == {PageStatus.CURRENT}
    assert [one.path for one in problems] == ["topic/broken.md"]

    changed = people_index(maintainer=STORAGE)
    looked, _ = check_wiki(desk.wiki, changed.chunks, None, now=LATER)

    stale = {one.page.title: one.trust.stale for one in looked if one.trust.stale}
    assert stale == {QUESTION: (daemon.id,), "What of coal and groups?": (daemon.id,)}
    assert {page.title for page in desk.wiki.list().pages if page.status is PageStatus.STALE} == set(stale)
    assert {one.page.title: one.broken_links for one in looked}["Notes"] == ("Nobody",)
    assert looked[0].to_record()["status"] in {"current", "stale"}


def test_what_the_graph_states_now_is_held_against_every_page_without_a_question(tmp_path: Path) -> None:
    desk = desk_at(tmp_path, people_index())
    said = ("The Platform Group maintains it.", desk.chunk("maintained by"))
    desk.file(QUESTION, said, evidence=desk.ask().evidence)
    disputed = people_index(disputed=True)

    ((looked,), _) = check_wiki(desk.wiki, disputed.chunks, disputed.graph, now=LATER)

    assert looked.trust.status is PageStatus.CONTRADICTED
    assert [one.other for one in looked.trust.contradictions] == ["Storage Group"]
    assert desk.wiki.list().pages[0].contradictions == looked.trust.contradictions
    ((again,), _) = check_wiki(desk.wiki, desk.index.chunks, desk.index.graph, now=LATER)
    assert again.trust.status is PageStatus.CURRENT
