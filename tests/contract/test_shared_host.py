"""Two crawls in two processes keep one delay at a host, over SQLite files and a real PostgreSQL."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.fakes.site_server import Ask, Reply, Site, serve

REPO = Path(__file__).resolve().parents[2]
PAGES, SECONDS, SLOW, FAST = 8, 1.0, 0.3, 0.1


def _crawl(ledger_url: str, site: Site, name: str, delay: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.fakes.crawl_in_turn", ledger_url, site.origin]
    options = {"delay": delay, "seconds": SECONDS, "name": name, "pages": PAGES}
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    return subprocess.Popen([*command, *words], cwd=REPO, stdout=subprocess.PIPE, text=True)


def test_the_gaps_between_requests_of_two_processes_are_never_below_the_longer_delay(
    ledger_url: str,
) -> None:
    site = Site({f"/{name}/{n}": Reply(b"<p>page</p>") for name in ("slow", "fast") for n in range(PAGES)})
    with serve(site):
        crawls = [_crawl(ledger_url, site, "slow", SLOW), _crawl(ledger_url, site, "fast", FAST)]
        told = [crawl.communicate(timeout=240)[0].strip() for crawl in crawls]

    assert told == [str(PAGES)] * 2
    asks = [ask for ask in site.log if _name(ask) in ("slow", "fast")]
    assert len(asks) == 2 * PAGES
    both = [ask for ask in site.log if _first(asks, "slow") <= ask.at <= _last(asks, "slow")]
    gaps = [late.at - early.at for early, late in pairwise(both)]
    assert min(gaps) >= SLOW, "while both ask, the longer delay holds"
    assert min(late.at - early.at for early, late in pairwise(site.log)) >= FAST


@pytest.mark.long
def test_a_process_that_is_killed_in_its_turn_delays_the_other_and_blocks_it_not(ledger_url: str) -> None:
    hanging = Reply(b"", stall=120.0)
    site = Site({"/dead/0": hanging, **{f"/fast/{n}": Reply(b"<p>page</p>") for n in range(PAGES)}})
    with serve(site):
        dead = _crawl(ledger_url, site, "dead", FAST)
        try:
            while "/dead/0" not in site.paths():
                assert dead.poll() is None
        finally:
            dead.kill()
            dead.wait()
        told = _crawl(ledger_url, site, "fast", FAST).communicate(timeout=240)[0].strip()
    assert told == str(PAGES)


def _name(ask: Ask) -> str:
    return ask.path.split("/")[1]


def _first(asks: list[Ask], name: str) -> float:
    return next(ask.at for ask in asks if _name(ask) == name)


def _last(asks: list[Ask], name: str) -> float:
    return max(ask.at for ask in asks if _name(ask) == name)
