"""When a run stops: a seed that cannot be read, an empty source, too much gone."""

from dataclasses import replace
from typing import Any

import pytest

from ingest.diff.guard import (
    emptied_documents,
    emptied_refusal,
    empty_refusal,
    failure_advice,
    failure_refusal,
    quarantine_refusal,
    removal_refusal,
    seed_refusal,
    unread_seeds,
    wordless_refusal,
)
from ingest.fetch.media import FetchLimits
from schemas.advice import ADVICE, Trouble
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import DocumentState as S
from schemas.documents import KnownDocument
from schemas.nodes import PageKind
from schemas.source import MaxFailures
from tests.fakes.graph_samples import make_chunk, make_page
from tests.fakes.known import SITE, known, live

NEW_HOME = "https://docs.example.org/new/"

LOOK = {
    S.QUARANTINED: ADVICE[Trouble.NO_CONTENT],
    S.REDIRECTED: ADVICE[Trouble.LEADS_AWAY],
    S.MISSING: ADVICE[Trouble.NOT_FOUND],
    S.GONE: ADVICE[Trouble.NOT_FOUND],
    S.DISALLOWED: ADVICE[Trouble.ROBOTS],
}


def changes(**counts: int) -> list[DocumentChange]:
    """So many changes of each kind."""
    return [
        DocumentChange(kind=ChangeKind(kind), old=live(), new=None if kind == "removed" else live())
        for kind, number in counts.items()
        for _ in range(number)
    ]


@pytest.mark.parametrize(
    ("removed", "held", "refused"),
    [
        (0, 0, False),
        (0, 10, False),
        (1, 5, False),
        (2, 5, True),
        (20, 100, False),
        (21, 100, True),
        (1, 1, True),
    ],
)
def test_a_fifth_of_a_source_may_go_and_no_more(removed: int, held: int, refused: bool) -> None:
    said = removal_refusal(changes(removed=removed), live=held)
    assert said == (f"{removed} of {held} documents would be removed" if refused else None)


def test_content_that_goes_on_under_another_address_is_not_lost() -> None:
    moved = DocumentChange(kind=ChangeKind.REMOVED, old=live(), new=None, successor="page:2")
    assert removal_refusal([moved] * 9, live=10) is None
    assert removal_refusal([moved] * 9 + changes(removed=3), live=10) == "3 of 10 documents would be removed"


def test_a_file_of_tools_is_no_document_that_could_be_lost() -> None:
    tools = replace(live(), uri="tools://site/tools.yaml")
    assert removal_refusal([DocumentChange(kind=ChangeKind.REMOVED, old=tools, new=None)], live=1) is None


def test_only_removals_count_for_the_guard() -> None:
    assert removal_refusal(changes(added=50, changed=50, refreshed=50, removed=2), live=10) is None


@pytest.mark.parametrize("state", [S.FETCHED, S.NOT_MODIFIED])
def test_a_seed_that_was_read_does_not_stop_a_run(state: S) -> None:
    assert seed_refusal([SITE], [known(state=state)], accept=False) is None


@pytest.mark.parametrize("state", [s for s in S if s not in (S.FETCHED, S.NOT_MODIFIED)])
def test_a_seed_that_was_not_read_stops_a_run(state: S) -> None:
    advice = LOOK.get(state, ADVICE[Trouble.UNTOLD])
    said = f"seed {SITE} cannot be read ({state.value}); {advice}"
    for accept in (False, True):
        assert seed_refusal([SITE], [known(state=state)], accept=accept) == said


def test_the_refusal_gives_the_reason_that_is_known() -> None:
    document = known(state=S.FAILED, reason="no answer within 20 s")
    said = f"seed {SITE} cannot be read (no answer within 20 s); {ADVICE[Trouble.NO_CONNECTION]}"
    assert seed_refusal([SITE], [document], accept=False) == said


def test_a_seed_that_is_taken_for_no_content_says_how_to_have_it_all_the_same() -> None:
    document = known(state=S.QUARANTINED, reason="a maintenance notice")
    said = seed_refusal([SITE], [document], accept=True)
    assert said
    assert (
        "(a maintenance notice); if it is content, name it under `quarantine.exempt` in the source file"
        in said
    )


@pytest.mark.parametrize(("target", "read"), [(S.FETCHED, True), (S.FAILED, False)])
def test_a_seed_that_leads_elsewhere_is_as_good_as_where_it_leads(target: S, read: bool) -> None:
    rows = [known(state=S.REDIRECTED, location=NEW_HOME), known(NEW_HOME, state=target)]
    assert (seed_refusal([SITE], rows, accept=False) is None) is read


def test_a_seed_that_leads_to_itself_or_out_of_the_source_is_not_read() -> None:
    circle = [
        known(state=S.REDIRECTED, location=NEW_HOME),
        known(NEW_HOME, state=S.REDIRECTED, location=SITE),
    ]
    assert seed_refusal([SITE], circle, accept=True) is not None
    assert seed_refusal([SITE], circle[:1], accept=True) is not None


def test_of_several_seeds_the_first_bad_one_is_named() -> None:
    rows = [known("https://b.example/", state=S.FAILED), known("https://a.example/", state=S.FAILED)]
    said = seed_refusal(["https://b.example/", "https://a.example/"], rows, accept=False)
    assert said is not None
    assert said.startswith("seed https://a.example/")


@pytest.mark.parametrize(
    ("emptied", "removed", "held", "refused"),
    [
        (0, 0, 10, False),
        (2, 0, 10, False),
        (3, 0, 10, True),
        (2, 1, 10, True),
        (0, 3, 10, False),
        (1, 0, 0, False),
    ],
)
def test_documents_that_lose_all_their_text_count_like_removed_ones(
    emptied: int, removed: int, held: int, refused: bool
) -> None:
    said = emptied_refusal(changes(removed=removed), emptied=emptied, live=held)
    assert said == (f"{emptied} of {held} documents would lose all their text" if refused else None)


@pytest.mark.parametrize("kind", PageKind)
def test_a_page_that_only_leads_elsewhere_has_no_text_to_lose(kind: PageKind) -> None:
    page, held = make_page(SITE, page_kind=kind), make_chunk("Berth 1 is dry.", uri=SITE)

    lost = emptied_documents([page], [held], [])

    assert lost == ({page.id} if kind in ("content", "changes", "not_found") else set())
    assert not emptied_documents([page], [held], [held])


@pytest.mark.parametrize(
    ("rows", "refused"),
    [
        ((), True),
        ((known(state=S.FAILED),), True),
        ((known(state=S.FETCHED, raw_sha="r"),), False),
        ((known(state=S.FAILED, raw_sha="r"),), False),
        ((known(state=S.FAILED), known(NEW_HOME, state=S.GONE, raw_sha="r")), True),
    ],
)
def test_a_source_of_which_nothing_is_left_to_read_stops_a_run(
    rows: tuple[KnownDocument, ...], refused: bool
) -> None:
    assert (empty_refusal(rows) is not None) is refused


@pytest.mark.parametrize(
    ("counts", "refused"),
    [
        ({"nodes": {"Page": 2}, "chunks": {"html": 1}}, False),
        ({"nodes": {"Page": 2}}, True),
        ({"nodes": {"Page": 2}, "chunks": {}}, True),
        ({}, False),
    ],
)
def test_documents_without_a_single_passage_stop_a_run(
    counts: dict[str, dict[str, int]], refused: bool
) -> None:
    assert (wordless_refusal(counts) is not None) == refused


@pytest.mark.parametrize(
    ("put_aside", "held", "refused"), [(0, 0, False), (5, 10, False), (6, 10, True), (1, 1, True)]
)
def test_more_than_half_put_aside_is_a_bad_day_of_the_site(put_aside: int, held: int, refused: bool) -> None:
    assert (quarantine_refusal(put_aside, live=held) is not None) is refused


def test_one_bad_seed_of_two_stops_a_run_until_that_is_accepted() -> None:
    rows = [known("https://b.example/", state=S.MISSING), known("https://a.example/", state=S.FETCHED)]
    seeds = [document.uri for document in rows]
    said = seed_refusal(seeds, rows, accept=False)
    assert said is not None
    assert "seed https://b.example/ cannot be read (missing)" in said
    assert "--accept" in said
    assert seed_refusal(seeds, rows, accept=True) is None
    assert unread_seeds(seeds, rows) == {"https://b.example/": "missing"}


@pytest.mark.parametrize("count", [{"failed": 7}, {"missing": 7}, {"failed": 5, "missing": 6}])
def test_the_advice_on_failures_offers_to_accept_404s_only_where_there_are_some(
    count: dict[str, int],
) -> None:
    documents = site_of(**count)
    said = failure_advice(documents, {document.uri for document in documents})

    assert ("go ahead with: sitegraph run SOURCE.yaml --accept" in said) is ("missing" in count)
    assert ("try again later" in said) is ("failed" in count)
    assert said.endswith("raise `max_failures` in the source file")


def site_of(
    *, missing: int = 0, failed: int = 0, readable: int = 0, run_id: str = "run-2"
) -> list[KnownDocument]:
    """So many documents of each state, all looked at by one run."""
    states = [S.MISSING] * missing + [S.FAILED] * failed + [S.NOT_MODIFIED] * readable
    reasons = {S.MISSING: "HTTP 404", S.FAILED: "HTTP 500"}
    return [
        known(f"{SITE}{number}", state=state, reason=reasons.get(state, ""), run_id=run_id)
        for number, state in enumerate(states)
    ]


def failures(known_documents: list[KnownDocument], /, **limits: Any) -> str | None:
    """What is said of documents that readers see."""
    seen = {document.uri for document in known_documents}
    return failure_refusal(known_documents, seen, run_id="run-2", limits=MaxFailures(**limits))


def test_a_site_whose_pages_mostly_answer_404_is_told_with_its_reason() -> None:
    assert failures(site_of(missing=49, readable=28)) == (
        "49 of 77 documents were unavailable (HTTP 404: 49); max_failures allows 25% of them"
    )


def failing(**reasons: int) -> list[KnownDocument]:
    """Documents that failed, so many for each reason."""
    each = [reason for reason, number in reasons.items() for _ in range(number)]
    return [
        known(f"{SITE}{number}", state=S.FAILED, reason=reason, run_id="run-2")
        for number, reason in enumerate(each)
    ]


def test_the_reasons_that_are_told_and_the_others_add_up_to_all_failures() -> None:
    assert "7 of 7 documents were unavailable (a: 2, b: 1, c: 1, and 3 for other reasons); " in str(
        failures(failing(a=2, b=1, c=1, d=1, e=1, f=1))
    )
    assert "(a: 3, b: 1, c: 1);" in str(failures(failing(a=3, b=1, c=1)))


def test_what_only_a_key_of_the_source_file_cures_is_always_told() -> None:
    """Documents that are too large are one reason, whatever their sizes; a log is read by lines."""
    sizes = [
        f"{size} bytes exceed the cap of 5000000 bytes (limits.page_mb in the source file)"
        for size in (5_000_001, 7_000_000)
    ]
    login = "requires a login (HTTP 401);\nset auth in the source file"
    waiting = {"no answer": 4, "HTTP 500": 3, "HTTP 502": 3, "HTTP 503": 3}

    said = str(failures(failing(**waiting, **dict.fromkeys([*sizes, login], 1))))

    assert said == (
        "16 of 16 documents were unavailable (no answer: 4, HTTP 500: 3, HTTP 502: 3, "
        "larger than limits.page_mb in the source file allows: 2, "
        "requires a login (HTTP 401); set auth in the source file: 1, and 3 for other reasons); "
        "max_failures allows 25% of them"
    )


def test_the_reason_of_a_document_that_is_too_large_names_its_key_as_fetches_tell_it() -> None:
    told = [f"the decoded body exceeds {limit.cap}" for limit in (FetchLimits().html, FetchLimits().pdf)]
    git = "exceeds the cap of 5000000 bytes (limits.file_mb)"
    said = str(failures(failing(**dict.fromkeys([*told, git], 2), a=3, b=3, c=3)))
    for key in ("page_mb", "pdf_mb", "file_mb"):
        assert f"larger than limits.{key} in the source file allows: 2" in said


@pytest.mark.parametrize(
    ("failed", "readable", "refused"),
    [(5, 15, False), (6, 15, True), (4, 0, False), (5, 0, True), (0, 9, False)],
)
def test_a_quarter_of_a_source_may_fail_and_four_documents_always(
    failed: int, readable: int, refused: bool
) -> None:
    assert (failures(site_of(failed=failed, readable=readable)) is not None) is refused


def test_a_number_that_is_set_counts_whatever_the_share() -> None:
    documents = site_of(failed=2, readable=98)

    assert failures(documents, documents=2) is None
    assert "max_failures allows 1" in str(failures(documents, documents=1))


def test_a_dead_link_is_no_failure_until_readers_have_seen_what_it_leads_to() -> None:
    documents = site_of(missing=30, readable=5)
    seen = {document.uri for document in documents if document.state is not S.MISSING}

    assert failure_refusal(documents, seen, run_id="run-2", limits=MaxFailures()) is None


def test_a_run_that_looks_at_few_documents_is_judged_by_the_whole_source() -> None:
    due, others = site_of(failed=6), site_of(readable=60, run_id="run-1")
    others = [replace(document, uri=f"{document.uri}/other") for document in others]

    assert failures([*due, *others]) is None
    assert failures([*site_of(failed=60, run_id="run-1"), *others]) is None, "none of them failed in this run"
