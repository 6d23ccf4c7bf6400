"""What may not be an input never influences an answer that allows input alone, whatever happens between."""

import os
import random
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest

from runtime.clock import SystemClock
from schemas.settings import Settings
from sitegraph.service.readers import narrow
from tests.fakes.random_sites import SENTENCES, WORDS
from tests.fakes.sitegraph_runs import sitegraph_here
from tests.properties.test_audiences import found_of

NARROWED = "allow=ai-input"
REFUSALS = (
    '<meta name="robots" content="noai">',
    '<meta name="robots" content="noindex">',
    '<meta name="robots" content="nosnippet">',
    '<meta name="tdm-reservation" content="1">',
    '<meta name="robots" content="unavailable_after: 2026-11-03">',
)
"""The last one begins while the runs go on."""

BEGINS = datetime(2026, 11, 3, tzinfo=UTC)
GRANTS = ("", '<meta name="tdm-reservation" content="0">', '<meta name="robots" content="noimageai">')
WORD = "quicksilver"
"""A word that stands in refused pages alone."""


@dataclass
class SignedPage:
    """A page: its words, where it leads, what its head says, and when it was written."""

    title: str
    body: str
    links: tuple[str, ...]
    head: str
    written: int

    def markup(self) -> str:
        led = " ".join(f'See <a href="{link}">{link}</a>.' for link in self.links)
        return (
            f"<html><head><title>{self.title}</title>{self.head}</head><body><main><h1>{self.title}</h1>"
            f"<p>{self.body}</p><h2>More</h2><p>{led}</p></main></body></html>"
        )

    def is_refused(self, now: datetime) -> bool:
        return self.head in REFUSALS[:-1] or (self.head == REFUSALS[-1] and now >= BEGINS)


@dataclass
class SignedSite:
    """Pages of which some refuse to be an input; the rule said a second time, in the test."""

    chance: random.Random
    pages: dict[str, SignedPage] = field(default_factory=dict)
    step: int = 0

    @classmethod
    def make(cls, seed: int) -> "SignedSite":
        site = cls(random.Random(seed))
        for number in range(site.chance.randint(5, 9)):
            site.write_page(f"p{number}.html", refused=site.chance.random() < 0.4 and number > 0)
        return site

    def write_page(self, path: str, *, refused: bool) -> None:
        others = [*self.pages]
        said = [self._sentence(), self.chance.choice(SENTENCES), self._sentence()]
        self.pages[path] = SignedPage(
            title=" ".join(self.chance.sample(WORDS, 2)).title(),
            body=" ".join([*said, f"The {WORD} is kept there."] if refused else said),
            links=tuple(self.chance.sample(others, min(len(others), self.chance.randint(0, 3)))),
            head=self.chance.choice(REFUSALS if refused else GRANTS),
            written=self.step,
        )

    def _sentence(self) -> str:
        return f"The {' '.join(self.chance.sample(WORDS, 6))} lasts {self.chance.randint(2, 99)} days."

    def change(self) -> None:
        """Edit a page, add one, take one away, or let one refuse what it did not, or the other way round."""
        self.step += 1
        for _ in range(self.chance.randint(1, 3)):
            path = self.chance.choice([path for path in self.pages if path != "p0.html"])
            match self.chance.randint(0, 3):
                case 0:
                    self.write_page(path, refused=self.chance.random() < 0.5)
                case 1:
                    self.write_page(
                        f"n{self.step}-{len(self.pages)}.html", refused=self.chance.random() < 0.5
                    )
                case 2 if len(self.pages) > 3:
                    del self.pages[path]
                case _:
                    page = self.pages[path]
                    page.head = "" if page.head in REFUSALS else self.chance.choice(REFUSALS)
                    page.written = self.step

    def write(self, folder: Path, paths: set[str]) -> None:
        """Make a folder have just these pages, each of the time when it was written last."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for path in paths:
            (folder / path).write_text(self.pages[path].markup())
            at = 1_700_000_000 + 86_400 * self.pages[path].written
            os.utime(folder / path, (at, at))


def test_what_may_be_no_input_says_nothing_in_an_answer(tmp_path: Path) -> None:
    _compare_through_changes(0, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 101))
def test_what_may_be_no_input_says_nothing_in_answers_over_100_sites(seed: int, tmp_path: Path) -> None:
    _compare_through_changes(seed, tmp_path)


def _compare_through_changes(seed: int, folder: Path, *, steps: int = 3) -> None:
    """Evidence, scores, paths, counts, edges and the feed are those of an index without the refused pages."""
    site, now = SignedSite.make(seed), datetime(2026, 11, 1, tzinfo=UTC)
    program, whole, alone = sitegraph_here(), folder / "whole", folder / "alone"
    for root in ("site", "part"):
        (folder / f"{root}.yaml").write_text(f"name: site\nkind: files\nroots: [{root}]\n")
    for step in range(steps):
        site.write(folder / "site", {*site.pages})
        site.write(folder / "part", {path for path, page in site.pages.items() if not page.is_refused(now)})
        with mock.patch.object(SystemClock, "now", lambda _, at=now: at):
            program.run(folder / "site.yaml", whole, accept=True)
            if step == 0:
                added = program.call("audiences", "--add", NARROWED, "--index", str(whole), "--quiet")
                assert added.returncode == 0, added.stderr
            program.run(folder / "part.yaml", alone, accept=True)
        narrowed = narrow(Settings(index=str(whole)), ["ai-input"])  # as a request does
        found, expected = found_of(program, Path(narrowed.index)), found_of(program, alone)
        for what, held in found.items():
            assert held == expected[what], f"seed {seed}, step {step}: {what}"
        site.change()
        now += timedelta(days=1)
