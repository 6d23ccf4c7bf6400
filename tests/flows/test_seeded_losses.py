"""40 questions about pages of a real manual: lost evidence is held, an edit that loses nothing is not."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from indexes.health import load_record
from indexes.layout import IndexLayout
from indexes.publish.current import read_current
from schemas.errors import PublishHeld
from sitegraph.cli.demo_script import serve_folder
from tests.fakes.neo4j_runs import on_neo4j, remove_graph
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.real_sites import unpack
from tests.fakes.seeded_edits import HARMLESS, LOSSES, Statement, edit_pages, statements_of
from tests.fakes.sitegraph_runs import Sitegraph

__all__ = ["on_neo4j"]

pytestmark = [pytest.mark.server, pytest.mark.data, pytest.mark.long, pytest.mark.timeout(1800)]

PAGES = (
    "wal-configuration",
    "wal-reliability",
    "wal-async-commit",
    "routine-vacuuming",
    "runtime-config-autovacuum",
    "runtime-config-connection",
    "auth-pg-hba-conf",
    "auth-password",
    "continuous-archiving",
    "explicit-locking",
    "populate",
    "backup-dump",
    "ddl-constraints",
    "ddl-partitioning",
)
QUESTIONS = 40


def test_what_lost_its_evidence_is_held(sitegraph: Sitegraph, tmp_path: Path) -> None:
    assert_held(sitegraph, tmp_path)


@pytest.mark.neo4j
def test_so_it_is_with_the_graph_in_neo4j(
    on_neo4j: Sitegraph, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    try:
        assert_held(on_neo4j, tmp_path, graph="neo4j")
    finally:
        remove_graph(neo4j_server, tmp_path / "index")


def assert_held(sitegraph: Sitegraph, folder: Path, **options: Any) -> None:
    """Of 40 harmless edits none is held, of 40 losses at least 95 %."""
    index, html = folder / "index", folder / "html"
    site = next(unpack("sites/postgresql.tar.xz", "15.20", folder / "site").rglob("html"))
    html.mkdir()
    for page in PAGES:
        shutil.copy(site / f"{page}.html", html)
    with serve_folder(html) as address:
        source, checks = write_source(folder, address)
        first = sitegraph.run(source, index, **options)
        assert first["documents"]["added"] == len(PAGES), first["problems"]
        asked = write_checks(sitegraph, checks, index, html, address)
        assert len(asked) == QUESTIONS

        edit_pages(html, asked, HARMLESS)
        harmless = sitegraph.run(source, index)
        assert harmless["documents"]["changed"] == len({one.page for one in asked})
        record = load_record(IndexLayout(index))
        assert (record, harmless["checks"]) == (record, {**harmless["checks"], "asked": QUESTIONS, "lost": 0})

        shutil.rmtree(html)
        html.mkdir()
        for page in PAGES:
            shutil.copy(site / f"{page}.html", html)
        edit_pages(html, asked, LOSSES)
        with pytest.raises(PublishHeld):
            sitegraph.run(source, index)
        assert read_current(index) == harmless["generation"]
        lost = load_record(IndexLayout(index))
        assert lost is not None
        kept = {one.text for one in asked} - {loss.check for loss in lost.losses}
        assert len(kept) <= 0.05 * QUESTIONS, kept
        assert all(loss.before for loss in lost.losses)


def write_source(folder: Path, address: str) -> tuple[Path, Path]:
    """Write the source file, and the file of questions that it names, without a question as yet."""
    path, checks = folder / "manual.yaml", folder / "questions.yaml"
    seeds = ", ".join(f"'http://{address}/{page}.html'" for page in PAGES)
    path.write_text(
        f"name: manual\nkind: web\nseeds: [{seeds}]\nscope: {{max_depth: 0}}\nallow_private: ['{address}']\n"
        "rate: {per_host_delay: 0}\nchecks: questions.yaml\n"
    )
    checks.write_text("questions: []\n")
    return path, checks


def write_checks(
    sitegraph: Sitegraph, path: Path, index: Path, html: Path, address: str
) -> tuple[Statement, ...]:
    """Write the first 40 questions that the index answers, and give their statements."""
    chunks = sitegraph.export(index)["chunks"]
    pages = [html / f"{page}.html" for page in PAGES]
    known = {one.text: (one, cited) for one, cited in cited_statements(chunks, pages, address)}
    write(path, known.values())
    done = sitegraph.call("check", str(path), "--index", str(index), "--format", "json", "--quiet")
    passed = [one["check"]["id"] for one in json.loads(done.stdout)["questions"] if one["passed"]]
    kept = [known[one] for one in passed[:QUESTIONS]]
    write(path, kept)
    return tuple(one for one, _ in kept)


def cited_statements(
    chunks: list[dict[str, Any]], pages: list[Path], address: str
) -> Iterator[tuple[Statement, str]]:
    """Yield statements that stand in one passage, with where it is."""
    for one in statements_of(pages, most=5):
        url = f"http://{address}/{one.page}"
        of_page = (chunk for chunk in chunks if chunk["url"] == url)
        found = next((chunk for chunk in of_page if one.text in " ".join(chunk["text"].split())), None)
        if found is not None and found["fragment"]:
            yield one, f"{url}#{found['fragment']}"


def write(path: Path, asked: Any) -> None:
    """Write a file of questions."""
    questions = [
        {"id": one.text, "question": one.question, "cites": cited, "states": one.text} for one, cited in asked
    ]
    path.write_text(yaml.safe_dump({"questions": questions}))
