"""How the end of a run is told, and that watching never changes how it ends."""

import fcntl
import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from flows.run.account import RunWatch, stage_span, state_of_end, watched_run, with_attempt, with_others
from indexes.health import HealthReader
from runtime.settings import read_settings
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
    assert state_of_end(error) == state


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

    with (
        watched_run("handbook.yaml", read_settings(str(tmp_path)), say=pytest.fail) as watch,
        stage_span("crawl"),
    ):
        assert type(watch) is RunWatch


def test_a_run_within_a_run_is_a_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.prom"
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(file))
    with watched_run("handbook.yaml", read_settings(str(tmp_path / "index"))) as outer:
        with watched_run("handbook.yaml", read_settings(str(tmp_path / "index"))) as inner:
            assert inner is outer
        assert not file.exists()
    assert file.exists()


def test_the_first_run_of_all_is_told_where_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.prom"
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(file))

    with (
        pytest.raises(StoreUnavailable),
        watched_run("handbook.yaml", read_settings(str(tmp_path / "index"))),
    ):
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
        with watched_run("handbook.yaml", read_settings(str(tmp_path / "index")), say=said.append):
            if error:
                raise error
    except GuardRefused as raised:
        ended = raised

    assert ended is error
    assert len(said) == 1
    assert said[0].startswith("could not report metrics or traces: ")


BAD = LastRun(state="refused", started_at=AT, finished_at=AFTER)


@pytest.mark.parametrize(
    ("attempt", "last", "days", "kept"),
    [
        (BAD, None, 30, True),
        (BAD, LastRun(state="finished", started_at=BEFORE, finished_at=BEFORE), 30, True),
        (BAD, LastRun(state="interrupted", started_at=AT), 30, True),
        (BAD, LastRun(state="finished", started_at="2026-01-05T13:00:00.5+00:00"), 30, False),
        (LastRun(state="running", started_at=AT, finished_at=AFTER), None, 1, False),
        (BAD, "unknown", 6, True),
        (BAD, "unknown", 8, False),
    ],
)
def test_how_another_source_ended_is_told_until_the_ledger_knows_better(
    attempt: LastRun, last: LastRun | str | None, days: int, kept: bool
) -> None:
    sources = {} if isinstance(last, str) else {"other": SourceStatus(last_run=last)}
    now = datetime.fromisoformat(AFTER) + timedelta(days=days)

    told = with_others(IndexHealth(index="i", sources=sources), "handbook", {"other": attempt}, now=now)

    state = told.sources["other"].last_run if "other" in told.sources else None
    assert ((state.state if state else None) == attempt.state) is kept


def test_a_run_that_ends_leaves_in_the_file_that_one_of_another_source_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, index = tmp_path / "a.prom", str(tmp_path / "index")
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(file))

    with pytest.raises(GuardRefused), watched_run("handbook.yaml", read_settings(index)):
        raise GuardRefused("empty")
    with pytest.raises(StoreUnavailable), watched_run("manual.yaml", read_settings(index)):
        raise StoreUnavailable("away")
    with watched_run("wiki.yaml", read_settings(index)):
        pass

    text = file.read_text()
    assert 'source="handbook",state="refused"} 1.0' in text
    assert 'source="manual",state="failed"} 1.0' in text
    with watched_run("manual.yaml", read_settings(index)):
        pass
    assert 'source="manual"' not in file.read_text(), "of a run that ended well the ledger knows"
    with watched_run("wiki.yaml", read_settings(str(tmp_path / "other"))):
        pass
    assert 'source="handbook"' not in file.read_text(), "it is of another index"


def test_a_file_that_is_no_textfile_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.prom"
    file.write_text("{ no metrics \x00\n")
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(file))

    with watched_run("wiki.yaml", read_settings(str(tmp_path / "index")), say=pytest.fail):
        pass

    assert "sitegraph_index_up" in file.read_text()


def test_runs_that_end_at_once_read_and_write_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an older reading could replace a newer one."""
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(tmp_path / "a.prom"))
    read, alone = HealthReader.read, []

    def reading(self: HealthReader, now: str) -> IndexHealth:
        other = os.open(tmp_path, os.O_RDONLY)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            alone.append(now)
        finally:
            os.close(other)
        return read(self, now)

    monkeypatch.setattr(HealthReader, "read", reading)
    with watched_run("wiki.yaml", read_settings(str(tmp_path / "index"))):
        pass

    assert len(alone) == 1
    free = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(free)


def test_a_source_whose_file_is_wrong_goes_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file-1.yaml").write_text("name: handbook\nkind: web\nnonsense: 1\n")
    monkeypatch.setenv("SITEGRAPH_METRICS_FILE", str(tmp_path / "a.prom"))

    with (
        pytest.raises(ConfigError),
        watched_run(str(tmp_path / "file-1.yaml"), read_settings(str(tmp_path / "i"))),
    ):
        raise ConfigError("unknown key")

    text = (tmp_path / "a.prom").read_text()
    assert 'source="handbook",state="failed"} 1.0' in text
    assert "file-1" not in text
