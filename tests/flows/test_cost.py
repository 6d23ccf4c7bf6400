"""What a run says that it cost is what the kernel says, and follows what changed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.prefect_server import REPO
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server]

PAGES, CHANGED = 40, 10
UNTOLD_SECONDS = 3.0
"""CPU time after the report is made: artifacts, closing, the ends of the interpreter and its children."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of pages for MkDocs, and the source file of what it builds."""
    (tmp_path / "docs").mkdir()
    for number in range(PAGES):
        write_page(tmp_path, number)
    (tmp_path / "mkdocs.yml").write_text("site_name: Fleet\nplugins: []\nuse_directory_urls: false\n")
    (tmp_path / "fleet.yaml").write_text("name: fleet\nkind: files\nroots: [site]\n")
    return tmp_path


def write_page(folder: Path, number: int, more: str = "") -> None:
    """Write one page; *more* is a paragraph at its end."""
    others = "\n".join(
        f"See [ship {other}](ship{other}.md)." for other in (number // 2, (number * 7) % PAGES)
    )
    cargo = (
        f"Ship {number} carries {number * 13} crates of lamps, which are counted when she is laden, when she "
        f"meets the pilot, and once more on the quay, where berth {number} is kept free for her until noon."
    )
    text = f"# Ship {number}\n\n{cargo}\n\n{others}\n\n{more}\n"
    (folder / "docs" / f"ship{number}.md").write_text(text)


def run(sitegraph: Sitegraph, site: Path) -> tuple[dict[str, Any], float]:
    """Build the site, run its source as a command; the report, and the CPU seconds that the kernel counts."""
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=site, check=True)
    out = site / "report.json"
    with out.open("wb") as report:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "sitegraph.cli.app", "run", str(site / "fleet.yaml"), "--quiet"),
                *("--index", str(site / "index"), "--format", "json"),
            ],
            cwd=REPO,
            env=sitegraph.environment,
            stdout=report,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return json.loads(out.read_text()), used.ru_utime + used.ru_stime


def cpu(report: dict[str, Any]) -> dict[str, float]:
    """CPU seconds by cause."""
    return {cause: spent["cpu"] for cause, spent in report["cost"]["causes"].items()}


def test_the_account_is_what_the_kernel_counts_and_follows_the_change(
    sitegraph: Sitegraph, site: Path
) -> None:
    first, first_seconds = run(sitegraph, site)
    nothing, nothing_seconds = run(sitegraph, site)
    for number in range(CHANGED):
        write_page(site, number, more=f"On day {number} it met a heron that nobody had counted.")
    changed, changed_seconds = run(sitegraph, site)

    for report, seconds in ((first, first_seconds), (nothing, nothing_seconds), (changed, changed_seconds)):
        total = report["cost"]["total"]["cpu"]
        assert sum(cpu(report).values()) == pytest.approx(total, abs=0.001)
        assert seconds - UNTOLD_SECONDS <= total <= seconds * 1.02 + 0.1, (total, seconds)
        assert cpu(report).get("other", 0.0) < total / 4, cpu(report)

    tables = ("documents", "nodes", "edges", "chunks")
    assert {t: first["cost"]["rows"][t]["touched"] for t in tables} == {
        t: first["cost"]["rows"][t]["there"] for t in tables
    }
    assert {"fetch", "parse", "embed", "link", "similar", "write", "indexes", "digests"} <= cpu(first).keys()
    assert first["cost"]["causes"]["write"]["written"] > 0
    assert cpu(nothing).keys() & {"embed", "link", "write", "indexes", "publish"} == set()
    assert {rows["touched"] for rows in nothing["cost"]["rows"].values()} == {0}
    chunks = changed["cost"]["rows"]["chunks"]
    assert CHANGED <= chunks["touched"] < chunks["there"] / 2
    assert cpu(changed)["parse"] < cpu(first)["parse"]

    told = sitegraph.call("status", "--index", str(site / "index"), "--format", "json")
    assert json.loads(told.stdout)["sources"]["fleet"]["last_run"]["cost"] == changed["cost"]
    said = sitegraph.call("status", "--index", str(site / "index")).stdout
    assert f"{chunks['touched']} of {chunks['there']} chunks written for their text, date or place" in said
