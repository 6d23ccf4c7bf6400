"""Links of a page, held against those that lynx lists."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.urls import canonical_url
from tests.quality.floors import hold
from tests.quality.html_gold import read_gold
from tests.quality.html_sites import HOST, SOURCES, Site, parse

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(1200)]

_SITES = ("requests-2.32", "debian-faq", "bash", "git", "postgresql", "flask-3.1")
_MOST = 60
"""Pages of a site that lynx reads: it takes a process each."""


@pytest.mark.parametrize("name", _SITES)
def test_every_target_on_the_site_that_lynx_lists_is_a_link(
    name: str, tmp_path: Path, figures: list[str]
) -> None:
    if shutil.which("lynx") is None:
        pytest.skip("no lynx: apt-get install lynx")
    site = Site(SOURCES[name], tmp_path / "unpacked")
    root = tmp_path / "site"
    root.symlink_to(site.folder)
    pages = list(site.pages)[:: max(1, len(site.pages) // _MOST)]
    found = total = 0
    for page in pages:
        ours = {link.target for link in parse(site.pages[page], HOST + page).links}
        files = {
            href[5:].lstrip("/") for href in read_gold(site.pages[page]).hrefs if href.startswith("file:")
        }
        stated = set(on_site(listed(root / page), root, files))
        total += len(stated)
        found += len(stated & ours)
        figures.extend(f"  {page}: {target}" for target in sorted(stated - ours)[:3])
    hold(figures, "html", f"{name}.links", found / total, note=f"of {total} on {len(pages)} pages")


def listed(path: Path) -> list[str]:
    """Targets as lynx resolves them."""
    command = ["lynx", "-dump", "-listonly", "-nonumbers", "-force_html", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True)
    return [line.strip() for line in done.stdout.splitlines()]


def on_site(targets: list[str], root: Path, files: set[str]) -> Iterator[str]:
    """Targets below *root*, canonical, without fragment; *files* are on the reader's disk, not the site."""
    for target in targets:
        path = target.partition("#")[0].removeprefix("file://localhost").removeprefix("file://")
        if path.startswith(f"{root}/") and path.removeprefix(f"{root}/") not in files:
            url = canonical_url(HOST + path.removeprefix(f"{root}/"), HOST)
            if url is not None:
                yield url
