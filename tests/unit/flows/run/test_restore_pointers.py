"""`index.json`, `CURRENT` and the manifest are put back from what repeats them, and never guessed."""

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from flows.run.create_index import restore_pointers
from indexes.layout import IndexLayout, IndexManifest, ModelManifest, dump_manifest, load_manifest
from indexes.publish.current import read_current, write_current
from indexes.publish.generation import GenerationManifest, dump_generation, generation_text, load_generation
from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.ledger import open_ledger
from schemas.errors import ConfigError, DamageFound
from schemas.settings import Settings
from tests.fakes.postgres_server import PostgresServer

INDEX = IndexManifest(
    index_id="i",
    graph="lance",
    model=ModelManifest(name="tiny", sha256="0" * 64, dim=8, max_tokens=16),
)


def manifest_of(number: int, *, index: IndexManifest | None = INDEX) -> GenerationManifest:
    return GenerationManifest(
        generation=number,
        base=number - 1,
        as_of="2026-03-01",
        source="s",
        run_id="r",
        plan_sha="p",
        index=index,
    )


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    """An index that has published generations 1 and 2."""
    layout = IndexLayout(tmp_path / "index")
    layout.root.mkdir()
    layout.manifest.write_text(dump_manifest(INDEX))
    publish_two(layout, f"sqlite:///{layout.ledger}")
    return layout


def publish_two(layout: IndexLayout, url: str) -> None:
    with closing(open_ledger(url)) as ledger:
        for base in (0, 1):
            number = ledger.generations.begin(base=base, source="s", run_id="r", token=1, as_of="2026-03-01")
            ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=(), details={})
            ledger.manifests.save(number, generation_text(manifest_of(number)))
            dump_generation(layout, manifest_of(number))
            write_current(layout.root, number)
            ledger.generations.mark(number, GenerationState.PUBLISHED)


def repair(layout: IndexLayout) -> tuple[str, ...]:
    return restore_pointers(Settings(index=str(layout.root)))


def test_what_is_whole_is_left_alone(layout: IndexLayout) -> None:
    assert repair(layout) == ()


@pytest.mark.parametrize("name", ["index.json", "CURRENT", "generations/2.json"])
@pytest.mark.parametrize("content", [None, b"", b"2\n", b'{"generation": 2}'])
def test_each_file_comes_back_as_it_was(layout: IndexLayout, name: str, content: bytes | None) -> None:
    path = layout.root / name
    before = path.read_bytes()
    path.unlink() if content is None else path.write_bytes(content)

    told = repair(layout)

    if (name, content) == ("CURRENT", b"2\n"):  # as somebody writes it by hand
        assert told == ()
    else:
        assert told == (name,)
        assert path.read_bytes() == before
    assert load_generation(layout, read_current(layout.root)) == manifest_of(2)


def test_all_three_at_once_come_back(layout: IndexLayout) -> None:
    for path in (layout.manifest, layout.current, layout.generation(2)):
        path.unlink()

    assert sorted(repair(layout)) == ["CURRENT", "generations/2.json", "index.json"]
    assert read_current(layout.root) == 2


def test_the_folder_of_manifests_comes_back(layout: IndexLayout) -> None:
    shutil.rmtree(layout.generation(2).parent)

    assert repair(layout) == ("generations/2.json",)


def test_after_a_rollback_readers_stay_where_they_were_led(layout: IndexLayout) -> None:
    with closing(open_ledger(f"sqlite:///{layout.ledger}")) as ledger:
        ledger.generations.roll_back(above=1)
    write_current(layout.root, 1)
    layout.current.unlink()

    repair(layout)

    assert read_current(layout.root) == 1


def test_without_a_copy_nothing_is_guessed_and_nothing_is_made_again(layout: IndexLayout) -> None:
    for path in layout.root.glob("ledger.sqlite*"):
        path.unlink()
    layout.generation(2).write_text("{}")
    with pytest.raises(
        DamageFound, match=r"build another index with: sitegraph run SOURCE\.yaml --index ANOTHER"
    ):
        repair(layout)


def test_a_lost_description_that_nothing_repeats_is_not_made_up(layout: IndexLayout) -> None:
    dump_generation(layout, manifest_of(2, index=None))
    with closing(open_ledger(f"sqlite:///{layout.ledger}")) as ledger:
        ledger.manifests.save(2, generation_text(manifest_of(2, index=None)))
    write_current(layout.root, 2)
    layout.manifest.unlink()
    with pytest.raises(DamageFound, match=r"index\.json: is missing, and nothing else holds it"):
        repair(layout)
    assert read_current(layout.root) == 2


@pytest.mark.parametrize("lost", [("CURRENT",), ("CURRENT", "index.json")])
def test_the_ledger_of_another_index_is_not_believed(
    layout: IndexLayout, tmp_path: Path, lost: tuple[str, ...]
) -> None:
    for name in lost:
        (layout.root / name).unlink()
    before = {path: path.read_bytes() for path in layout.root.glob("**/*.json")}
    other = f"sqlite:///{tmp_path / 'other.sqlite'}"
    with closing(open_ledger(other)) as ledger:
        ledger.owner.claim("another")
        number = ledger.generations.begin(base=0, source="s", run_id="r", token=1, as_of="2026-03-01")
        ledger.generations.freeze(number, payloads=(), plan_sha="p", changes=(), details={})
        of_other = manifest_of(number, index=replace(INDEX, index_id="another"))
        ledger.manifests.save(number, generation_text(of_other))
        ledger.generations.mark(number, GenerationState.PUBLISHED)

    with pytest.raises(ConfigError, match="names the ledger of another index"):
        restore_pointers(Settings(index=str(layout.root), ledger_url=other))

    assert {path: path.read_bytes() for path in layout.root.glob("**/*.json")} == before
    assert not layout.current.exists()


@pytest.mark.postgres
@pytest.mark.parametrize("lost", ["CURRENT", "index.json", "generations/2.json"])
def test_another_name_of_the_same_server_is_known_by_whose_ledger_it_has(
    layout: IndexLayout, postgres_url: str, postgres_server: PostgresServer, lost: str
) -> None:
    for file in layout.root.glob("ledger.sqlite*"):
        file.unlink()
    empty = postgres_server.create_database()
    publish_two(layout, postgres_url)
    with closing(open_ledger(postgres_url)) as ledger:
        ledger.owner.claim(INDEX.index_id)
    layout.ledger_place.write_text(json.dumps({"ledger": "PostgreSQL at db.example/docs"}))
    (layout.root / lost).unlink()

    with pytest.raises(ConfigError, match=r"keeps its ledger in PostgreSQL at db\.example/docs"):
        restore_pointers(Settings(index=str(layout.root), ledger_url=empty))
    assert restore_pointers(Settings(index=str(layout.root), ledger_url=postgres_url)) == (lost,)
    postgres_server.drop_database(empty)


def test_a_file_that_another_made_in_the_folder_does_not_keep_an_index_from_its_ledger(
    layout: IndexLayout, tmp_path: Path
) -> None:
    for file in layout.root.glob("ledger.sqlite*"):
        file.rename(tmp_path / file.name)
    with closing(open_ledger(f"sqlite:///{layout.ledger}")) as ledger:
        ledger.owner.claim(INDEX.index_id)
    layout.current.unlink()

    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    assert restore_pointers(Settings(index=str(layout.root), ledger_url=url)) == ("CURRENT",)


def test_a_folder_of_other_things_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "generations").mkdir()
    (tmp_path / "generations" / "family.txt").write_text("grandmother")

    assert restore_pointers(Settings(index=str(tmp_path))) == ()
    assert IndexLayout(tmp_path).is_foreign()
    assert [path.name for path in tmp_path.iterdir()] == ["generations"]


def test_an_index_whose_bytes_were_moved_stays_led_to_where_they_are(layout: IndexLayout) -> None:
    """As docs/stores.md tells it: `raw` is written into `index.json` by hand."""
    moved = replace(INDEX, raw="s3://bucket/prefix")
    layout.manifest.write_text(dump_manifest(moved))

    assert repair(layout) == ()
    layout.current.unlink()
    assert repair(layout) == ("CURRENT",)
    assert load_manifest(layout) == moved


def test_a_damaged_id_is_put_back_by_the_ledger_of_the_index(layout: IndexLayout) -> None:
    with closing(open_ledger(f"sqlite:///{layout.ledger}")) as ledger:
        ledger.owner.claim(INDEX.index_id)
    layout.manifest.write_text(dump_manifest(replace(INDEX, index_id="j")))

    assert repair(layout) == ("index.json",)
    assert load_manifest(layout) == INDEX


def test_a_damaged_raw_is_put_back(layout: IndexLayout) -> None:
    layout.manifest.write_text(dump_manifest(replace(INDEX, raw="filer")))

    assert repair(layout) == ("index.json",)
    assert load_manifest(layout) == INDEX


@pytest.mark.parametrize("lost", ["index.json", "CURRENT"])
def test_nothing_is_put_back_from_the_ledger_of_another_index(layout: IndexLayout, lost: str) -> None:
    with closing(open_ledger(f"sqlite:///{layout.ledger}")) as ledger:
        ledger.owner.claim("another")
    (layout.root / lost).unlink()

    with pytest.raises(ConfigError, match="the ledger of another index"):
        repair(layout)

    assert not (layout.root / lost).exists()


def test_a_copy_that_rotted_in_the_ledger_replaces_nothing_that_is_whole(layout: IndexLayout) -> None:
    with closing(open_ledger(f"sqlite:///{layout.ledger}")) as ledger:
        ledger.manifests.save(2, "{ rotten")
    layout.manifest.unlink()

    assert repair(layout) == ("index.json",)
    assert load_generation(layout, 2) == manifest_of(2)
