"""From plain data to metrics: ages, shares, reasons, states of runs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from runtime.telemetry.catalogue import INDEX_METRICS
from runtime.telemetry.families import content_ages, count_reasons, index_families, percentile, share_within
from schemas.health import IndexHealth, LastRun, SourceStatus, TableHealth

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
HOUR = 3600.0
SOURCE = SourceStatus(
    states={"fetched": 8, "failed": 2, "quarantined": 1},
    due=3,
    failed={503: 1, None: 1},
    confirmed=(("2026-01-03T12:00:00+00:00", 1), ("2026-01-05T11:00:00+00:00", 9)),
    slo=24 * HOUR,
    rows={"chunks": 40},
    last_run=LastRun(
        state="finished",
        started_at="2026-01-05T10:59:00+00:00",
        finished_at="2026-01-05T11:01:00+00:00",
        report={
            "documents": {"scheduled": 11, "fetched": 9, "not_modified": 0, "added": 1, "failed": 2},
            "chunks": {"added": 4, "removed": 1, "unchanged": 36, "embedded": 4},
            "http": {"requests": 12, "status": {"200": 9, "503": 2, "799": 1, "798": 1}, "bytes": 5000},
            "stages": {"crawl": 1.5},
            "cost": {
                "total": {"cpu": 3.5, "read": 90, "written": 7},
                "causes": {
                    "parse": {"cpu": 1.5, "read": 60, "written": 7},
                    "embed": {"cpu": 2.0, "read": 30, "written": 0},
                },
                "rows": {"chunks": {"touched": 5, "there": 40}},
            },
            "login": {"expires_at": "2026-01-09T11:00:00+00:00", "expires_soon": False},
            "completeness": {
                "share": 0.75,
                "reasons": {"failed": 1, "redirected": 3},
                "unknown": {"likely": 5, "low": 0, "high": 40, "method": "two ways", "why": ""},
            },
            "problems": [{"url": "https://docs.test/a", "reason": "HTTP 503"}],
        },
    ),
    last_success="2026-01-05T11:01:00+00:00",
)
INDEX = IndexHealth(
    index="/srv/index",
    generation=7,
    published_at="2026-01-04T12:00:00+00:00",
    sources={"handbook": SOURCE},
    tables={"chunks": TableHealth(rows=40, unindexed_rows=4, fragments=3, small_fragments=2)},
)


def samples(health: IndexHealth, *, now: datetime = NOW) -> Mapping[tuple[str, ...], float]:
    """Values by name and labels, without the index."""
    families = index_families(health, now=now)
    return {(f.definition.name, *labels[1:]): value for f in families for labels, value in f.samples}


def test_a_whole_index_has_a_sample_of_every_metric() -> None:
    told = {family.definition for family in index_families(INDEX, now=NOW)}

    assert told == set(INDEX_METRICS)


def test_every_sample_has_the_index_and_a_value_for_each_label() -> None:
    for family in index_families(INDEX, now=NOW):
        for labels, _ in family.samples:
            assert labels[0] == "/srv/index"
            assert len(labels) == 1 + len(family.definition.labels)


def test_ages_grow_with_the_time_and_their_percentiles_count_documents() -> None:
    told, later = samples(INDEX), samples(INDEX, now=NOW.replace(hour=13))

    assert told["sitegraph_content_age_seconds", "handbook", "50"] == HOUR
    assert told["sitegraph_content_age_seconds", "handbook", "95"] == 48 * HOUR
    assert told["sitegraph_content_fresh_ratio", "handbook"] == 0.9
    assert later["sitegraph_content_age_seconds", "handbook", "50"] == 2 * HOUR


def test_without_an_slo_there_are_ages_but_no_share() -> None:
    told = samples(replace(INDEX, sources={"handbook": replace(SOURCE, slo=None)}))

    assert ("sitegraph_content_age_seconds", "handbook", "95") in told
    assert {name for name, *_ in told} & {
        "sitegraph_content_fresh_ratio",
        "sitegraph_freshness_slo_seconds",
    } == set()


def test_a_source_of_which_readers_see_nothing_has_no_age() -> None:
    told = samples(replace(INDEX, sources={"handbook": replace(SOURCE, confirmed=())}))

    assert not any(name.startswith("sitegraph_content") for name, *_ in told)
    assert told["sitegraph_documents_due", "handbook"] == 3


@pytest.mark.parametrize(
    ("percent", "age"), [(1, 1.0), (50, 1.0), (51, 2.0), (75, 2.0), (76, 9.0), (95, 9.0), (100, 9.0)]
)
def test_a_percentile_is_the_least_age_that_so_many_do_not_exceed(percent: int, age: float) -> None:
    assert percentile(((1.0, 2), (2.0, 1), (9.0, 1)), percent) == age


def test_what_was_confirmed_after_now_is_of_age_0_and_a_share_counts_its_edge() -> None:
    ages = content_ages([("2026-01-05T13:00:00+00:00", 1), ("2026-01-05T11:00:00", 1)], now=NOW)

    assert ages == ((0.0, 1), (HOUR, 1))
    assert share_within(ages, HOUR) == 1.0
    assert share_within(ages, HOUR - 1) == 0.5


def test_reasons_of_failures_are_few_whatever_servers_answer() -> None:
    made_up = dict.fromkeys(range(600, 1000), 1)

    assert count_reasons({404: 2, 503: 1, 200: 3, 304: 1, None: 4} | made_up) == {
        "http_404": 2, "http_503": 1, "unreadable": 4, "unreachable": 4, "http_other": 400,
    }  # fmt: skip


def test_made_up_statuses_of_answers_are_one() -> None:
    told = samples(INDEX)

    assert told["sitegraph_last_run_http_responses", "handbook", "other"] == 2
    assert told["sitegraph_last_run_http_responses", "handbook", "503"] == 2


def test_one_state_of_the_last_run_is_1_and_the_others_are_0() -> None:
    told = samples(INDEX)
    states = {name[2]: value for name, value in told.items() if name[0] == "sitegraph_last_run_state"}

    assert [state for state, value in states.items() if value] == ["finished"]
    assert {"refused", "failed", "interrupted", "running"} <= set(states)


def test_a_run_without_a_report_tells_its_state_and_no_counts() -> None:
    refused = LastRun(
        state="refused", started_at="2026-01-05T11:00:00+00:00", report={"reason": "held", "problems": []}
    )
    told = samples(replace(INDEX, sources={"handbook": replace(SOURCE, last_run=refused)}))

    assert told["sitegraph_last_run_state", "handbook", "refused"] == 1
    assert told["sitegraph_last_success_timestamp_seconds", "handbook"] > 0
    assert ("sitegraph_last_run_documents", "handbook", "added") not in told


def test_a_hold_is_told() -> None:
    assert samples(INDEX)["sitegraph_publishing_held",] == 0
    assert samples(replace(INDEX, held_since="2026-01-05T00:00:00+00:00"))["sitegraph_publishing_held",] == 1


def test_where_the_ledger_is_away_what_only_it_knows_is_left_out() -> None:
    away = replace(INDEX, sources={}, problem="ledger: cannot be reached")
    told = samples(away)

    assert told["sitegraph_index_up",] == 0
    assert told["sitegraph_generation",] == 7
    assert not any(name.startswith("sitegraph_documents") for name, *_ in told)


def test_where_there_is_no_index_only_that_is_told() -> None:
    assert samples(IndexHealth(index="/srv/index", problem="not an index")) == {("sitegraph_index_up",): 0}


def test_entities_which_belong_to_no_source_are_rows_and_no_source() -> None:
    told = samples(replace(INDEX, sources={"": SourceStatus(rows={"nodes": 5})}))

    assert told["sitegraph_rows", "", "nodes"] == 5
    assert ("sitegraph_documents_due", "") not in told


def test_what_a_run_cost_is_told_by_cause() -> None:
    told = samples(INDEX)

    assert told["sitegraph_last_run_cpu_seconds", "handbook", "embed"] == 2.0
    assert told["sitegraph_last_run_io_bytes", "handbook", "parse", "read"] == 60
    assert told["sitegraph_last_run_touched_rows", "handbook", "chunks"] == 5


def test_how_complete_a_source_is_is_told_with_reasons_and_the_interval() -> None:
    told = samples(INDEX)

    assert told["sitegraph_completeness_ratio", "handbook"] == 0.75
    assert told["sitegraph_addresses_not_indexed", "handbook", "redirected"] == 3
    bounds = {labels[2]: value for labels, value in told.items() if labels[0] == "sitegraph_unknown_pages"}
    assert bounds == {"likely": 5, "low": 0, "high": 40}


def test_a_report_that_says_nothing_of_its_cost_makes_no_sample_of_it() -> None:
    assert SOURCE.last_run is not None
    old = {
        name: value for name, value in SOURCE.last_run.report.items() if name not in ("cost", "completeness")
    }
    source = replace(SOURCE, last_run=replace(SOURCE.last_run, report=old))

    told = samples(replace(INDEX, sources={"handbook": source}))

    newer = ("cpu", "touched", "_io_", "completeness", "not_indexed", "unknown")
    assert not [key for key in told if any(part in key[0] for part in newer)]
    assert ("sitegraph_last_run_chunks", "handbook", "added") in told
