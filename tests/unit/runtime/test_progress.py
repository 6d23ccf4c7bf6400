"""Progress: what is told, how often, and that nobody is told anything who asked for quiet."""

import pytest

from runtime.progress import EVERY_SECONDS, StageProgress, pace_of, progress_line


@pytest.mark.parametrize(
    ("done", "total", "seconds", "told"),
    [
        (0, 10, 5.0, "starting"),
        (50, 100, 5.0, "10/s, 0:00:05 left"),
        (10, 100, 60.0, "10.0/min, 0:09:00 left"),
        (30, 100, 20.0, "1.5/s, 0:00:47 left"),
        (100, 100, 10.0, "10/s, 0:00:10"),
        (7, 0, 7.0, "1.0/s, 0:00:07"),
    ],
)
def test_rate_and_time_left(done: int, total: int, seconds: float, told: str) -> None:
    assert pace_of(done, total, seconds=seconds) == told


def test_a_stage_whose_size_is_not_known_has_a_question_mark() -> None:
    assert progress_line("export", 7, 0, seconds=7.0) == "export 7/?, 1.0/s, 0:00:07"


def test_without_a_terminal_a_line_comes_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    with StageProgress(clock=lambda: now[0]) as progress:
        progress.expect("fetch", 100)
        for _ in range(100):
            now[0] += 1.0
            progress.advance("fetch")

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 100 // EVERY_SECONDS
    assert lines[0] == "fetch 30/100, 1.0/s, 0:01:10 left"


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    with StageProgress(quiet=True, clock=lambda: now[0]) as progress:
        for _ in progress.over("verify", range(5), total=5):
            now[0] += EVERY_SECONDS

    assert capsys.readouterr().err == ""


def test_what_is_gone_through_is_counted_as_it_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    with StageProgress(clock=lambda: now[0]) as progress:
        for _ in progress.over("verify", ["a", "b"], total=2):
            now[0] += EVERY_SECONDS

    assert capsys.readouterr().err.splitlines()[-1] == "verify 2/2, 2.0/min, 0:01:00"
