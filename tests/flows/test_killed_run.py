"""Runs that are killed, stopped or run out of disk, and the runs after them."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.crashes import CrashSite, crashes
from tests.fakes.handbook import TOPICS, Handbook, serve_handbook, write_source
from tests.fakes.site_server import Ask, Reply
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]
__all__ = ["crashes"]

# Nothing frozen, published, and frozen where time allows; tests/faults/test_every_crash_point.py has all.
POINTS = ("parse.midway", pytest.param("vector.not_tagged", marks=pytest.mark.long), "current.not_recorded")


@pytest.mark.parametrize("point", POINTS)
def test_a_run_killed_in_the_middle_is_finished_by_the_next(
    crashes: CrashSite, tmp_path: Path, point: str
) -> None:
    index = crashes.copy(tmp_path)
    crashes.kill_at(point, index)

    crashes.finish(index)


def test_readers_see_the_old_generation_until_the_rename(crashes: CrashSite, tmp_path: Path) -> None:
    index = crashes.copy(tmp_path)
    crashes.kill_at("current.before_rename", index)

    seen = crashes.sitegraph.export(index)

    assert (index / "CURRENT").read_text().startswith("1\n")
    assert seen == crashes.sitegraph.export(crashes.first)
    assert crashes.sitegraph.damage(index) == ()


def test_a_full_disk_is_said_in_one_line_and_the_old_generation_stays(
    crashes: CrashSite, tmp_path: Path
) -> None:
    index = crashes.copy(tmp_path)
    arguments = ("run", str(crashes.source), "--index", str(index))

    done = crashes.sitegraph.command(*arguments, SITEGRAPH_FAULT="vector.before_merge:enospc")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("sitegraph: the disk is full")
    assert done.stdout == ""
    assert crashes.sitegraph.export(index) == crashes.sitegraph.export(crashes.first)
    crashes.finish(index)


@pytest.fixture
def slow_site() -> Iterator[Handbook]:
    """A handbook whose pages take their time."""
    with serve_handbook() as handbook:
        slow_down(handbook, seconds=0.3)
        yield handbook


def slow_down(handbook: Handbook, *, seconds: float) -> None:
    """Let every page take its time."""
    for path in handbook.articles:
        answer = handbook.site.pages[path]
        assert callable(answer)

        def late(ask: Ask, answer: object = answer) -> Reply:
            time.sleep(seconds)
            assert callable(answer)
            reply = answer(ask)
            assert isinstance(reply, Reply)
            return reply

        handbook.site.pages[path] = late


def test_what_a_killed_crawl_has_fetched_is_not_fetched_again(sitegraph: Sitegraph, tmp_path: Path) -> None:
    """The kill comes when the first wave, the start page alone, is in the ledger."""
    with serve_handbook() as handbook:
        source, index = write_source(tmp_path, handbook), tmp_path / "index"
        with sitegraph.process(
            "run", str(source), "--index", str(index), SITEGRAPH_FAULT="ledger.after_fetch:kill"
        ) as process:
            process.wait(timeout=300)
        before = handbook.asked()

        report = sitegraph.run(source, index)

        assert before == ["/index.html"]
        assert "/index.html" not in handbook.asked()
        assert report["documents"]["added"] == len(TOPICS) + 1
