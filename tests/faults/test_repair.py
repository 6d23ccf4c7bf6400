"""`sitegraph repair` over pages of a real site, with the graph in LanceDB and in Neo4j.

Each kind of damage is found, and repaired to what a clean rebuild exports.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sitegraph.cli.demo_script import serve_folder
from tests.fakes.copies import copy_index
from tests.fakes.damage import flip
from tests.fakes.kept_graph import KeptGraph, keep_graph
from tests.fakes.neo4j_runs import remove_graph
from tests.fakes.neo4j_server import Neo4jServer, settings_of
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Rows, Sitegraph, sitegraph_here
from tests.fakes.store_damage import EVERYWHERE, IN_TABLES, ON_SERVER, bytes_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.data,
    pytest.mark.timeout(1800),
]

PAGES = 4


@dataclass(frozen=True)
class Published:
    """An index of two generations, its source, and what a clean rebuild exports."""

    program: Sitegraph
    index: Path
    source: Path
    clean: dict[str, Rows]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Pages of the manual of requests, served, and a source file of some of them."""
    folder = tmp_path_factory.mktemp("site")
    html = next(unpack("sites/requests.tar.xz", "", folder).rglob("index.html")).parent
    with serve_folder(html) as address:
        source = folder / "requests.yaml"
        source.write_text(
            f"name: requests\nkind: web\nseeds: ['http://{address}/index.html']\n"
            f"allow_private: ['{address}']\nrate: {{per_host_delay: 0}}\nscope: {{max_pages: {PAGES}}}\n"
        )
        yield html, source


def publish(program: Sitegraph, site: tuple[Path, Path], folder: Path) -> Published:
    """Publish the pages, change one, publish again; then build an index of what is there now from nothing."""
    html, source = site
    page = html / "index.html"
    before = page.read_text()
    page.write_text(before.replace("<p>", "<p>This passage will be gone.</p><p>", 1))
    program.run(source, folder / "index")
    page.write_text(before)
    assert program.run(source, folder / "index")["generation"] == 2
    clean = Sitegraph(environment={k: v for k, v in program.environment.items() if k != "SITEGRAPH_GRAPH"})
    clean.run(source, folder / "clean")
    return Published(
        program=program,
        index=folder / "index",
        source=source,
        clean=clean.export(folder / "clean"),
    )


@pytest.fixture(scope="module")
def in_lance(site: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Published:
    return publish(sitegraph_here(), site, tmp_path_factory.mktemp("lance"))


@pytest.fixture(scope="module")
def published_in_neo4j(
    neo4j_server: Neo4jServer, site: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Published, KeptGraph]]:
    folder = tmp_path_factory.mktemp("neo4j")
    settings = {"SITEGRAPH_GRAPH": "neo4j", **settings_of(neo4j_server)}
    published = publish(sitegraph_here(**settings), site, folder)
    yield published, keep_graph(neo4j_server, published.index)
    remove_graph(neo4j_server, published.index)


@pytest.fixture
def in_neo4j(published_in_neo4j: tuple[Published, KeptGraph], tmp_path: Path) -> Published:
    """A copy of the folder; the graph is as it was published, whatever the test before did to it."""
    published, graph = published_in_neo4j
    graph.restore()
    return replace(published, index=copy_index(published.index, tmp_path / "index"))


def assert_repaired(published: Published, index: Path, *, by: str) -> None:
    """Hold that the damage is found at first, then repaired, and that nothing is left to do."""
    program = published.program
    planned = program.call("repair", "--dry-run", "--index", str(index), "--format", "json", "--quiet")
    assert by in {step["action"] for step in json.loads(planned.stdout)["steps"]}, planned

    done = program.call("repair", "--index", str(index), "--format", "json", "--quiet")

    assert (done.returncode, json.loads(done.stdout)["left"]) == (0, []), done
    taken = {step["action"] for step in json.loads(done.stdout)["steps"]}
    assert by != "rows" or "tables" not in taken, "what differs is enough: earlier generations stay"
    assert program.export(index) == published.clean
    again = program.call("repair", "--dry-run", "--index", str(index), "--quiet")
    assert again.stdout == "nothing is damaged\n"


@pytest.mark.parametrize("damage", [*EVERYWHERE, *IN_TABLES])
def test_damage_of_an_index_in_its_folder(in_lance: Published, tmp_path: Path, damage: str) -> None:
    action, harm = (EVERYWHERE | IN_TABLES)[damage]
    index = copy_index(in_lance.index, tmp_path / "index")
    harm(index)
    assert_repaired(in_lance, index, by=action)


@pytest.mark.parametrize("damage", ON_SERVER)
def test_damage_of_a_graph_in_neo4j(neo4j_server: Neo4jServer, in_neo4j: Published, damage: str) -> None:
    ON_SERVER[damage](neo4j_server, in_neo4j.index)
    assert_repaired(in_neo4j, in_neo4j.index, by="rows")


@pytest.mark.parametrize("damage", EVERYWHERE)
def test_damage_beside_a_graph_in_neo4j(in_neo4j: Published, damage: str) -> None:
    action, harm = EVERYWHERE[damage]
    harm(in_neo4j.index)
    assert_repaired(in_neo4j, in_neo4j.index, by=action)


def test_bytes_that_nothing_else_holds_are_refused_and_fetched_by_the_next_run(
    in_lance: Published, tmp_path: Path
) -> None:
    index = copy_index(in_lance.index, tmp_path / "index")
    flip(0.5)(bytes_of(index))

    done = in_lance.program.call("repair", "--index", str(index), "--quiet")

    assert done.returncode == 1
    assert "a run of the source fetches them again" in done.stdout
    in_lance.program.run(in_lance.source, index)
    assert in_lance.program.call("repair", "--index", str(index), "--quiet").returncode == 0
    assert in_lance.program.export(index) == in_lance.clean


def test_a_lost_ledger_and_a_lost_table_are_refused(in_lance: Published, tmp_path: Path) -> None:
    index = copy_index(in_lance.index, tmp_path / "index")
    EVERYWHERE["ledger lost"][1](index)
    IN_TABLES["nodes lost"][1](index)

    done = in_lance.program.call("repair", "--index", str(index), "--quiet")

    assert done.returncode == 1
    assert "build another index with: sitegraph run SOURCE.yaml --index ANOTHER" in done.stderr


def test_a_run_that_repairs_makes_the_file_of_links_again(in_lance: Published, tmp_path: Path) -> None:
    index = copy_index(in_lance.index, tmp_path / "index")
    EVERYWHERE["links flipped"][1](index)

    before = in_lance.program.call("verify", "--index", str(index), "--quiet")
    report = in_lance.program.run(in_lance.source, index, repair=True)
    after = in_lance.program.call("verify", "--index", str(index), "--quiet")

    assert (before.returncode, report["generation"], after.returncode) == (1, 3, 0)
    assert before.stderr.startswith("links/")
    assert in_lance.program.export(index) == in_lance.clean
