"""What becomes of an answer: filed once, only if verified, and never over what a person wrote."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.wiki.filing import GroundedSentence, file_answer
from retrieval.wiki.page import PageStatus
from tests.fakes.secret_samples import github_token
from tests.fakes.small_index import GENERATION
from tests.fakes.wiki import LATER, NOW, QUESTION, STORAGE, Desk, desk_at, hand_page, people_index

SENTENCE = "The lease daemon is maintained by the Platform Group."


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty wiki before three pages."""
    return desk_at(tmp_path, people_index())


def said(desk: Desk) -> tuple[str, object]:
    return SENTENCE, desk.chunk("maintained by")


def test_a_verified_answer_is_filed_as_a_topic_page_with_title_summary_and_the_hashes_it_rests_on(
    desk: Desk,
) -> None:
    chunk = desk.chunk("maintained by")
    filing = desk.file(QUESTION, (SENTENCE, chunk), evidence=desk.ask().evidence)
    (page,) = desk.wiki.list().pages
    assert filing.page == page
    assert (page.ref, page.title, page.summary) == (
        "topic/who-maintains-the-lease-daemon",
        QUESTION,
        SENTENCE,
    )
    assert page.rests_on == {chunk.id: chunk.content_hash}
    assert (page.query, page.generation, page.written_at) == (QUESTION, GENERATION, NOW)
    assert [(one.subject, one.predicate, one.object) for one in page.facts] == [
        ("Lease Daemon", "is maintained by", "Platform Group")
    ]
    assert f"{SENTENCE} [S1]" in page.body
    assert f"- [S1] daemon.md#lease-daemon `{chunk.id}`" in page.body
    assert not page.edited_by_hand


def test_an_answer_that_is_not_verified_is_never_filed(desk: Desk) -> None:
    filing = desk.file(QUESTION, (SENTENCE, desk.chunk("maintained by")), verified=False)
    assert (filing.page, filing.reason) == (None, "it is not verified")
    assert not desk.wiki.folder.exists()


def test_a_sentence_without_a_passage_of_this_generation_is_never_filed(desk: Desk) -> None:
    gone = replace(desk.chunk("maintained by"), id="chunk:gone")
    assert desk.file(QUESTION, (SENTENCE, gone)).reason.startswith("not grounded in passages")
    bare = [GroundedSentence(text=SENTENCE, chunks=())]
    for statements in (bare, []):
        filing = file_answer(
            desk.wiki, desk.index.chunks, QUESTION, statements, verified=True, generation=1, now=NOW
        )
        assert not filing.written
    assert not desk.wiki.folder.exists()


def test_an_answer_that_a_current_page_holds_is_not_filed_again(desk: Desk) -> None:
    assert desk.file(QUESTION, (SENTENCE, desk.chunk("maintained by"))).written
    again = desk.file("who maintains the LEASE daemon", (SENTENCE, desk.chunk("maintained by")), now=LATER)
    assert again.reason == "topic/who-maintains-the-lease-daemon holds it already"
    assert [page.written_at for page in desk.wiki.list().pages] == [NOW]


def test_of_many_who_file_one_answer_at_once_one_does(desk: Desk) -> None:
    with ThreadPoolExecutor(8) as threads:
        filings = list(
            threads.map(lambda _: desk.file(QUESTION, (SENTENCE, desk.chunk("maintained by"))), range(16))
        )
    (page,) = desk.wiki.list().pages
    assert sum(one.written for one in filings) == 1
    assert all(one.page == page for one in filings)


def test_a_stale_page_is_rebuilt_in_its_place(desk: Desk) -> None:
    desk.file(QUESTION, (SENTENCE, desk.chunk("maintained by")))
    changed = desk.over(people_index(maintainer=STORAGE))
    chunk = changed.chunk("maintained by")
    assert changed.file(QUESTION, ("The Storage Group does.", chunk), now=LATER, generation=2).written
    (page,) = changed.wiki.list().pages
    assert (page.rests_on, page.generation, page.status) == (
        {chunk.id: chunk.content_hash},
        2,
        PageStatus.CURRENT,
    )


def test_what_a_person_added_to_the_front_matter_of_a_filed_page_outlives_its_rebuilding(desk: Desk) -> None:
    desk.file(QUESTION, (SENTENCE, desk.chunk("maintained by")))
    (file,) = (desk.wiki.folder / "topic").iterdir()
    theirs = file.read_text().replace(f"title: {QUESTION}", "title: The lease daemon # ours\nroom: 017")
    file.write_text(theirs)
    changed = desk.over(people_index(maintainer=STORAGE))
    written = changed.file(QUESTION, ("The Storage Group does.", changed.chunk("maintained by"))).page
    assert written is not None
    assert (written.title, written.summary) == ("The lease daemon", "The Storage Group does.")
    assert file.read_text().startswith("---\ntitle: The lease daemon # ours\nroom: 017\n")


def test_a_stale_page_that_a_person_has_edited_is_never_written_over(desk: Desk) -> None:
    desk.file(QUESTION, (SENTENCE, desk.chunk("maintained by")))
    (page,) = desk.wiki.list().pages
    mended = desk.wiki.write(replace(page, body=f"{page.body}\n\nAsk Zoe."))
    changed = desk.over(people_index(maintainer=STORAGE))
    filing = changed.file(QUESTION, ("The Storage Group does.", changed.chunk("maintained by")))
    assert "edited by hand" in filing.reason
    assert changed.wiki.list().pages == (mended,)


def test_another_page_of_the_name_is_never_written_over_whether_it_can_be_read_or_not(desk: Desk) -> None:
    slug = "who-maintains-the-lease-daemon"
    theirs = desk.wiki.write(hand_page("Daemons", "Mine.", slug=slug))
    first = desk.file(QUESTION, (SENTENCE, desk.chunk("maintained by"))).page
    assert first is not None
    assert first.slug.startswith(f"{slug}-")
    assert desk.wiki.read("topic", slug) == theirs
    broken = desk.wiki.folder / "topic" / f"{first.slug}.md"
    broken.write_text("broken")
    filing = desk.file(QUESTION, (SENTENCE, desk.chunk("maintained by")))
    assert "cannot be read stands in its place" in filing.reason
    assert broken.read_text() == "broken"


def test_a_page_that_is_contradicted_is_kept_for_a_person_to_settle(desk: Desk) -> None:
    disputed = desk.over(people_index(disputed=True))
    evidence = disputed.ask("Lease Daemon and Storage Group").evidence
    chunk = disputed.chunk("since spring")
    filing = disputed.file(QUESTION, (SENTENCE, chunk), evidence=evidence)
    assert filing.page is not None
    assert filing.page.status is PageStatus.CONTRADICTED
    assert [one.other for one in filing.page.contradictions] == ["Storage Group"]
    again = disputed.file(QUESTION, (SENTENCE, chunk), evidence=evidence)
    assert again.reason.endswith("is contradicted, which a person must settle")


def test_what_a_site_wrote_is_no_markup_of_the_page(desk: Desk) -> None:
    chunk = desk.chunk("maintained by")
    nasty = "# Not a heading\n---\n[[not a link]] ```\n"
    page = desk.file("A question?\n---\ntitle: x", (nasty, chunk), ("1. No list.", chunk)).page
    assert page is not None
    assert page.links == ()
    assert page.body.count("\n#") == 1
    assert "\\# Not a heading --- [\\[not a link]] ```" in page.body
    assert "\n1\\. No list. [S1]" in page.body
    assert desk.wiki.read("topic", page.slug) == page


def test_a_secret_in_a_question_is_never_written(desk: Desk) -> None:
    secret = github_token()
    filing = desk.file(f"Who has the token {secret}?", (SENTENCE, desk.chunk("maintained by")))
    assert filing.page is not None
    (file,) = (desk.wiki.folder / "topic").iterdir()
    assert secret not in file.read_text()
    assert "[redacted]" in filing.page.title
