"""How the end of a run is told, and that watching never changes how it ends."""

from pathlib import Path

import pytest

from flows.run.watch import RunWatch, stage_span, state_of, watched_run, with_attempt
from schemas.errors import ConfigError, GuardRefused, Stopped, StoreUnavailable
from schemas.health import IndexHealth, LastRun, SourceStatus

BEFORE, AT, AFTER = (f"2026-01-05T1{hour}:00:00+00:00" for hour in (0, 1, 2))
KNOWN = IndexHealth(
    index="i",
    sources={
        "handbook": SourceStatus(
            due=3, last_run=LastRun(state="finished", started_at=BEFORE, finished_at=BEFORE)
        )
    },
)


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (None, "finished"),
        (GuardRefused("held"), "refused"),
        (StoreUnavailable("away"), "failed"),
        (ConfigError("wrong"), "failed"),
        (ValueError("a bug"), "failed"),
        (Stopped("by somebody"), "stopped"),
        (KeyboardInterrupt(), "stopped"),
        (SystemExit(143), "stopped"),
    ],
)
def test_what_ended_a_run_tells_its_state(error: BaseException | None, state: str) -> None:
    assert state_of(error) == state


def test_a_run_that_was_refused_before_it_began_is_told_though_no_ledger_knows_it() -> None:
    told = with_attempt(KNOWN, "handbook", LastRun(state="refused", started_at=AT, finished_at=AFTER))

    last = told.sources["handbook"].last_run
    assert last == LastRun(state="refused", started_at=AT, finished_at=AFTER)
    assert told.sources["handbook"].due == 3


def test_a_run_that_failed_keeps_what_the_ledger_says_of_it() -> None:
    open_run = LastRun(state="interrupted", started_at=AT, report={"problems": [1, 2]})
    known = IndexHealth(index="i", sources={"handbook": SourceStatus(last_run=open_run)})

    told = with_attempt(known, "handbook", LastRun(state="failed", started_at=AT, finished_at=AFTER))

    last = told.sources["handbook"].last_run
    assert last is not None
    assert (last.state, last.report) == ("failed", {"problems": [1, 2]})


def test_of_a_run_that_finished_the_ledger_knows_all() -> None:
    assert with_attempt(KNOWN, "handbook", LastRun(state="finished", started_at=AT)) is KNOWN


def test_a_source_that_no_ledger_knows_is_told_with_its_end() -> None:
    told = with_attempt(IndexHealth(index="i"), "new", LastRun(state="failed", started_at=AT))

    assert told.sources["new"].last_run is not None


def test_where_nothing_is_configured_nothing_watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SITEGRAPH_METRICS_FILE", "OTEL_EXPORTER_OTLP_ENDPOINT", "OPENLINEAGE_URL"):
        monkeypatch.delenv(name, raising=False)

    with watched_run("handbook.yaml", index=str(tmp_path), say=pytest.fail) as watch, stage_span("crawl"):
        assert type(watch) is RunWatch


def test_a_run_within_a_run_is_a_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.prom"
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(file))
    with watched_run("handbook.yaml", index=str(tmp_path / "index")) as outer:
        with watched_run("handbook.yaml", index=str(tmp_path / "index")) as inner:
            assert inner is outer
        assert not file.exists()
    assert file.exists()


def test_the_first_run_of_all_is_told_where_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.prom"
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(file))

    with pytest.raises(StoreUnavailable), watched_run("handbook.yaml", index=str(tmp_path / "index")):
        raise StoreUnavailable("away")

    text = file.read_text()
    assert 'source="handbook",state="failed"} 1.0' in text
    assert "sitegraph_index_up{" in text
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("error", [None, GuardRefused("held")])
def test_what_goes_wrong_with_watching_is_one_line_and_the_run_ends_as_it_did(
    error: Exception | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(tmp_path / "file" / "a.prom"))
    said: list[str] = []
    ended: Exception | None = None

    try:
        with watched_run("handbook.yaml", index=str(tmp_path / "index"), say=said.append):
            if error:
                raise error
    except GuardRefused as raised:
        ended = raised

    assert ended is error
    assert len(said) == 1
    assert said[0].startswith("not told to those who watch: ")
