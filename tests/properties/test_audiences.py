"""What an audience sees equals an index of the documents that it may see, whatever happens between."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

import pytest

from flows.run.opening import open_described
from indexes.changes import read_changes
from indexes.layout import IndexLayout, load_manifest
from indexes.markers import FOLDER
from indexes.publish.generation import load_generation
from indexes.wiring import open_readers
from retrieval.evidence import build_retriever, find_evidence
from retrieval.question.query import build_query
from runtime.clock import SystemClock
from runtime.settings import read_settings
from schemas.access import Groups, audience_name
from schemas.records import to_record
from sitegraph.actions.export_records import rows
from tests.fakes.lent_parts import remembered_vectors
from tests.fakes.neo4j_runs import remove_graph
from tests.fakes.neo4j_server import Neo4jServer, settings_of
from tests.fakes.neo4j_stores import query_session
from tests.fakes.random_sites import HIDDEN, SENTENCES, RandomSite
from tests.fakes.sitegraph_runs import TABLES, Sitegraph, sitegraph_here

STEPS = 3
AUDIENCES: tuple[Groups, ...] = (frozenset(), frozenset({"hr"}), frozenset({"hr", "ops"}))
QUESTIONS = (SENTENCES[0], f"Where is the {HIDDEN} kept?", "What depends on GOV-0001?", "salary contract")


@dataclass
class _Clock:
    """A date that runs of the index and of what it is compared with have in common."""

    at: datetime = field(default=datetime(2026, 11, 1, tzinfo=UTC))

    def now(self) -> datetime:
        return self.at

    def forward(self) -> None:
        self.at += timedelta(days=1)


def test_an_audience_is_an_index_of_what_it_may_see(tmp_path: Path) -> None:
    _compare_through_changes(0, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_200_audiences_are_indexes_of_what_they_may_see(seed: int, tmp_path: Path) -> None:
    _compare_through_changes(seed, tmp_path, steps=2)


@pytest.mark.neo4j
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_an_audience_in_neo4j_is_an_index_of_what_it_may_see(
    seed: int, tmp_path: Path, neo4j_server: Neo4jServer
) -> None:
    settings = {"SITEGRAPH_GRAPH": "neo4j", **settings_of(neo4j_server)}
    try:
        _compare_through_changes(seed, tmp_path, steps=2, settings=settings)
        _drop(sitegraph_here(**settings), tmp_path / "whole", audience_name(AUDIENCES[seed]), neo4j_server)
    finally:
        for index in (tmp_path / "alone", *(tmp_path / "whole" / FOLDER).iterdir(), tmp_path / "whole"):
            remove_graph(neo4j_server, index)


def _drop(program: Sitegraph, whole: Path, name: str, server: Neo4jServer) -> None:
    """Drop an audience, which leaves no row of it in the database that others share."""
    ix = load_manifest(IndexLayout(whole / FOLDER / name)).index_id
    count = "MATCH (n) WHERE n.ix = $ix AND NOT n:SitegraphIndex RETURN count(n)"
    with query_session(server) as session:
        before = session.run(count, ix=ix).single(strict=True)[0]
        done = program.call("audiences", "--drop", name, "--index", str(whole), "--quiet")
        assert (done.returncode, before > 0) == (0, True), done.stderr
        assert session.run(count, ix=ix).single(strict=True)[0] == 0


def _compare_through_changes(
    seed: int,
    folder: Path,
    *,
    steps: int = STEPS,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> None:
    site, clock = RandomSite.make(seed), _Clock()
    groups = AUDIENCES[seed % len(AUDIENCES)]
    program = sitegraph_here(**settings)
    whole, alone = folder / "whole", folder / "alone"
    audience = whole / FOLDER / audience_name(groups)
    for step in range(steps):
        site.write(folder / "site", site.seen(None))
        site.write(folder / "part", site.seen(groups))
        (folder / "site.yaml").write_text(site.source("site", with_access=True))
        (folder / "part.yaml").write_text(site.source("part", with_access=False))
        with mock.patch.object(SystemClock, "now", clock.now):
            program.run(folder / "site.yaml", whole, accept=True)
            if step == 0 and groups:
                added = program.call("audiences", "--add", audience.name, "--index", str(whole), "--quiet")
                assert added.returncode == 0, added.stderr
            with _without_access():
                program.run(folder / "part.yaml", alone, accept=True)
        told = f"seed {seed}, step {step}, readers of {audience_name(groups)}"
        found, expected = found_of(program, audience), found_of(program, alone)
        for what, held in found.items():
            assert held == expected[what], f"{told}: {what}"
        if "hr" not in groups and site.paths.get("hr/*") == "hr":
            without_questions = {what: held for what, held in found.items() if what != "answers"}
            assert HIDDEN not in json.dumps(without_questions).casefold(), told
        site.change()
        clock.forward()


@contextmanager
def _without_access() -> Iterator[None]:
    """What is compared with knows of no groups: it has the files alone."""
    with (
        mock.patch("flows.walk.is_in_force", return_value=False),
        mock.patch("flows.audiences.open.is_in_force", return_value=False),
    ):
        yield


def found_of(program: Sitegraph, index: Path) -> dict[str, Any]:
    """All that readers can learn of an index: rows, answers with scores, feed, counts, bytes of PDFs."""
    with program._set_up(), closing(open_described(read_settings(index=str(index)))) as opened:
        number = opened.current()
        exported = {
            what: list(rows(opened, what, generation=number, source=None, stable=True, vectors=False))
            for what in TABLES
        }
        pdfs = dict(opened.ledger.origins.of_generation(number))
        settings = opened.settings
    manifest = load_generation(IndexLayout(index), number)
    readers = open_readers(index, environment=settings)
    retriever = build_retriever(readers)
    with remembered_vectors():
        bundles = [
            to_record(find_evidence(readers, retriever, build_query(question)).bundle)
            for question in QUESTIONS
        ]
    return {
        **exported,
        "generation": number,
        "counts": to_record(manifest)["sources"],
        "answers": bundles,
        "feed": to_record(read_changes(index, since=0)),
        "pdfs": pdfs,
    }
