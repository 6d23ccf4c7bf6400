"""`sitegraph maintain` on pages of a real manual: readers see no difference, the next run builds on it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from indexes.health import last_report, tables_of
from indexes.layout import IndexLayout, load_manifest
from tests.fakes.copies import copy_index
from tests.fakes.prefect_server import REPO, PrefectServer
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = [pytest.mark.system, pytest.mark.server, pytest.mark.data]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pages of the manual of requests beside their source file."""
    folder, site = tmp_path_factory.mktemp("manual"), tmp_path_factory.mktemp("site")
    pages = unpack("sites/requests.tar.xz", "2.28.1", site).rglob("community/*.html")
    (folder / "pages").mkdir()
    for page in sorted(pages):
        (folder / "pages" / page.name).write_bytes(page.read_bytes())
    (folder / "manual.yaml").write_text("name: manual\nkind: files\nroots: [pages]\n")
    return folder


@pytest.fixture(scope="module")
def grown(sitegraph: Sitegraph, manual: Path) -> Path:
    """An index of three generations: two pages lost a paragraph, one after the other."""
    index = manual / "index"
    assert sitegraph.run(manual / "manual.yaml", index)["generation"] == 1
    for number, page in enumerate(sorted((manual / "pages").iterdir())[:2], start=2):
        edit(page, number)
        assert sitegraph.run(manual / "manual.yaml", index)["generation"] == number
    return index


def edit(page: Path, number: int) -> None:
    page.write_text(page.read_text().replace("</h1>", f"</h1><p>Edited for generation {number}.</p>", 1))


@pytest.mark.dear("many small runs, as only these leave what maintenance joins")
def test_readers_see_no_difference_and_the_next_run_builds_on_what_was_compacted(
    sitegraph: Sitegraph, manual: Path, grown: Path, tmp_path: Path
) -> None:
    index = copy_index(grown, tmp_path / "index")
    layout = IndexLayout(index)
    before = [sitegraph.export(index, generation=number) for number in (1, 2, 3)]
    pointer, published = layout.current.read_bytes(), layout.generation(3).read_bytes()

    done = sitegraph.call("maintain", "--index", str(index), "--format", "json", "--quiet")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["skipped"] == []
    assert report["sample"]["files"] > 0 < report["sample"]["documents"]
    assert all(table["files"] == 1 for table in report["after"]["tables"].values())
    assert any(table["files"] > 1 for table in report["before"]["tables"].values())
    assert [sitegraph.export(index, generation=number) for number in (1, 2, 3)] == before
    assert (layout.current.read_bytes(), layout.generation(3).read_bytes()) == (pointer, published)
    assert sitegraph.damage(index) == ()
    assert (again := sitegraph.call("maintain", "--index", str(index), "--quiet")).returncode == 0, (
        again.stderr
    )

    pages = sorted((manual / "pages").iterdir())
    kept = pages[2].read_bytes()
    edit(pages[2], 4)
    try:
        assert sitegraph.run(manual / "manual.yaml", index)["generation"] == 4
        sitegraph.run(manual / "manual.yaml", tmp_path / "clean")
    finally:
        pages[2].write_bytes(kept)
    assert sitegraph.export(index) == sitegraph.export(tmp_path / "clean")
    assert sitegraph.damage(index) == ()
    tables = tables_of(layout, load_manifest(layout))
    assert max(table.files for table in tables.values()) == 2, "the compacted one, and what is new"


def test_after_a_rollback_what_was_compacted_is_not_built_on(
    sitegraph: Sitegraph, manual: Path, grown: Path, tmp_path: Path
) -> None:
    index = copy_index(grown, tmp_path / "index")
    assert sitegraph.call("maintain", "--index", str(index), "--quiet").returncode == 0
    before = sitegraph.export(index, generation=3)
    assert sitegraph.call("rollback", "--index", str(index)).returncode == 0
    assert sitegraph.call("rollback", "--lift", "--index", str(index)).returncode == 0

    assert sitegraph.run(manual / "manual.yaml", index)["generation"] == 4

    assert sitegraph.export(index) == before
    assert sitegraph.damage(index) == ()


def test_a_look_does_nothing(sitegraph: Sitegraph, grown: Path, tmp_path: Path) -> None:
    index = copy_index(grown, tmp_path / "index")
    files = sorted(path for path in index.rglob("*") if path.is_file() and "ledger" not in path.name)

    done = sitegraph.call("maintain", "--dry-run", "--index", str(index))

    assert (done.returncode, done.stdout) == (0, "generation 3: maintenance is not due\n")
    assert files == sorted(path for path in index.rglob("*") if path.is_file() and "ledger" not in path.name)
    assert last_report(IndexLayout(index)) is None


def test_damage_in_the_sample_is_told_by_the_exit_code_and_by_status(
    sitegraph: Sitegraph, grown: Path, tmp_path: Path
) -> None:
    index = copy_index(grown, tmp_path / "index")
    harmed = max((index / "lance" / "nodes.lance" / "data").iterdir(), key=lambda path: path.stat().st_size)
    whole = harmed.read_bytes()
    harmed.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])

    done = sitegraph.call("maintain", "--index", str(index), "--quiet")

    assert done.returncode == 1
    assert harmed.name in done.stderr
    assert "found damage" in sitegraph.call("status", "--index", str(index)).stdout


@pytest.mark.parametrize("after", [0.5, 2.0])
def test_a_maintenance_that_was_ended_is_done_again(
    sitegraph: Sitegraph, grown: Path, tmp_path: Path, prefect_server: PrefectServer, after: float
) -> None:
    index = copy_index(grown, tmp_path / "index")
    before = sitegraph.export(index)
    command = [sys.executable, "-m", "sitegraph", "maintain", "--index", str(index), "--quiet"]
    child = subprocess.Popen(
        command, cwd=REPO, env={**os.environ, **sitegraph.environment}, stderr=subprocess.PIPE
    )
    time.sleep(after)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=200)

    assert child.returncode in (143, -signal.SIGTERM, 0)
    assert sitegraph.export(index) == before
    assert sitegraph.call("maintain", "--index", str(index), "--quiet").returncode == 0
    assert sitegraph.export(index) == before
    assert sitegraph.damage(index) == ()


def test_a_run_does_not_build_on_compacted_files_that_were_damaged_since(
    sitegraph: Sitegraph, manual: Path, grown: Path, tmp_path: Path
) -> None:
    index = copy_index(grown, tmp_path / "index")
    data = index / "lance" / "edges.lance" / "data"
    published = set(data.iterdir())
    assert sitegraph.call("maintain", "--index", str(index), "--quiet").returncode == 0
    (made,) = set(data.iterdir()) - published
    made.unlink()
    assert sitegraph.damage(index) == ()
    pages = sorted((manual / "pages").iterdir())
    kept = pages[3].read_bytes()
    edit(pages[3], 4)
    try:
        assert sitegraph.run(manual / "manual.yaml", index)["generation"] == 4
    finally:
        pages[3].write_bytes(kept)
    assert sitegraph.damage(index) == ()


def test_no_index_is_told(sitegraph: Sitegraph, tmp_path: Path) -> None:
    done = sitegraph.call("maintain", "--index", str(tmp_path / "nothing"))
    assert done.returncode == 2
    assert "sitegraph run SOURCE.yaml" in done.stderr


def files_of(index: Path) -> dict[str, int]:
    """Files by folder of an index, but for what a ledger that is opened leaves beside itself."""
    return {
        folder: sum(one.is_file() for one in (index / folder).rglob("*"))
        for folder in ("raw", "fragments", "generations", "authority", "lance")
    }


@pytest.mark.parametrize("harm", ["ledger lost", "ledger older", "manifest lost"])
def test_nothing_is_deleted_where_what_readers_see_is_not_known(
    sitegraph: Sitegraph, grown: Path, tmp_path: Path, harm: str
) -> None:
    index = copy_index(grown, tmp_path / "index")
    if harm == "ledger older":
        with closing(sqlite3.connect(index / "ledger.sqlite")) as ledger:
            ledger.execute("DELETE FROM generation WHERE generation = 3")
            ledger.commit()
    lost = {"ledger lost": "ledger.sqlite*", "manifest lost": "generations/3.json"}.get(harm, "none")
    for path in index.glob(lost):
        path.unlink()
    before, answer = files_of(index), sitegraph.call("query", "proxies", "--index", str(index)).stdout

    done = sitegraph.call("maintain", "--index", str(index), "--quiet")

    assert done.returncode == 1
    assert "sitegraph repair" in done.stderr
    assert files_of(index) == before
    assert sitegraph.call("query", "proxies", "--index", str(index)).stdout == answer
