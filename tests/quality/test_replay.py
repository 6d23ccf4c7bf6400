"""Real sites, every version at the same address in turn, held against a count of our own of what changed."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Sitegraph
from tests.quality import site_truth
from tests.quality.floors import hold
from tests.quality.replay import Replay, replay_site
from tests.quality.site_truth import SiteVersion, new_blocks, read_site

VERSIONS = {
    "flask": ("2.2.2-3", "3.1.1-1+deb13u1"),
    "requests": ("2.28.1+dfsg-1", "2.32.3+dfsg-5+deb13u1"),
    "git": ("2.30.2-1+deb11u2", "2.39.5-0+deb12u2", "2.39.5-0+deb12u3", "2.47.3-0+deb13u1"),
    "postgresql": ("15.18-0+deb12u1", "15.20-0+deb12u1"),
}
MOST_TEXTS_PER_BLOCK = 2
SEED = "index.html"


@pytest.mark.parametrize("site", VERSIONS)
@pytest.mark.long
@pytest.mark.data
@pytest.mark.server
@pytest.mark.timeout(3600)
def test_only_what_changed_is_added_removed_and_embedded(
    site: str, sitegraph: Sitegraph, tmp_path: Path, figures: list[str]
) -> None:
    before = SiteVersion({}, Counter())
    with replay_site(sitegraph, tmp_path) as replay:
        for version, folder in unpacked(site, tmp_path):
            # What is still there stays, linked or not: only a bad answer says that a page is gone.
            truth = read_site(folder, starts={SEED, *before.pages})
            report = replay.run(folder)

            embedded, blocks = report["chunks"]["embedded"], new_blocks(before, truth)
            figures.append(line_of(site, version, before, truth, blocks=blocks, embedded=embedded))
            assert_shows_exactly(replay.live(), truth)
            if before.pages:
                assert embedded <= MOST_TEXTS_PER_BLOCK * blocks
                if embedded:
                    hold(figures, "replay", f"{site} {version}", blocks / embedded)
            assert_again_is_nothing(replay, folder)
            before = truth


def test_the_second_opinion_knows_nothing_of_the_program() -> None:
    tree = ast.parse(Path(site_truth.__file__).read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, "lxml"}


def unpacked(site: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Each version and the folder of its start page."""
    for version in VERSIONS[site]:
        top = unpack(f"sites/{site}.tar.xz", version, folder / version)
        yield version, min(top.rglob(SEED), key=lambda file: len(file.parts)).parent


def assert_shows_exactly(live: frozenset[str], truth: SiteVersion) -> None:
    """Every page that links reach, and no other; one of several equal ones stands for all."""
    assert live - truth.pages.keys() == frozenset()
    shown = {truth.pages[path] for path in live}
    assert {path for path, digest in truth.pages.items() if digest not in shown} == set()


def assert_again_is_nothing(replay: Replay, folder: Path) -> None:
    """The same version again: no text is embedded, no version of a table made, no file of a store touched."""
    before = replay.traces()
    report = replay.run(folder)
    assert report["generation"] is None
    assert report["chunks"]["embedded"] == 0
    assert replay.traces() == before


def line_of(
    site: str, version: str, old: SiteVersion, new: SiteVersion, *, blocks: int, embedded: int
) -> str:
    """One row of the table at the end."""
    added, removed = len(new.pages.keys() - old.pages.keys()), len(old.pages.keys() - new.pages.keys())
    return (
        f"{site} {version}: {len(new.pages)} pages, +{added} -{removed}, {new.blocks.total()} blocks, "
        f"{blocks} new, {embedded} texts embedded"
    )
