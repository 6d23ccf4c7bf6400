"""A manual and a PDF: the same export, whoever does the work and wherever the index and its graph are.

Which texts the encoder's quick route gets, and which the one for many, differs between a process that reads
everything and workers that read parts, so scores of similar passages may differ by what separates the routes,
and of two that are nearly as similar to a third the other one may be its last neighbour.
SAME_EXPORT_PAGES says how many documents are read, 0 all of them: an index of the whole manual takes long.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.bucket_index import bucket_index
from tests.fakes.dask_cluster import DASK
from tests.fakes.neo4j_runs import remove_graph
from tests.fakes.neo4j_server import settings_of
from tests.fakes.prefect_server import PrefectServer
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Rows, Sitegraph
from tests.flows.test_ray import RAY
from tests.flows.test_real_sites import write_source

PAGES = int(os.environ.get("SAME_EXPORT_PAGES", "60"))
SECONDS = 3600
pytestmark = [
    pytest.mark.server,
    pytest.mark.data,
    pytest.mark.long,
    pytest.mark.timeout(2 * SECONDS),
]
SCORES_APART = 0.002
"""At most, of two similar passages, where workers encode; threads give the same scores in every place."""

Pairs = dict[tuple[str, str], float]
RUNNERS: dict[str, dict[str, str]] = {"threads": {}, "dask": DASK, "ray": RAY}
FOLDER, BUCKET = "folder", "bucket"
LANCE, NEO4J = "lance", "neo4j"
FIRST = ("threads", FOLDER, LANCE)
"""What all others are compared with."""


def cells() -> Iterator[Any]:
    """Every other way to the same index."""
    for place in (FOLDER, BUCKET):
        for graph in (LANCE, NEO4J):
            for runner in RUNNERS:
                if (runner, place, graph) != FIRST:
                    needs = [pytest.mark.neo4j] if graph == NEO4J else []
                    needs += [pytest.mark.postgres] if place == BUCKET else []
                    yield pytest.param(runner, place, graph, marks=needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class First:
    """The source, and what the index holds that threads made in a folder."""

    source: Path
    documents: int
    export: dict[str, Rows]


@pytest.fixture(scope="module")
def first(sitegraph: Sitegraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[First]:
    folder = tmp_path_factory.mktemp("same-export")
    html = next(unpack("sites/postgresql.tar.xz", "15.20", folder / "site").rglob("html"))
    (pdf,) = unpack("twins/developers-reference.tar.xz", "13.20", folder / "twin").rglob("*.pdf")
    shutil.copy(pdf, html / pdf.name)
    bound = f"scope: {{max_pages: {PAGES}}}\n" if PAGES else ""
    with serve_folder(html) as address:
        source = write_source(folder, address, seeds=[pdf.name, "index.html"], more=bound)
        report = index_with(sitegraph, source, folder / "index", LANCE)
        export = sitegraph.export(folder / "index")
        assert {row["kind"] for row in export["documents"]} >= {"html", "pdf"}
        assert "similar_to" in {row["kind"] for row in export["edges"]}
        yield First(source=source, documents=report["documents"]["added"], export=export)


def index_with(program: Sitegraph, source: Path, index: Path, graph: str) -> dict[str, Any]:
    """Run as a command, and give its report."""
    arguments = ("run", str(source), "--index", str(index), "--graph", graph, "--format", "json", "--quiet")
    with program.process(*arguments) as process:
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    report: dict[str, Any] = json.loads(out)
    return report


@pytest.mark.parametrize(("runner", "place", "graph"), list(cells()))
def test_the_export_is_the_same(
    runner: str,
    place: str,
    graph: str,
    first: First,
    sitegraph: Sitegraph,
    prefect_server: PrefectServer,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    figures: list[str],
) -> None:
    if runner == "ray":
        pytest.importorskip("ray", reason="ray has no wheel for this Python")
    settings, began = dict(RUNNERS[runner]), time.monotonic()
    with ExitStack() as stack:
        if graph == NEO4J:
            server = request.getfixturevalue("neo4j_server")
            settings |= settings_of(server)
        if place == BUCKET:
            postgres, s3 = (request.getfixturevalue(name) for name in ("postgres_server", "s3_server"))
            remote = stack.enter_context(bucket_index(prefect_server, postgres, s3, **settings))
            program, index = remote.sitegraph, remote.index
        else:
            program = replace(sitegraph, environment={**sitegraph.environment, **settings})
            index = tmp_path / "index"
        report = index_with(program, first.source, index, graph)
        if graph == NEO4J:
            stack.callback(remove_graph, server, index)
        taken = time.monotonic() - began
        figures.append(f"{runner}, {place}, {graph}: {report['documents']['added']} documents, {taken:.0f} s")

        assert report["documents"]["added"] == first.documents
        export = program.export(index)
        if runner == "threads":
            assert differences(first.export, export) == []
        else:
            one, other = similar(first.export), similar(export)
            apart = max(abs(one[pair] - other[pair]) for pair in one.keys() & other.keys())
            swapped = len(one.keys() ^ other.keys())
            figures.append(
                f"  of {len(one)} similar pairs {swapped} differ, and scores by {apart:.4f} at most"
            )
            assert apart <= SCORES_APART
            assert not_last(one, other) == not_last(other, one) == []
            assert differences(without_similar(first.export), without_similar(export)) == []


def differences(here: dict[str, Rows], there: dict[str, Rows]) -> list[str]:
    """What one export says and the other does not; a diff of two exports would take minutes."""
    told = []
    for table, rows in here.items():
        if rows != there[table]:
            one, other = ({json.dumps(row, sort_keys=True) for row in side[table]} for side in (here, there))
            lost, more = sorted(one - other), sorted(other - one)
            told.append(f"{table}: {len(lost)} lost, {len(more)} more, such as {lost[:2]} and {more[:2]}")
    return told


def without_similar(export: dict[str, Rows]) -> dict[str, Rows]:
    """All of an export but which passages are similar, and how much."""
    return {**export, "edges": [row for row in export["edges"] if row["kind"] != "similar_to"]}


def similar(export: dict[str, Rows]) -> Pairs:
    """The scores of similar passages by pair."""
    return {(row["src"], row["dst"]): row["score"] for row in export["edges"] if row["kind"] == "similar_to"}


def not_last(here: Pairs, there: Pairs) -> list[tuple[str, str]]:
    """Pairs of one export alone that are not the last of their source passage: more than scores differ."""
    last: dict[str, float] = {}
    for (src, _), score in here.items():
        last[src] = min(score, last.get(src, score))
    alone = here.keys() - there.keys()
    return sorted(pair for pair in alone if here[pair] - last[pair[0]] > SCORES_APART)
