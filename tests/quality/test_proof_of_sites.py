"""Four real sites, edited by chance and run again: 200 documents derived anew are what the index holds.

PROOF_PAGES says how many pages of a site are read, 0 all of them: the manual of PostgreSQL takes long.
"""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flows.repair.rederive import WITHHELD
from indexes.stores.ledger.tables import OPEN
from indexes.stores.raw import place_by_hash
from sitegraph.cli.demo_script import serve_folder
from tests.fakes.damage import flip
from tests.fakes.graph_places import Place, place
from tests.fakes.random_edits import edit_site
from tests.fakes.real_sites import unpack
from tests.quality.test_replay import SEED, VERSIONS

pytestmark = [pytest.mark.data, pytest.mark.long, pytest.mark.timeout(7200)]

__all__ = ["place"]

PAGES = int(os.environ.get("PROOF_PAGES", "300"))
SAMPLE = 200
RUNS, EDITS = 3, 10
"""So many runs after the first, each after so many edits."""


@pytest.mark.parametrize("site", VERSIONS)
def test_a_sample_of_an_edited_site_is_what_its_bytes_give_and_a_flipped_bit_is_found(
    site: str, place: Place, tmp_path: Path, figures: list[str]
) -> None:
    chance = Random(site)
    top = unpack(f"sites/{site}.tar.xz", VERSIONS[site][-1], tmp_path / "site")
    html = min(top.rglob(SEED), key=lambda file: len(file.parts)).parent
    with serve_folder(html) as address:
        source = write_source(tmp_path / f"{site}.yaml", address)
        place.program.run(source, place.index)
        for run in range(RUNS):
            done = edit_site(pages_of(place.index, html), chance, count=EDITS)
            report = place.program.run(source, place.index)
            assert report.generation == run + 2, done

    code, said = proved(place)
    assert (code, said["damage"], said["proof"]["differences"]) == (0, [], []), said
    undecided = [one["reason"] for one in said["proof"]["undecided"]]
    assert set(undecided) <= {WITHHELD}
    assert said["proof"]["derived"] + len(undecided) == said["proof"]["documents"] > len(undecided)

    flip(0.5)(chance.choice(bytes_of_documents(place.index)))
    code, said = proved(place)
    assert (code, len(said["damage"])) == (1, 1), said
    figures.append(
        f"{site}: {said['proof']['derived']} of {said['proof']['documents']} documents derived again"
    )


def write_source(file: Path, address: str) -> Path:
    """A source of the whole site, or of as many pages as are asked for."""
    bound = f"scope: {{max_pages: {PAGES}}}\n" if PAGES else ""
    file.write_text(
        f"name: {file.stem}\nkind: web\nseeds: ['http://{address}/{SEED}']\n"
        f"allow_private: ['{address}']\nrate: {{per_host_delay: 0}}\n{bound}"
    )
    return file


def proved(place: Place) -> tuple[int, dict[str, Any]]:
    """Exit code, and what the command says as JSON."""
    sample = ("--rebuild-sample", str(SAMPLE), "--format", "json", "--quiet")
    done = place.program.call("verify", "--index", str(place.index), *sample)
    return done.returncode, json.loads(done.stdout)


def pages_of(index: Path, html: Path) -> list[Path]:
    """Files of the pages that readers see, but for the first: without it there is no site."""
    paths = (html / url.split("/", 3)[3] for url, _ in live(index))
    return [path for path in paths if path.suffix == ".html" and path.name != SEED and path.is_file()]


def bytes_of_documents(index: Path) -> list[Path]:
    """Files of the bytes of documents that readers see."""
    return [index / "raw" / place_by_hash(sha) for _, sha in live(index)]


def live(index: Path) -> list[tuple[str, str]]:
    """Addresses of documents that readers see, and the hashes of their bytes."""
    now = f"SELECT uri FROM doc_rev WHERE valid_to = {OPEN}"
    with closing(sqlite3.connect(index / "ledger.sqlite")) as ledger:
        return ledger.execute(
            f"SELECT uri, raw_sha FROM document WHERE uri IN ({now}) ORDER BY uri"
        ).fetchall()
