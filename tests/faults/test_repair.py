"""`sitegraph repair` over pages of a real site, with the graph in LanceDB and in Neo4j.

Each kind of damage is found, and mended to what a clean rebuild exports.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sitegraph.cli.static_server import serve_folder
from tests.fakes.copies import copy_index
from tests.fakes.damage import flip
from tests.fakes.neo4j_runs import on_neo4j, remove_graph
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.prefect_server import prefect_server
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Rows, Sitegraph, sitegraph
from tests.fakes.store_damage import EVERYWHERE, IN_TABLES, ON_SERVER, newest

__all__ = ["on_neo4j", "prefect_server", "sitegraph"]

pytestmark = [
    pytest.mark.long,
    pytest.mark.server,
    pytest.mark.data,
    pytest.mark.timeout(1800),
]

PAGES = 8


@dataclass(frozen=True)
class Published:
    """An index of two generations, its source, and what a clean rebuild exports."""

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
    program.run(source, folder / "clean")
    return Published(index=folder / "index", source=source, clean=program.export(folder / "clean"))


@pytest.fixture(scope="module")
def in_lance(
    sitegraph: Sitegraph, site: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Published:
    return publish(sitegraph, site, tmp_path_factory.mktemp("lance"))


@pytest.fixture(scope="module")
def in_neo4j(
    on_neo4j: Sitegraph,
    neo4j_server: Neo4jServer,
    site: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Published]:
    folder = tmp_path_factory.mktemp("neo4j")
    program = Sitegraph(environment={**on_neo4j.environment, "SITEGRAPH_GRAPH": "neo4j"})
    yield publish(program, site, folder)
    for index in (folder / "index", folder / "clean"):
        remove_graph(neo4j_server, index)


def assert_mended(program: Sitegraph, index: Path, clean: dict[str, Rows], *, by: str) -> None:
    """Hold that the damage is found before anything is done, then mended, and that nothing is left to do."""
    planned = program.call("repair", "--dry-run", "--index", str(index), "--format", "json", "--quiet")
    assert by in {step["action"] for step in json.loads(planned.stdout)["steps"]}, planned

    done = program.call("repair", "--index", str(index), "--format", "json", "--quiet")

    assert (done.returncode, json.loads(done.stdout)["left"]) == (0, []), done
    assert program.export(index) == clean
    again = program.call("repair", "--dry-run", "--index", str(index), "--quiet")
    assert again.stdout == "nothing is damaged\n"


@pytest.mark.parametrize("damage", [*EVERYWHERE, *IN_TABLES])
def test_damage_of_an_index_in_its_folder(
    sitegraph: Sitegraph, in_lance: Published, tmp_path: Path, damage: str
) -> None:
    action, harm = (EVERYWHERE | IN_TABLES)[damage]
    index = copy_index(in_lance.index, tmp_path / "index")
    harm(index)
    assert_mended(sitegraph, index, in_lance.clean, by=action)


@pytest.mark.parametrize("damage", EVERYWHERE)
def test_damage_beside_a_graph_in_neo4j(on_neo4j: Sitegraph, in_neo4j: Published, damage: str) -> None:
    """One index, harmed and mended again and again."""
    action, harm = EVERYWHERE[damage]
    harm(in_neo4j.index)
    assert_mended(on_neo4j, in_neo4j.index, in_neo4j.clean, by=action)


@pytest.mark.parametrize("damage", ON_SERVER)
def test_damage_of_a_graph_in_neo4j(
    on_neo4j: Sitegraph, neo4j_server: Neo4jServer, in_neo4j: Published, damage: str
) -> None:
    action, harm = ON_SERVER[damage]
    harm(neo4j_server, in_neo4j.index)
    assert_mended(on_neo4j, in_neo4j.index, in_neo4j.clean, by=action)


def test_bytes_that_nothing_else_holds_are_refused_and_fetched_by_the_next_run(
    sitegraph: Sitegraph, in_lance: Published, tmp_path: Path
) -> None:
    index = copy_index(in_lance.index, tmp_path / "index")
    flip(0.5)(newest(index / "raw"))

    done = sitegraph.call("repair", "--index", str(index), "--quiet")

    assert done.returncode == 1
    assert "a run of the source fetches them again" in done.stdout
    sitegraph.run(in_lance.source, index)
    assert sitegraph.call("repair", "--index", str(index), "--quiet").returncode == 0
    assert sitegraph.export(index) == in_lance.clean


def test_a_lost_ledger_and_a_lost_table_are_refused(
    sitegraph: Sitegraph, in_lance: Published, tmp_path: Path
) -> None:
    index = copy_index(in_lance.index, tmp_path / "index")
    EVERYWHERE["ledger lost"][1](index)
    IN_TABLES["nodes lost"][1](index)

    done = sitegraph.call("repair", "--index", str(index), "--quiet")

    assert done.returncode == 1
    assert "build another index with: sitegraph run SOURCE.yaml --index ANOTHER" in done.stderr
