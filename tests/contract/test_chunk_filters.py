"""Filters on a search of chunks."""

import pytest

from indexes.ports import ChunkStore
from schemas.errors import FilterError
from schemas.evidence import FILTER_FIELDS, Filter, LeftOut, SearchField
from tests.fakes.chunk_generations import ids, publish, row
from tests.fakes.graph_samples import axis, full_chunk, make_vectors, unit


def test_every_filter_field_keeps_its_chunks(chunk_store: ChunkStore) -> None:
    chunk = full_chunk()
    publish(chunk_store, 1, [(chunk, make_vectors()), row("it's test 100 plain")])
    reader = chunk_store.at(1)

    def found(field: str, *values: str) -> list[list[str]]:
        wanted = [Filter(field=field, values=values)]
        by_vector = reader.search_vector(SearchField.TEXT, axis(0), top_k=5, filters=wanted)
        by_text = reader.search_text(SearchField.TEXT, "test", top_k=5, filters=wanted)
        return [[hit.chunk_id for hit in hits] for hits in (by_vector, by_text)]

    for field in FILTER_FIELDS:
        stored = getattr(chunk, field)
        value = str(stored[-1] if field == "tool_names" else stored)
        assert found(field, "99999", value) == [[chunk.id]] * 2, field
        assert found(field, "99999") == [[], []], field


def test_all_filters_must_hold_and_any_value_of_one(chunk_store: ChunkStore) -> None:
    rows = [
        row("a", doc_type="guide", status="current"),
        row("b", doc_type="rule", status="current"),
        row("c", doc_type="rule", status="retired"),
    ]
    publish(chunk_store, 1, rows)
    both = [Filter(field="doc_type", values=("guide", "rule")), Filter(field="status", values=("current",))]
    hits = chunk_store.at(1).search_vector(SearchField.TEXT, axis(0), top_k=5, filters=both)
    assert sorted(hit.chunk_id for hit in hits) == ids(rows[:2])


def test_a_filter_is_applied_before_the_cut(chunk_store: ChunkStore) -> None:
    rows = [row(f"common text {n}", lang="en") for n in range(60)] + [row("common", lang="de")]
    rows[-1] = (rows[-1][0], make_vectors(unit(1.0, 1.0)))
    publish(chunk_store, 1, rows)
    reader, german = chunk_store.at(1), [Filter(field="lang", values=("de",))]
    for hits in (
        reader.search_vector(SearchField.TEXT, axis(0), top_k=1, filters=german),
        reader.search_text(SearchField.TEXT, "common", top_k=1, filters=german),
    ):
        assert [hit.chunk_id for hit in hits] == [rows[-1][0].id]


def test_an_unknown_filter_field_is_refused(chunk_store: ChunkStore) -> None:
    reader = chunk_store.at(0)
    for field in ("text", "row_sha256", "no such", "doc_type = 'x' OR 1", ""):
        wanted = [Filter(field=field, values=("x",))]
        with pytest.raises(FilterError, match="known: kind, source"):
            reader.search_text(SearchField.TEXT, "x", top_k=1, filters=wanted)
        with pytest.raises(FilterError):
            reader.search_vector(SearchField.TEXT, axis(0), top_k=1, filters=wanted)


def test_a_page_number_that_is_none_is_refused(chunk_store: ChunkStore) -> None:
    with pytest.raises(FilterError, match="whole number"):
        chunk_store.at(0).search_text(
            SearchField.TEXT, "x", top_k=1, filters=[Filter(field="page_no", values=("two",))]
        )


def test_a_filter_without_values_keeps_nothing(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a", tool_names=("t",))])
    for field in ("doc_type", "tool_names", "page_no"):
        hits = chunk_store.at(1).search_vector(
            SearchField.TEXT, axis(0), top_k=5, filters=[Filter(field=field, values=())]
        )
        assert hits == ()


INTERVALS = {
    ("2024-01-01/..",): "bc",
    ("../2024-01-01",): "a",
    ("2024-01-01/2024-01-02",): "b",
    ("../2023-01-01", "2025-01-01/.."): "c",
    ("../..",): "abc",
}


def test_a_date_is_kept_within_an_interval_and_none_is_in_none(chunk_store: ChunkStore) -> None:
    dates = {"a": "2023-12-31T23:59:59+00:00", "b": "2024-01-01T00:00:00+00:00", "c": "2025-06-01"}
    rows = [row(f"common {name}", last_modified=dates.get(name)) for name in "abcd"]
    publish(chunk_store, 1, rows)
    for values, kept in INTERVALS.items():
        wanted = [Filter(field="last_modified", values=values)]
        hits = chunk_store.at(1).search_text(SearchField.TEXT, "common", top_k=9, filters=wanted)
        assert sorted(hit.chunk_id for hit in hits) == ids(
            [one for one, name in zip(rows, "abcd", strict=True) if name in kept]
        )


def test_a_date_that_is_no_interval_is_refused(chunk_store: ChunkStore) -> None:
    publish(chunk_store, 1, [row("a")])
    wanted = [Filter(field="last_modified", values=("2024-01-01",))]
    with pytest.raises(FilterError):
        chunk_store.at(1).search_text(SearchField.TEXT, "a", top_k=1, filters=wanted)


def test_what_is_left_out_is_left_out_before_the_cut_but_for_exceptions(chunk_store: ChunkStore) -> None:
    rows = [
        row("common old", version="15", domain="a"),
        row("common older", version="14", domain="it's"),
        row("common oldest", version="14", domain=None),
        row("common new", version="17"),
        row("common without", version=None),
    ]
    publish(chunk_store, 1, rows)
    reader = chunk_store.at(1)
    older = Filter(field="version", values=("14", "15"))
    except_one = LeftOut(where=(older,), unless=(Filter(field="domain", values=("it's",)),))
    two_tests = LeftOut(where=(older, Filter(field="domain", values=("a", "it's"))))
    for out, kept in ((except_one, rows[1:2] + rows[3:]), (two_tests, rows[2:])):
        for hits in (
            reader.search_vector(SearchField.TEXT, axis(0), top_k=len(kept), filters=[out]),
            reader.search_text(SearchField.TEXT, "common", top_k=len(kept), filters=[out]),
        ):
            assert sorted(hit.chunk_id for hit in hits) == ids(kept)
        both = [out, Filter(field="doc", values=tuple(chunk.doc for chunk, _ in rows))]
        hits = reader.search_vector(SearchField.TEXT, axis(0), top_k=9, filters=both)
        assert sorted(hit.chunk_id for hit in hits) == ids(kept)


def test_what_is_left_out_must_be_a_known_field(chunk_store: ChunkStore) -> None:
    out = LeftOut(where=(Filter(field="text", values=("x",)),))
    with pytest.raises(FilterError, match="known: kind, source"):
        chunk_store.at(0).search_text(SearchField.TEXT, "x", top_k=5, filters=[out])


def test_editions_are_the_documents_of_sources_that_have_a_version(chunk_store: ChunkStore) -> None:
    rows = [
        row("a", version="15", source="pg", url="https://x.org/a"),
        row("b", version=None, source="pg"),
        row("c", version="1", source="other", doc="page:c"),
    ]
    publish(chunk_store, 1, rows)
    (found,) = chunk_store.at(1).editions(["pg"])
    chunk = rows[0][0]
    assert found == (chunk.doc, "pg", "15", "https://x.org/a", chunk.file_path)
    assert len(chunk_store.at(1).editions(["pg", "other", "nobody"])) == 2
    assert chunk_store.at(1).editions([]) == ()
