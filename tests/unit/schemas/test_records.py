"""What a record refuses, and how boxes and nodes look in it."""

import json
from dataclasses import dataclass, replace

import pytest

from schemas.changes import RowChanges
from schemas.documents import KnownDocument
from schemas.ids import canonical_json
from schemas.nodes import NODE_TYPES, BBox, Chunk, NodeKind, Page, PageSize, kind_of
from schemas.records import from_record, node_from_record, node_to_record, to_record
from schemas.source import GoneAfter, Source
from tests.fakes.graph_samples import full_chunk, make_graph


def test_boxes_and_sizes_are_lists_of_numbers() -> None:
    chunk = replace(full_chunk(), bbox=BBox(1, 2.5, 3, 4), page_size=PageSize(612, 792))
    record = to_record(chunk)
    assert (record["bbox"], record["page_size"]) == ([1, 2.5, 3, 4], [612, 792])
    assert from_record(Chunk, record) == chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    words: tuple[tuple[BBox, str], ...]


def test_the_parts_of_a_pair_keep_their_types() -> None:
    placed = Placed(words=((BBox(1, 2, 3, 4), "lamp"), (BBox(5, 6, 7, 8), "plug")))
    record = to_record(placed)
    assert record == {"words": [[[1, 2, 3, 4], "lamp"], [[5, 6, 7, 8], "plug"]]}
    assert from_record(Placed, record) == placed
    with pytest.raises(ValueError, match="shorter"):
        from_record(Placed, {"words": [[[1, 2, 3, 4]]]})


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(KeyError, match="hour"):
        from_record(GoneAfter, {"hour": 2})


def test_a_missing_key_takes_its_default() -> None:
    assert from_record(GoneAfter, {"misses": 3}) == GoneAfter(misses=3)


def test_a_missing_required_key_is_an_error() -> None:
    with pytest.raises(TypeError, match="kind"):
        from_record(Source, {"name": "handbook"})


def test_a_word_that_is_no_member_of_its_enum_is_an_error() -> None:
    with pytest.raises(ValueError, match="gopher"):
        from_record(KnownDocument, {"source": "handbook", "uri": "https://h.example/", "state": "gopher"})


def test_nested_settings_come_back_as_their_classes() -> None:
    source = Source(name="handbook", kind="files", roots=("/srv",))
    assert from_record(Source, to_record(source)) == source


def test_a_box_that_is_none_is_refused_on_reading() -> None:
    record = {**to_record(full_chunk()), "bbox": [300, 0, 10, 20]}
    with pytest.raises(ValueError, match="not a box"):
        from_record(Chunk, record)


def test_every_kind_of_node_that_is_stored_names_itself() -> None:
    for node in make_graph().nodes:
        record = node_to_record(node)
        assert NODE_TYPES[NodeKind(record["kind"])] is type(node)
        assert kind_of(node).value == record["kind"]


def test_a_record_without_a_known_kind_is_no_node() -> None:
    record = node_to_record(make_graph().page)
    with pytest.raises(ValueError, match="Widget"):
        node_from_record({**record, "kind": "Widget"})


def test_rows_of_a_payload_keep_their_kinds() -> None:
    graph = make_graph()
    changes = RowChanges(nodes=tuple(graph.nodes), edges=tuple(graph.edges), chunks=(full_chunk(),))
    record = to_record(changes)
    assert record["nodes"][0]["kind"] == "Page"
    assert from_record(RowChanges, record) == changes


OLD_PAGE = (
    '{"aliases":[],"breadcrumbs":["Guide"],"content_hash":"c","doc":"page:a","doc_id":null,"doc_type":null,'
    '"document_kind":"markdown","domain":null,"id":"page:a","kind":"Page","lang":null,"path":"a.md",'
    '"source":"s","stale":false,"status":null,"template_type":"markdown","title":"A","url":null,"version":null}'
)


@pytest.mark.parametrize("kind", ["markdown", "html", "a-kind-of-another-package"])
def test_a_node_of_any_kind_of_document_is_read_and_written_byte_for_byte(kind: str) -> None:
    stored = OLD_PAGE.replace('"markdown","domain"', f'"{kind}","domain"')

    node = node_from_record(json.loads(stored))

    assert isinstance(node, Page)
    assert node.document_kind == kind
    assert canonical_json(node_to_record(node)) == stored


def test_a_field_that_came_later_is_in_no_record_of_a_row_that_does_not_use_it() -> None:
    page = make_graph().page
    chapter = replace(page, fragment="epubcfi(/6/4!/4)")

    assert "fragment" not in node_to_record(page)
    assert node_to_record(chapter)["fragment"] == chapter.fragment
    assert [node_from_record(node_to_record(one)) for one in (page, chapter)] == [page, chapter]
