"""Tables of one index: a change of model begins one, and each goes with its last generation."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from indexes.chunk_tables import ChunkTables, drop_encoders
from indexes.layout import IndexLayout, IndexManifest, ModelManifest, VectorSpace
from indexes.publish.generation import GenerationManifest, dump_generation
from indexes.stores.lance.store import LanceChunkStore
from schemas.errors import StoreUnavailable
from tests.fakes.chunk_generations import Row, publish, row
from tests.fakes.graph_samples import DIM, axis, make_vectors, none

OLD = ModelManifest(name="old", sha256="0" * 64, dim=DIM, max_tokens=16)
NEW = ModelManifest(name="new", sha256="1" * 64, dim=4, max_tokens=16)
MANIFEST = IndexManifest(index_id="i", graph="lance", model=OLD)
SPACE = VectorSpace(model=NEW, table="chunks-2", encoder="encoder-111111111111")


def of_new(text: str) -> Row:
    """A chunk with vectors of the new model."""
    return row(
        text, make_vectors(axis(0, dim=4), heading=axis(1, dim=4), anchors=none(dim=4), captions=none(dim=4))
    )


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    """An index whose generation 1 has one chunk of the old model."""
    layout = IndexLayout(tmp_path)
    publish(LanceChunkStore.create(layout.lance, dim=DIM), 1, [row("one")])
    tell(layout, 1, None)
    return layout


@pytest.fixture
def tables(layout: IndexLayout) -> Iterator[ChunkTables]:
    """Its tables, generation 2 being one of the new model."""
    tables = ChunkTables(layout, MANIFEST)
    tables.declare(2, SPACE)
    yield tables
    tables.close()


def tell(layout: IndexLayout, generation: int, space: VectorSpace | None) -> None:
    """Leave the generation's manifest."""
    told = {"as_of": "", "source": "s", "run_id": "r", "plan_sha": "p"}
    dump_generation(layout, GenerationManifest(generation=generation, base=0, space=space, **told))


def width(tables: ChunkTables, generation: int) -> int:
    """Length of the vectors that readers of a generation see."""
    reader = tables.at(generation)
    (vectors,) = reader.vectors([chunk.id for chunk in reader.scan()]).values()
    return len(vectors.text)


def test_a_change_of_model_leaves_readers_of_the_generation_before_as_they_are(tables: ChunkTables) -> None:
    publish(tables, 2, [of_new("one")])

    assert (width(tables, 1), width(tables, 2)) == (DIM, 4)
    found = tables.at(2).vectors([chunk.id for chunk in tables.at(2).scan()])
    assert all(np.array_equal(vectors.text, axis(0, dim=4)) for vectors in found.values())


def test_the_generations_after_it_share_its_table(layout: IndexLayout, tables: ChunkTables) -> None:
    publish(tables, 2, [of_new("one")])
    tell(layout, 2, SPACE)
    tables.declare(3, SPACE)

    publish(tables, 3, [of_new("two")])

    assert [len(list(tables.at(number).scan())) for number in (1, 2, 3)] == [1, 1, 2]


def test_a_change_that_is_taken_back_leaves_no_table(layout: IndexLayout, tables: ChunkTables) -> None:
    tables.writer().stage(2, base=1)
    assert (layout.lance / "chunks-2.lance").is_dir()

    tables.writer().abort(2, base=1)

    assert not (layout.lance / "chunks-2.lance").exists()
    assert width(tables, 1) == DIM


def test_taking_back_what_was_never_frozen_leaves_the_tables_of_others(
    layout: IndexLayout, tables: ChunkTables
) -> None:
    publish(tables, 2, [of_new("one")])
    tell(layout, 2, SPACE)

    tables.writer().abort(3, base=2)

    assert (width(tables, 1), width(tables, 2)) == (DIM, 4)


def test_a_table_that_a_kept_generation_needs_is_not_dropped(
    layout: IndexLayout, tables: ChunkTables
) -> None:
    publish(tables, 2, [of_new("one")])
    tell(layout, 2, SPACE)

    tables.drop(SPACE.table, kept=[1, 2])
    assert width(tables, 2) == 4

    tables.drop(SPACE.table, kept=[1])
    assert not (layout.lance / "chunks-2.lance").exists()


def test_a_change_half_made_is_made_again_from_nothing(tables: ChunkTables) -> None:
    writer = tables.writer()
    writer.stage(2, base=1)
    writer.apply([of_new("half")], [])

    publish(tables, 2, [of_new("one")])

    assert [chunk.text for chunk in tables.at(2).scan()] == ["one"]


def test_what_no_kept_generation_needs_goes(layout: IndexLayout, tables: ChunkTables) -> None:
    for name in ("encoder", SPACE.encoder, "encoder-222222222222"):
        (layout.root / name).mkdir()
    publish(tables, 2, [of_new("one")])
    tell(layout, 2, SPACE)

    tables.writer().prune(keep=[1, 2])
    drop_encoders(layout, MANIFEST)
    assert (width(tables, 1), width(tables, 2)) == (DIM, 4)
    assert sorted(path.name for path in layout.root.glob("encoder*")) == ["encoder", SPACE.encoder]

    layout.generation(2).unlink()
    tables.writer().prune(keep=[1])
    drop_encoders(layout, MANIFEST)
    assert not (layout.lance / "chunks-2.lance").exists()
    assert [path.name for path in layout.root.glob("encoder*")] == ["encoder"]
    assert width(tables, 1) == DIM
    with pytest.raises(StoreUnavailable):
        tables.at(7)
