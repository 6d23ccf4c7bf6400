"""`verify --rebuild-sample`, `--rebuild` and `--deep` over pages of a real site, edited and run again."""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from indexes.stores.raw import FileRawStore
from sitegraph.cli.demo_script import serve_folder
from tests.fakes.copies import copy_index
from tests.fakes.damage import flip
from tests.fakes.damaged_index import write_house
from tests.fakes.real_sites import unpack
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph_here
from tests.fakes.store_damage import bytes_of, parsed_of

pytestmark = [pytest.mark.data, pytest.mark.long]

PROGRAM = sitegraph_here()

PAGES = 6


@dataclass(frozen=True)
class Edited:
    """An index over pages that were changed between runs."""

    index: Path
    generation: int


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Edited:
    folder = tmp_path_factory.mktemp("proof")
    html = next(unpack("sites/requests.tar.xz", "", folder / "site").rglob("index.html")).parent
    with serve_folder(html) as address:
        source = folder / "requests.yaml"
        source.write_text(
            f"name: requests\nkind: web\nseeds: ['http://{address}/index.html']\n"
            f"allow_private: ['{address}']\nrate: {{per_host_delay: 0}}\nscope: {{max_pages: {PAGES}}}\n"
        )
        PROGRAM.run(source, folder / "index")
        page = html / "index.html"
        for number in range(2):
            page.write_text(page.read_text().replace("<p>", f"<p>Passage {number}.</p><p>", 1))
            report = PROGRAM.run(source, folder / "index")
    return Edited(folder / "index", report["generation"] or 0)


def proved(index: Path, *options: str) -> tuple[int, dict[str, object]]:
    """Exit code, and what the command says as JSON."""
    done = PROGRAM.call("verify", "--index", str(index), *options, "--format", "json", "--quiet")
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("options", [("--rebuild-sample", "200"), ("--rebuild",)])
def test_an_incremental_index_is_what_its_bytes_give(edited: Edited, options: tuple[str, ...]) -> None:
    """The site is gone by then: nothing is fetched."""
    before = sorted(path.stat().st_mtime_ns for path in (edited.index / "lance").rglob("*"))

    code, said = proved(edited.index, *options)

    assert (code, said["damage"], said["proof"]["differences"]) == (0, [], []), said  # type: ignore[index]
    assert said["proof"]["derived"] == said["proof"]["documents"] > 1  # type: ignore[index]
    assert sorted(path.stat().st_mtime_ns for path in (edited.index / "lance").rglob("*")) == before


def test_a_parsed_document_that_its_bytes_do_not_give_is_found_though_every_hash_is_right(
    edited: Edited, tmp_path: Path
) -> None:
    index = copy_index(edited.index, tmp_path / "index")
    store = FileRawStore(index / "fragments")
    with closing(sqlite3.connect(index / "ledger.sqlite", isolation_level=None)) as ledger:
        doc, sha = ledger.execute(
            "SELECT doc, fragment_sha FROM doc_rev WHERE valid_to > 1000 ORDER BY length(doc) LIMIT 1"
        ).fetchone()
        record = json.loads(store.get(sha))
        record["chunks"][0]["text"] += " And this nobody wrote."
        other = store.put(json.dumps(record).encode())
        for table in ("doc_rev", "document", "fragment_link", "fragment_name"):
            ledger.execute(f"UPDATE {table} SET fragment_sha = ? WHERE fragment_sha = ?", (other, sha))
    assert PROGRAM.call("verify", "--index", str(index), "--quiet").returncode == 0

    code, said = proved(index, "--rebuild-sample", "200")

    assert code == 1
    found = said["proof"]["differences"]  # type: ignore[index]
    assert ("documents", doc) in {(one["table"], one["id"]) for one in found}


@pytest.mark.parametrize("file", [bytes_of, parsed_of])
def test_one_flipped_bit_is_found(edited: Edited, tmp_path: Path, file: Callable[[Path], Path]) -> None:
    index = copy_index(edited.index, tmp_path / "index")
    flip(0.5)(file(index))

    code, said = proved(index, "--rebuild-sample", "200")

    assert code == 1
    assert said["damage"]


def test_every_chunk_is_found_and_links_that_the_ledger_forgot_are_told(
    edited: Edited, tmp_path: Path
) -> None:
    index = copy_index(edited.index, tmp_path / "index")
    assert proved(index, "--deep") == (0, {"generation": edited.generation, "damage": []})
    with closing(sqlite3.connect(index / "ledger.sqlite", isolation_level=None)) as ledger:
        ledger.execute("DELETE FROM fragment_link WHERE rowid % 2 = 0")

    code, said = proved(index, "--deep")

    assert code == 1
    assert "what the ledger knows of its links" in said["damage"][0]["what"]  # type: ignore[index]


def test_a_rebuild_that_is_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    source, cache = write_house(tmp_path / "house"), tmp_path / "cache"
    index = source.parent / "index"
    PROGRAM.run(source, index)
    sitegraph = Sitegraph(environment=os.environ)
    command = ("verify", "--index", str(index), "--rebuild")
    with sitegraph.process(*command, SITEGRAPH_CACHE=str(cache)) as process:
        while process.poll() is None and not list(cache.glob("proofs/*/fragments/*/*/*.zst")):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    kept = {path.name for path in cache.glob("proofs/*/fragments/*/*/*.zst")}
    assert kept

    done = sitegraph.command(*command, SITEGRAPH_CACHE=str(cache))

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "generation 1: intact"), done.stderr
    assert not list(cache.glob("proofs/*"))


@pytest.mark.parametrize(
    "options", [("--rebuild", "--rebuild-sample", "3"), ("--rebuild-sample", "0"), ("--rebuild-sample", "x")]
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert PROGRAM.call("verify", "--index", str(tmp_path), *options).returncode == 2
