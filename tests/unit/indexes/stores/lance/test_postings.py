"""Documents that hold a phrase: lookups in the index over words find what reading every text finds."""

import random
import re
from pathlib import Path

import lancedb
import pytest

from indexes.stores.lance import scan
from indexes.stores.lance.store import LanceChunkStore
from ingest.link.catalogue import Catalogue
from ingest.link.spotting import find_catalogued
from schemas.nodes import Chunk
from tests.fakes.chunk_generations import publish, row
from tests.fakes.graph_samples import DIM

WORDS = re.findall(
    r"\S+",
    """write ahead log logs logging backup Backup BACKUP pg_dump --accept -x C++ naïve cafe café vacuum
    vacuumed     étude Köln 東京都 का 4.2 v4.2 RFC-2119 don't a_b a-b x/y""",
)
JOINING = (" ", " ", " ", ", ", "-", "_", "", ". ", "\n", "/")


def written(rng: random.Random) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(JOINING) for _ in range(rng.randint(3, 25)))


def phrases_of(rng: random.Random, text: str) -> str:
    starts = [match.start() for match in re.finditer(r"\S", text)]
    start = rng.choice(starts)
    return text[start : start + rng.randint(1, 14)].strip()


@pytest.mark.parametrize("seed", range(3))
def test_after_any_updates_lookups_find_every_document_in_which_a_phrase_stands_alone(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "ROWS_READ_PER_LOOKUP", 0)
    monkeypatch.setattr(scan, "LOOKED_UP_AT_ONCE", 5)
    rng, held = random.Random(seed), dict[str, Chunk]()
    store = LanceChunkStore.create(tmp_path / "index", dim=DIM)
    for generation in range(1, 9):
        new = [row(written(rng), uri=f"https://site.test/{rng.randrange(40)}") for _ in range(12)]
        rows = {chunk.id: (chunk, vectors) for chunk, vectors in new}
        gone = rng.sample(sorted(held.keys() - rows.keys()), min(4, len(held.keys() - rows.keys())))
        publish(store, generation, [*rows.values()], gone)
        held = {key: one for key, one in held.items() if key not in gone} | {
            k: c for k, (c, _) in rows.items()
        }
        reader = store.at(generation)
        phrases = {phrases_of(rng, rng.choice([*held.values()]).text) for _ in range(12)}
        each = {doc for phrase in phrases for doc in reader.documents_containing([phrase])}
        within = {one.doc for one in held.values() if any(phrase in one.text for phrase in phrases)}
        assert each <= {*reader.documents_containing(phrases)} <= within, "all at once"
        for phrase in phrases:
            called = Catalogue(meanings={phrase: ()})
            alone = {one.doc for one in held.values() if find_catalogued(one.text, called)}
            within = {one.doc for one in held.values() if phrase in one.text}
            assert alone <= {*reader.documents_containing([phrase])} <= within, phrase


@pytest.mark.parametrize(
    ("phrase", "looked_up"),
    [
        ("Write-Ahead Log", True),
        ("Köln", False),
        ("++", False),
        ("x" * 41, False),
        ("x" * 41 + " of", True),
        ("", False),
    ],
)
def test_a_phrase_is_looked_up_by_a_word_that_the_index_has(phrase: str, looked_up: bool) -> None:
    assert scan.is_looked_up(phrase) is looked_up


def test_few_phrases_are_looked_up_and_many_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LanceChunkStore.create(tmp_path / "index", dim=DIM)
    publish(store, 1, [row(f"text {number}", uri=f"https://site.test/{number}") for number in range(5)])
    table = lancedb.connect(str(tmp_path / "index")).open_table("chunks")
    monkeypatch.setattr(scan, "ROWS_READ_PER_LOOKUP", 2)
    assert scan.choose_lookups(["one", "other", "Köln"], table) == {"one", "other"}
    assert scan.choose_lookups(["one", "other", "third"], table) == set()
