"""The first minute of a new user, on a site that MkDocs made: four commands from nothing to an answer."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.source_file import load_source
from tests.fakes.chromium import chromium, watched_page
from tests.fakes.folder_server import FolderServer, python_server
from tests.fakes.prefect_server import REPO
from tests.fakes.running_service import served_pages
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

QUAYS = ("North", "South", "Fish", "Coal")
ROBOTS = "User-agent: *\nDisallow: /drafts/\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FolderServer]:
    """A manual of six pages with a search page, and once more as its first version."""
    folder = tmp_path_factory.mktemp("harbour")
    with python_server(folder / "site") as server:
        build_manual(folder, server.url)
        build_manual(folder, f"{server.url}1.0/", site="site/1.0")
        (folder / "site" / "robots.txt").write_text(ROBOTS)
        yield server


def build_manual(folder: Path, url: str, *, site: str = "site") -> None:
    """Build it with MkDocs, with the sitemap that it makes."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    links = "".join(f"- [{name}]({name.lower()}.md)\n" for name in QUAYS)
    older = f"The [first edition]({url}1.0/) and its [tides]({url}1.0/tides/) are kept.\n"
    (docs / "index.md").write_text(
        f"# Harbour\n\nThe quays of the harbour, and its tides.\n\n{links}\n{older}"
    )
    (docs / "tides.md").write_text("# Tides\n\n## Spring tide\n\nAt spring tide the sluice opens at dawn.\n")
    for number, name in enumerate(QUAYS):
        words = f"Ships {number + 4} metres deep moor here, at the {name} quay, for {number + 7} crowns."
        (docs / f"{name.lower()}.md").write_text(f"# {name} quay\n\n## Berths\n\n{words}\n")
    settings = {
        "site_name": "Harbour", "site_url": url, "docs_dir": "docs", "site_dir": site,
        "theme": {"name": "readthedocs"},
    }  # fmt: skip
    (folder / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")
    build(load_config(str(folder / "mkdocs.yml")))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that somebody begins in."""
    return tmp_path_factory.mktemp("empty")


def typed(sitegraph: Sitegraph, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Type a command in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "sitegraph", *words],
        cwd=folder,
        env=environment(sitegraph),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def environment(sitegraph: Sitegraph) -> dict[str, str]:
    return {**sitegraph.environment, "PYTHONPATH": os.fspath(REPO)}


def test_from_an_empty_folder_to_an_answer_over_http_in_four_commands(
    sitegraph: Sitegraph, site: FolderServer, empty: Path
) -> None:
    begun = typed(sitegraph, empty, "init", site.url, "-o", "harbour.yaml", "--allow-private", site.address)
    assert begun.returncode == 0, begun.stderr
    assert "At least 6 documents" in begun.stdout
    assert begun.stdout.endswith("next: sitegraph run harbour.yaml\n")

    run = typed(sitegraph, empty, *begun.stdout.splitlines()[-1].split()[2:])
    assert run.returncode == 0, run.stderr
    assert "generation 1 published" in run.stdout

    with subprocess.Popen(
        [sys.executable, "-m", "sitegraph", "serve", "--port", "0", "--workers", "1"],
        cwd=empty,
        env=environment(sitegraph),
        stderr=subprocess.PIPE,
        text=True,
    ) as served:
        assert served.stderr is not None
        address = served.stderr.readline().split(" at ")[1].split(";")[0]
        found = ask(address, "When does the sluice open at spring tide?")
        served.send_signal(signal.SIGTERM)
        assert served.wait(120) == 0
    assert "sluice opens at dawn" in found["evidence"][0]["text"]
    assert found["evidence"][0]["url"].startswith(f"{site.url}tides/")


def ask(address: str, question: str) -> dict[str, Any]:
    """The fourth command: what `curl` would send."""
    body = json.dumps({"query": question, "top_k": 1}).encode()
    request = urllib.request.Request(
        f"{address}/retrieve", data=body, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


def test_what_was_indexed_is_found_in_the_browser_and_opens_at_its_words(
    sitegraph: Sitegraph, site: FolderServer, empty: Path
) -> None:
    """The fourth command of somebody who has no `curl`: a browser at the address that `serve` says."""
    with (
        served_pages(empty / ".sitegraph", **environment(sitegraph)) as origin,
        chromium() as browser,
        watched_page(browser) as watched,
    ):
        page = watched.page
        page.goto(origin)
        page.keyboard.type("When does the sluice open?")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=*")
        first = page.locator("a.open").first
        assert "Spring tide" in first.inner_text()
        first.click()
        page.wait_for_url("**/cite/*")
        assert "sluice opens at dawn" in page.locator("main").inner_text()
        assert page.locator(f"a[href^='{site.url}tides/']").count()
        assert watched.trouble == []


def test_the_source_file_leaves_out_the_other_version_and_the_search_page(
    sitegraph: Sitegraph, site: FolderServer, empty: Path
) -> None:
    source = load_source(empty / "harbour.yaml")

    assert source.seeds == (site.url,)
    assert f"{site.url}1.0/*" in source.scope.exclude
    exported = typed(sitegraph, empty, "export", "--what", "documents")
    urls = {json.loads(line)["url"].removeprefix(site.url) for line in exported.stdout.splitlines()}
    assert urls == {"", "tides/", *(f"{name.lower()}/" for name in QUAYS)}


def test_a_url_can_be_tried_without_a_file_and_the_output_says_how_to_go_on(
    sitegraph: Sitegraph, site: FolderServer, tmp_path: Path
) -> None:
    done = typed(sitegraph, tmp_path, "run", f"{site.url}tides/", "--allow-private", site.address)

    assert done.returncode == 0, done.stderr
    assert "generation 1 published" in done.stdout
    assert f"pages that match {site.url}tides/*, at most 50" in done.stderr
    assert f"sitegraph init {site.url}tides/ --allow-private {site.address}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [".sitegraph"]


def test_a_pdf_can_be_tried_by_its_path(sitegraph: Sitegraph, tmp_path: Path) -> None:
    from tests.fakes.pdfs import manual

    (tmp_path / "manual [1].pdf").write_bytes(manual())
    (tmp_path / "other.md").write_text("# Other\n\nNot this one.\n")

    done = typed(sitegraph, tmp_path, "run", "manual [1].pdf", "--format", "json")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["source"], report["documents"]["added"]) == ("manual-1", 1)
