"""Every schema object survives its record, and the record survives JSON."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.changes import DocumentChange, RowChanges
from schemas.documents import KnownDocument, LiveDocument
from schemas.edges import Edge
from schemas.evidence import Citation, ContextBundle, Evidence, Filter, PdfLocation, Query, Summary
from schemas.fragment import GraphFragment, Link, ParseRequest, Reference
from schemas.ids import canonical_json, record_sha256
from schemas.nodes import NODE_TYPES, BBox, Chunk, Node, PdfRegion, RegionType
from schemas.records import from_record, node_from_record, node_to_record, to_record
from schemas.report import RunReport
from schemas.settings import Settings
from schemas.source import Source
from tests.fakes.record_strategies import records_of

CLASSES: tuple[type[Any], ...] = (
    *NODE_TYPES.values(),
    Chunk,
    Edge,
    Link,
    Reference,
    GraphFragment,
    ParseRequest,
    KnownDocument,
    LiveDocument,
    DocumentChange,
    RowChanges,
    Query,
    Filter,
    PdfLocation,
    Evidence,
    Citation,
    Summary,
    ContextBundle,
    RunReport,
    Settings,
    Source,
)
nodes = st.one_of([records_of(cls) for cls in NODE_TYPES.values()])
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@quick
@given(data=st.data())
def test_an_object_survives_its_record_and_json(cls: type[Any], data: st.DataObject) -> None:
    value = data.draw(records_of(cls))
    text = json.dumps(to_record(value), allow_nan=False)
    assert from_record(cls, json.loads(text)) == value


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@quick
@given(data=st.data())
def test_a_record_survives_its_object(cls: type[Any], data: st.DataObject) -> None:
    record = to_record(data.draw(records_of(cls)))
    assert to_record(from_record(cls, record)) == record


@quick
@given(nodes)
def test_a_node_comes_back_as_the_kind_it_was(node: Node) -> None:
    back = node_from_record(json.loads(json.dumps(node_to_record(node))))
    assert back == node
    assert type(back) is type(node)


@quick
@given(records_of(Chunk), records_of(Chunk))
def test_two_chunks_have_one_hash_exactly_when_they_are_equal(left: Chunk, right: Chunk) -> None:
    assert (record_sha256(to_record(left)) == record_sha256(to_record(right))) == (left == right)


def test_the_zero_below_zero_has_the_hash_of_zero() -> None:
    below, above = (_sized(zero) for zero in (-0.0, 0.0))
    assert below == above
    assert record_sha256(to_record(below)) == record_sha256(to_record(above))


def _sized(zero: float) -> PdfRegion:
    box = BBox(zero, zero, 10.0, 10.0)
    return PdfRegion(
        id="r", doc="d", source="s", region_type=RegionType.PARAGRAPH, page_no=1, bbox=box, text="", ordinal=0
    )


@quick
@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_is_not_part_of_the_canonical_form(record: dict[str, int]) -> None:
    backwards = dict(reversed(list(record.items())))
    assert canonical_json(backwards) == canonical_json(record)
    assert json.loads(canonical_json(record)) == record
