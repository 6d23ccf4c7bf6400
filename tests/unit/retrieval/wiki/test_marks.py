"""What is written on pages of what was found of them."""

from dataclasses import replace
from pathlib import Path

from retrieval.wiki.page import Contradiction, PageStatus
from retrieval.wiki.store import Wiki
from retrieval.wiki.trust import Trust, mark_pages, marked_page
from tests.fakes.read_only import only_readable
from tests.fakes.wiki import LATER, NOW, hand_page

PAGE = hand_page("Leases", "Held.", rests_on={"chunk:a": "1"})
STALE = Trust(stale=("chunk:a",), contradictions=())
FINE = Trust(stale=(), contradictions=())
FLAG = Contradiction(subject="D", predicate="owner", object="P", other="S", chunk="chunk:x")


def test_a_page_is_marked_with_its_status_and_since_when_and_nothing_else_changes() -> None:
    marked = marked_page(PAGE, STALE, now=NOW)
    assert marked == replace(PAGE, status=PageStatus.STALE, status_since=NOW)
    assert marked_page(marked, STALE, now=LATER) is marked
    assert marked_page(marked, FINE, now=LATER) == replace(PAGE, status_since=LATER)


def test_contradictions_stay_on_a_page_that_becomes_stale() -> None:
    flagged = marked_page(PAGE, Trust(stale=(), contradictions=(FLAG,)), now=NOW)
    assert flagged.status is PageStatus.CONTRADICTED
    assert marked_page(flagged, STALE, now=LATER).contradictions == (FLAG,)


def test_a_page_that_nothing_is_new_of_is_not_written(tmp_path: Path) -> None:
    wiki = Wiki(tmp_path)
    wiki.write(PAGE)
    before = (tmp_path / "topic" / "by-hand.md").stat().st_ino
    assert mark_pages(wiki, [PAGE], {PAGE.ref: FINE}, now=NOW) == ()
    assert (tmp_path / "topic" / "by-hand.md").stat().st_ino == before


def test_a_page_that_a_person_saves_meanwhile_is_never_written_over(tmp_path: Path) -> None:
    wiki = Wiki(tmp_path)
    mended = wiki.write(replace(PAGE, body="Mended."))
    assert mark_pages(wiki, [PAGE], {PAGE.ref: STALE}, now=NOW) == ()
    assert wiki.read("topic", "by-hand") == mended
    (tmp_path / "topic" / "by-hand.md").unlink()
    assert mark_pages(wiki, [PAGE], {PAGE.ref: STALE}, now=NOW) == ()
    assert wiki.list().pages == ()


def test_a_wiki_that_may_only_be_read_is_a_problem_and_no_error(tmp_path: Path) -> None:
    wiki = Wiki(tmp_path / "wiki")
    wiki.write(PAGE)
    with only_readable(wiki.folder):
        (problem,) = mark_pages(wiki, [PAGE], {PAGE.ref: STALE}, now=NOW)
    assert problem.path == "topic/by-hand.md"
    assert problem.message.startswith("is stale, which cannot be written to it")
