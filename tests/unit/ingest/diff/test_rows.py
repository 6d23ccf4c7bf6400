"""Rows wanted against rows held; times alone are no change."""

from dataclasses import replace

from ingest.diff.rows import diff_chunks, diff_rows, mark, row_changes, stamp
from schemas.documents import LiveDocument
from schemas.nodes import DateOrigin
from tests.fakes.graph_samples import make_chunk, make_graph, make_page

RUN = "2026-03-01T12:00:00+00:00"
BEFORE = "2026-01-01T12:00:00+00:00"


def test_equal_rows_are_left_alone_whatever_their_order() -> None:
    rows = [make_chunk("a"), make_chunk("b")]
    assert diff_rows(rows, rows[::-1]) == ((), ())


def test_what_counts_as_the_same_can_be_said() -> None:
    old, new = make_chunk("a"), make_chunk("a", ordinal=3)
    assert diff_rows([new], [old]) == ((new,), ())
    assert diff_rows([new], [old], same=lambda left, right: left.text == right.text) == ((), ())


def test_a_chunk_of_equal_content_keeps_its_times() -> None:
    held = make_chunk("a", changed_at=BEFORE, fetched_at=BEFORE, last_modified=BEFORE)
    fresh = make_chunk("a", fetched_at=RUN, last_modified=BEFORE)
    assert stamp(fresh, held, changed_at=RUN) == held
    assert diff_chunks([fresh], [held], changed_at=RUN) == ((), (), 0)


def test_a_chunk_has_the_date_of_its_document_though_its_content_stayed() -> None:
    held = make_chunk("a", changed_at=BEFORE, fetched_at=BEFORE, last_modified=BEFORE)
    fresh = make_chunk("a", fetched_at=RUN, last_modified=RUN, last_modified_origin=DateOrigin.META)
    upserts, _, added = diff_chunks([fresh], [held], changed_at=RUN)
    assert upserts == (replace(held, last_modified=RUN, last_modified_origin=DateOrigin.META),)
    assert added == 0


def test_a_chunk_that_moved_down_is_written_but_not_new_and_keeps_its_times() -> None:
    held = make_chunk("a", changed_at=BEFORE, fetched_at=BEFORE)
    upserts, deletes, added = diff_chunks([make_chunk("a", ordinal=4)], [held], changed_at=RUN)
    assert (upserts, deletes, added) == ((replace(held, ordinal=4),), (), 0)


def test_a_new_chunk_carries_the_time_of_this_run() -> None:
    upserts, _, added = diff_chunks([make_chunk("a", fetched_at=RUN)], [], changed_at=RUN)
    assert [(chunk.changed_at, chunk.fetched_at) for chunk in upserts] == [(RUN, RUN)]
    assert added == 1


def test_a_chunk_whose_content_changed_under_its_id_is_changed_now() -> None:
    held = make_chunk("a", changed_at=BEFORE)
    assert stamp(replace(held, content_hash="other"), held, changed_at=RUN).changed_at == RUN


def test_the_three_tables_are_compared_each_with_its_own() -> None:
    graph, chunk = make_graph(), make_chunk("a")
    changes = row_changes(
        nodes=(graph.nodes, graph.nodes[1:]),
        edges=(graph.edges[1:], graph.edges),
        chunks=([chunk], [make_chunk("b")]),
        changed_at=RUN,
    )
    assert changes.nodes == (graph.nodes[0],)
    assert changes.edge_deletes == (graph.edges[0].id,)
    assert (changes.edges, changes.node_deletes, changes.chunks_added) == ((), (), 1)
    assert changes.chunk_deletes == (make_chunk("b").id,)


def test_a_chapter_is_as_stale_as_its_book_and_other_addresses_lead_to_the_book() -> None:
    book = make_page("files://s/island.epub")
    chapter = replace(book, id="page:chapter", title="Oil")
    section = make_graph().sections[0]
    live = LiveDocument(
        doc=book.id,
        source="s",
        uri="files://s/island.epub",
        fragment_sha="f",
        content_hash="c",
        stale=True,
        aliases=("files://s/copy.epub",),
    )

    assert mark(book, live) == replace(book, stale=True, aliases=live.aliases)
    assert mark(chapter, live) == replace(chapter, stale=True)
    assert mark(section, live) == section
