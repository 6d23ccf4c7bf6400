"""Parts of real sites, crawled over HTTP: no document fails, and the counts add up."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Rows, Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.data]

PAGES = 25
LOOKED_AT = ("scheduled", "fetched", "not_modified")


def write_source(folder: Path, address: str, *, seeds: list[str], more: str = "") -> Path:
    path = folder / "real.yaml"
    urls = ", ".join(f"'http://{address}/{seed}'" for seed in seeds)
    path.write_text(
        f"name: real\nkind: web\nseeds: [{urls}]\nallow_private: ['{address}']\nrate: {{per_host_delay: 0}}\n"
        + more
    )
    return path


def assert_counts_add_up(report: dict[str, Any], exported: dict[str, Rows]) -> None:
    documents = report["documents"]
    outcomes = {name: n for name, n in documents.items() if name not in LOOKED_AT}
    assert sum(outcomes.values()) == documents["scheduled"]
    assert documents["failed"] == documents["quarantined"] == 0
    assert report["http"]["requests"] >= documents["scheduled"]
    assert len(exported["documents"]) == documents["added"]
    assert Counter(row["kind"] for row in exported["nodes"]) == report["nodes"]
    assert Counter(row["kind"] for row in exported["edges"]) == report["edges"]
    assert len(exported["chunks"]) == report["chunks"]["added"]


def assert_again_is_nothing(sitegraph: Sitegraph, source: Path, index: Path, first: dict[str, Any]) -> None:
    again = sitegraph.run(source, index)
    assert again["generation"] is None
    assert again["chunks"]["embedded"] == 0
    assert again["documents"]["unchanged"] == first["documents"]["added"]
    assert again["http"]["requests"] >= first["documents"]["added"]


def test_a_part_of_the_postgresql_manual(sitegraph: Sitegraph, tmp_path: Path) -> None:
    site = unpack("sites/postgresql.tar.xz", "15.20", tmp_path / "site")
    html = next(site.rglob("html"))
    with serve_folder(html) as address:
        source = write_source(
            tmp_path, address, seeds=["index.html"], more=f"scope: {{max_pages: {PAGES}}}\n"
        )

        report = sitegraph.run(source, tmp_path / "index")

        exported = sitegraph.export(tmp_path / "index")
        assert report["documents"]["added"] == PAGES
        silent = " which is followed and gives no passages"
        said = {p["reason"].split(";")[0] for p in report["problems"] if silent not in p["reason"]}
        assert said == {f"max_pages {PAGES} reached"}
        assert_counts_add_up(report, exported)
        assert sitegraph.damage(tmp_path / "index") == ()
        assert_again_is_nothing(sitegraph, source, tmp_path / "index", report)


@pytest.mark.long
def test_a_manual_as_html_and_as_pdf(sitegraph: Sitegraph, tmp_path: Path) -> None:
    site = unpack("twins/developers-reference.tar.xz", "13.20", tmp_path / "site")
    (pdf,) = site.rglob("developers-reference.pdf")
    with serve_folder(pdf.parent) as address:
        source = write_source(tmp_path, address, seeds=["index.html", pdf.name])

        # A process of its own: that of the tests has a peak of memory of its own.
        arguments = ("run", str(source), "--index", str(tmp_path / "index"), "--format", "json")
        with sitegraph.process(*arguments) as process:
            report = json.loads(process.communicate(timeout=240)[0])
        assert report["peak_rss_mb"]["flow"] < 1500

        exported = sitegraph.export(tmp_path / "index")
        kinds = Counter(row["kind"] for row in exported["documents"])
        assert kinds["pdf"] == 1
        assert kinds["html"] >= 10
        assert_counts_add_up(report, exported)
        for chunk in exported["chunks"]:
            assert (chunk["page_no"] is not None) == (chunk["kind"] == "pdf")
        assert sitegraph.damage(tmp_path / "index") == ()
        assert_again_is_nothing(sitegraph, source, tmp_path / "index", report)
