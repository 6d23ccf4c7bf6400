"""What a run tells others: which events, about which resources, and nothing that is secret."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flows.run.events import (
    BLOCKED,
    FRESH,
    HELD,
    INCOMPLETE,
    LOGIN_EXPIRES,
    LONGEST_REASON,
    PUBLISHED,
    REFUSED,
    STALE,
    IndexName,
    event_of_block,
    event_of_login,
    event_of_stale,
    events_of_error,
    events_of_report,
)
from indexes.stores.ledger.frontier import SeenDocument
from schemas.completeness import Completeness
from schemas.documents import DocumentState
from schemas.errors import ConfigError, GuardRefused, PublishHeld, SitegraphError
from schemas.report import ChunkCounts, FreshnessState, HttpTotals, LoginState, PeakRss, RunReport
from schemas.source import LoginRecipe, Source

INDEX = IndexName(id="4f0c", folder=Path("/data/index"))
SEED = "https://docs.example.org/"
STALE_STATE = FreshnessState(slo=3600.0, as_of="2026-01-05T00:00:00+00:00", age=7200.0, stale=True)


def report(*, generation: int | None = None, freshness: FreshnessState | None = None) -> RunReport:
    return RunReport(
        source="handbook",
        run_id="run-1",
        generation=generation,
        published=generation is not None,
        documents={"scheduled": 3, "added": 1, "gone": 0},
        chunks=ChunkCounts(),
        nodes={},
        edges={},
        http=HttpTotals(),
        stages={},
        peak_rss_mb=PeakRss(flow=0, largest_child=0, sum=0),
        freshness=freshness or FreshnessState(),
    )


def test_a_run_that_publishes_says_so_and_that_its_source_is_fresh() -> None:
    published, fresh = events_of_report(report(generation=7), INDEX)

    assert (published.event, fresh.event) == (PUBLISHED, FRESH)
    assert published.resource["prefect.resource.id"] == "sitegraph.index.4f0c"
    assert published.payload == {
        "generation": 7,
        "documents": {"scheduled": 3, "added": 1},
        "run_id": "run-1",
    }
    assert fresh.resource["prefect.resource.id"] == "sitegraph.source.handbook"
    assert published.resource["prefect.resource.name"] == "index"
    both = {
        "sitegraph.source": "handbook",
        "sitegraph.index": "4f0c",
        "sitegraph.folder": "/data/index",
    }
    assert both.items() <= published.resource.items()
    assert both.items() <= fresh.resource.items()


def test_a_run_that_finds_nothing_new_is_as_good_as_one_that_publishes() -> None:
    (fresh,) = events_of_report(report(), INDEX)

    assert (fresh.event, fresh.payload["published"]) == (FRESH, False)


@pytest.mark.parametrize(("fell", "told"), [(0.0, False), (0.05, False), (0.06, True)])
def test_an_indexed_share_that_falls_by_more_than_it_may_is_told_with_the_reasons(
    fell: float, told: bool
) -> None:
    now = Completeness(indexed=6, left_out=4, share=0.6, fell=fell, reasons={"noindex": 1, "failed": 3})

    events = events_of_report(replace(report(), completeness=now), INDEX, max_fall=0.05)

    assert [one.event for one in events] == ([INCOMPLETE] if told else []) + [FRESH]
    if told:
        assert events[0].resource["prefect.resource.id"] == "sitegraph.source.handbook"
        assert events[0].payload == {
            "share": 0.6,
            "fell": fell,
            "reasons": {"noindex": 1, "failed": 3},
            "reason": "60.0% of the named pages are indexed, 6.0 points less: 3 failed, 1 noindex",
        }


def test_a_run_that_comes_too_late_says_that_the_source_had_been_stale() -> None:
    stale, fresh = events_of_report(report(freshness=STALE_STATE), INDEX)

    assert (stale.event, fresh.event) == (STALE, FRESH)
    assert stale.payload["reason"] == "the last run that ended well was 2.0 h ago; promised: 1.0 h"


@pytest.mark.parametrize(
    ("error", "event"),
    [(PublishHeld("held"), HELD), (GuardRefused("empty"), REFUSED), (ConfigError("wrong"), None)],
)
def test_a_run_that_publishes_nothing_says_why(error: SitegraphError, event: str | None) -> None:
    events = events_of_error("handbook", error, INDEX, FreshnessState())

    assert [one.event for one in events] == ([event] if event else [])
    assert all(one.payload == {"reason": str(error)} for one in events)


def test_what_is_said_of_a_source_does_not_begin_with_its_name_again() -> None:
    (event,) = events_of_error("maint", GuardRefused("empty", subject="maint"), INDEX, None)

    assert event.payload == {"reason": "empty"}


def test_a_run_that_fails_of_a_source_that_is_stale_says_both() -> None:
    events = events_of_error("handbook", GuardRefused("empty"), INDEX, STALE_STATE)

    assert [one.event for one in events] == [REFUSED, STALE]
    assert event_of_stale("handbook", INDEX, STALE_STATE).payload["age"] == 7200.0


def test_reasons_are_short_and_without_secrets() -> None:
    error = GuardRefused(f"https://me:pass@docs.example.org/?token=abc {'x' * 999}")
    (event,) = events_of_error("handbook", error, INDEX, None)

    assert len(event.payload["reason"]) == LONGEST_REASON
    assert event.payload["reason"].startswith("https://***@docs.example.org/?token=*** ")


def seen(state: DocumentState, reason: str, number: int, *, doc: str | None = None) -> list[SeenDocument]:
    return [
        SeenDocument(
            uri=f"{SEED}{state}/{doc}/{n}",
            state=state,
            http_status=int(reason[5:]) if reason.startswith("HTTP ") else None,
            reason=reason,
            doc=doc,
        )
        for n in range(number)
    ]


FORBIDDEN = (DocumentState.DISALLOWED, "robots.txt disallows it")


def test_a_site_that_refuses_most_pages_blocks_the_source() -> None:
    documents = [
        *seen(DocumentState.FAILED, "HTTP 403", 3),
        *seen(*FORBIDDEN, 1, doc="doc:1"),
        *seen(DocumentState.QUARANTINED, "a page of a firewall or bot check", 1),
        *seen(DocumentState.FETCHED, "", 5),
    ]

    event = event_of_block("handbook", INDEX, documents, seeds=[SEED])

    assert event is not None
    assert event.event == BLOCKED
    assert (event.payload["documents"], event.payload["of"]) == (5, 10)
    assert event.payload["reasons"] == {"HTTP 403": 3, "bot check": 1, "robots.txt": 1}


@pytest.mark.parametrize(
    "documents",
    [
        [],
        seen(DocumentState.FAILED, "HTTP 500", 9),
        seen(DocumentState.MISSING, "HTTP 404", 9),
        [*seen(DocumentState.FAILED, "HTTP 403", 4), *seen(DocumentState.NOT_MODIFIED, "", 5)],
        seen(DocumentState.FAILED, "HTTP 403", 2),
        seen(*FORBIDDEN, 9),
        [*seen(*FORBIDDEN, 9), *seen(DocumentState.NOT_MODIFIED, "", 5)],
    ],
)
def test_a_page_that_is_refused_or_a_site_that_is_down_is_no_block(documents: list[SeenDocument]) -> None:
    assert event_of_block("handbook", INDEX, documents, seeds=[SEED]) is None


def test_pages_that_robots_txt_has_always_forbidden_hide_no_block_and_one_that_it_forbids_now_is_a_part() -> (
    None
):
    refused = [*seen(DocumentState.FAILED, "HTTP 403", 2), *seen(*FORBIDDEN, 1, doc="doc:1")]

    event = event_of_block("handbook", INDEX, [*seen(*FORBIDDEN, 90), *refused], seeds=[SEED])

    assert event is not None
    assert (event.payload["documents"], event.payload["of"]) == (3, 3)


def test_a_site_that_shows_no_seed_blocks_the_source_with_a_single_page() -> None:
    shut = SeenDocument(uri=SEED, state=DocumentState.DISALLOWED, reason="robots.txt disallows it")
    other = f"{SEED}other"

    assert event_of_block("handbook", INDEX, [shut], seeds=[SEED])
    assert event_of_block("handbook", INDEX, [shut], seeds=[SEED, other]) is None


def test_a_login_that_ends_soon_is_told_with_what_to_do_and_any_other_is_not() -> None:
    source = Source(name="handbook", kind="web", seeds=(SEED,), login=LoginRecipe(cookies="/srv/jar.txt"))
    soon = LoginState(expires_at="2026-01-07T12:00:00+00:00", expires_soon=True)
    now = datetime(2026, 1, 5, 12, tzinfo=UTC)

    event = event_of_login(source, INDEX, soon, now=now)

    assert event is not None
    assert (event.event, event.resource["sitegraph.source"]) == (LOGIN_EXPIRES, "handbook")
    assert event.payload["expires_at"] == soon.expires_at
    assert event.payload["reason"] == (
        "its login expires in 2 days, at 2026-01-07T12:00:00+00:00; "
        "log in with a browser and save the cookies to /srv/jar.txt again"
    )
    assert event_of_login(source, INDEX, LoginState(expires_at=soon.expires_at), now=now) is None
