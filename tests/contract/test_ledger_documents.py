"""Crawl state in the ledger, over SQLite files and a real PostgreSQL."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from indexes.stores.ledger.ledger import Ledger, open_ledger
from schemas.documents import COMPARED, DocumentState
from schemas.errors import StoreUnavailable
from tests.fakes.ledger_rows import ODD_NAME, SITE, full_known, make_known


def uris(documents: object) -> list[str]:
    return [document.uri.removeprefix(f"{SITE}/") for document in documents]  # type: ignore[attr-defined]


def test_a_document_comes_back_with_every_field(ledger: Ledger) -> None:
    known = full_known()
    ledger.documents.save([known])

    assert ledger.documents.get(known.source, [known.uri]) == {known.uri: known}
    assert ledger.documents.of_source(known.source) == (known,)


def test_saving_again_replaces_what_was_known_and_nothing_else(ledger: Ledger) -> None:
    first, second = make_known("a", title="old", etag="x"), make_known("b", title="kept")
    ledger.documents.save([first, second])
    ledger.documents.save([replace(first, title="new", etag=None)])

    assert ledger.documents.of_source("site") == (replace(first, title="new", etag=None), second)


def test_saving_nothing_changes_nothing(ledger: Ledger) -> None:
    ledger.documents.save([])
    ledger.documents.add_new([])

    assert ledger.documents.states() == {}


def test_new_documents_never_replace_known_ones(ledger: Ledger) -> None:
    known = make_known("a", state=DocumentState.FETCHED, title="fetched")
    ledger.documents.save([known])
    ledger.documents.add_new([make_known("a"), make_known("b", depth=1), make_known("b", depth=2)])

    assert ledger.documents.of_source("site") == (known, make_known("b", depth=1))


def test_a_document_fetched_meanwhile_is_not_taken_for_new(ledger: Ledger) -> None:
    """One shard's page links to another shard's page in the moment that one is fetched."""
    fetched = make_known("a", state=DocumentState.FETCHED)
    together = threading.Barrier(2)

    def race(round_: int) -> None:
        together.wait(120)
        for number in range(round_ * 100, round_ * 100 + 100):
            ledger.documents.add_new([make_known(f"{number}")])

    def fetch(round_: int) -> None:
        together.wait(120)
        for number in range(round_ * 100, round_ * 100 + 100):
            ledger.documents.save([replace(fetched, uri=f"{SITE}/{number}")])

    with ThreadPoolExecutor(2) as pool:
        for done in (pool.submit(race, 0), pool.submit(fetch, 0)):
            done.result(timeout=120)

    assert ledger.documents.states() == {"site": {"fetched": 100}}


def test_unknown_uris_are_left_out_and_sources_are_apart(ledger: Ledger) -> None:
    mine, theirs = make_known("a"), make_known("a", source="other", title="theirs")
    ledger.documents.save([mine, theirs])

    assert ledger.documents.get("site", [mine.uri, f"{SITE}/nowhere"]) == {mine.uri: mine}
    assert ledger.documents.get("site", []) == {}
    assert ledger.documents.count("site") == 1
    ledger.documents.forget("site")
    assert ledger.documents.of_source("site") == ()
    assert ledger.documents.of_source("other") == (theirs,)


def test_odd_names_are_data(ledger: Ledger) -> None:
    name = ODD_NAME
    known = make_known(name, source=name, title=name, run_id=name)
    ledger.documents.save([known, make_known("other")])

    assert ledger.documents.get(name, [known.uri]) == {known.uri: known}
    assert [seen.uri for seen in ledger.seen.of_run(name, name)] == [known.uri]
    ledger.documents.forget(name)
    assert ledger.documents.count("site") == 1


def test_a_nul_in_a_title_is_replaced_and_costs_no_batch(ledger: Ledger) -> None:
    ledger.documents.save([make_known("a", title="A\0B"), make_known("b")])

    assert [known.title for known in ledger.documents.of_source("site")] == ["A\ufffdB", ""]


def test_documents_are_ordered_by_code_point_whatever_the_language_of_the_server(ledger: Ledger) -> None:
    names = ["a", "B", "b", "A", "_", "-a", "ä", "z", "Z", "1", "a-b", "ab", "aB", "🙂", "日"]
    ledger.documents.save([make_known(name) for name in names])

    assert uris(ledger.documents.of_source("site")) == sorted(names)


def test_thousands_of_documents_are_saved_and_read_within_seconds(ledger: Ledger) -> None:
    documents = [replace(full_known(), source="site", uri=f"{SITE}/{n:04}") for n in range(3_000)]
    started = time.monotonic()
    ledger.documents.save(documents)
    ledger.documents.save(documents)
    found = ledger.documents.get("site", [document.uri for document in documents])

    assert time.monotonic() - started < 120
    assert list(found.values()) == documents
    assert ledger.documents.count("site") == 3_000


def test_the_longest_url_that_is_fetched_can_be_known(ledger: Ledger) -> None:
    import hashlib

    noise = "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(32))
    known = make_known(noise[: 2048 - len(SITE) - 1])
    ledger.documents.save([known])

    assert len(known.uri) == 2048
    assert ledger.documents.of_source("site") == (known,)


def test_what_is_nearest_to_a_seed_is_looked_at_first_then_by_uri(ledger: Ledger) -> None:
    ledger.documents.save(
        [make_known("far", depth=2), make_known("b", depth=1), make_known("a", depth=1), make_known("seed")]
    )

    def look(limit: int) -> list[str]:
        return uris(ledger.frontier.to_look_at("site", run_id="run-1", due_by=None, limit=limit))

    assert look(10) == ["seed", "a", "b", "far"]
    assert look(2) == ["seed", "a"]


def test_what_the_run_has_looked_at_is_not_looked_at_again(ledger: Ledger) -> None:
    ledger.documents.save(
        [make_known("done", run_id="run-2"), make_known("before", run_id="run-1"), make_known("never")]
    )

    waiting = ledger.frontier.to_look_at("site", run_id="run-2", due_by=None, limit=10)
    assert uris(waiting) == ["before", "never"]
    assert uris(ledger.seen.of_run("site", "run-2")) == ["done"]


def test_a_due_run_leaves_out_what_is_not_due(ledger: Ledger) -> None:
    now = "2026-01-02T00:00:00+00:00"
    read = DocumentState.FETCHED
    ledger.documents.save(
        [
            make_known("new"),
            make_known("due", state=read, next_due=now),
            make_known("overdue", state=read, next_due="2026-01-01T00:00:00+00:00"),
            make_known("later", state=read, next_due="2026-01-02T00:00:01+00:00"),
            make_known("revived", next_due="2026-01-02T00:00:01+00:00"),
            make_known(
                "of a wrong clock",
                state=read,
                next_due="2027-01-05T00:00:00+00:00",
                checked_at="2027-01-02T00:00:00+00:00",
            ),
        ]
    )

    def look(due_by: str | None) -> list[str]:
        return uris(ledger.frontier.to_look_at("site", run_id="run-1", due_by=due_by, limit=10))

    assert look(now) == ["due", "new", "of a wrong clock", "overdue", "revived"]
    assert look(None) == ["due", "later", "new", "of a wrong clock", "overdue", "revived"]


def test_gone_and_out_of_scope_documents_sleep_and_no_others(ledger: Ledger) -> None:
    ledger.documents.save([make_known(state.value, state=state) for state in DocumentState])

    waiting = ledger.frontier.to_look_at("site", run_id="run-1", due_by=None, limit=100)
    assert {document.state for document in waiting} == set(DocumentState) - {
        DocumentState.GONE,
        DocumentState.OUT_OF_SCOPE,
    }


def test_only_bytes_to_read_or_compare_that_this_pipeline_has_not_parsed_are_unparsed(ledger: Ledger) -> None:
    parsed = make_known(
        "parsed", state=DocumentState.FETCHED, raw_sha="1", parsed_sha="1", pipeline_version="v2"
    )
    named = {
        "parsed": {},
        "never": {"parsed_sha": None, "pipeline_version": None},
        "other bytes": {"raw_sha": "2"},
        "other pipeline": {"pipeline_version": "v1"},
        "no bytes": {"raw_sha": None, "parsed_sha": None},
    }
    ledger.documents.save([replace(parsed, uri=f"{SITE}/{name}", **fields) for name, fields in named.items()])
    ledger.documents.save(
        [replace(parsed, uri=f"{SITE}/{s.value}", state=s, parsed_sha=None) for s in DocumentState]
    )

    unparsed = ledger.documents.unparsed("site", pipeline_versions=("v2",))
    readable = {state.value for state in COMPARED}
    assert set(uris(unparsed)) == {"never", "other bytes", "other pipeline"} | readable
    assert uris(unparsed) == sorted(uris(unparsed))


def test_states_count_documents_by_source(ledger: Ledger) -> None:
    ledger.documents.save(
        [
            make_known("a", state=DocumentState.FETCHED),
            make_known("b", state=DocumentState.FETCHED),
            make_known("c"),
            make_known("a", source="o'neill", state=DocumentState.GONE, content_hash="c"),
            make_known("b", source="o'neill", state=DocumentState.GONE),
            make_known("c", source="o'neill", state=DocumentState.MISSING),
            make_known("d", source="o'neill", state=DocumentState.MISSING, content_hash="c"),
        ]
    )

    assert ledger.documents.states() == {
        "site": {"fetched": 2, "new": 1},
        "o'neill": {"gone": 1, "missing": 1, "dead_link": 2},
    }
    assert uris(ledger.documents.in_states({DocumentState.MISSING}, limit=9)) == ["d"]


def test_many_threads_may_save_the_same_documents_in_any_order(ledger: Ledger) -> None:
    documents = [make_known(f"{n:03}") for n in range(300)]

    def save(number: int) -> None:
        order = documents if number % 2 else documents[::-1]
        for _ in range(5):
            ledger.documents.save([replace(document, title=str(number)) for document in order])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(save, range(6)))

    assert len({known.title for known in ledger.documents.of_source("site")}) == 1


def test_when_a_source_was_last_looked_at(ledger: Ledger) -> None:
    now = "2026-02-01T00:00:00+00:00"
    ledger.documents.save(
        [
            make_known("new"),
            make_known("before", checked_at="2026-01-31T00:00:00+00:00"),
            make_known("gone", state=DocumentState.GONE, checked_at=now),
            make_known("other", source="o'neill"),
        ]
    )

    assert ledger.documents.looked_at() == {"site": now, "o'neill": None}


def test_documents_are_listed_by_state(ledger: Ledger) -> None:
    quarantined = [make_known(name, state=DocumentState.QUARANTINED) for name in "cab"]
    ledger.documents.save([*quarantined, make_known("d", state=DocumentState.FAILED)])

    assert uris(ledger.documents.in_states({DocumentState.QUARANTINED}, limit=2)) == ["a", "b"]
    assert ledger.documents.in_states((), limit=2) == ()


def test_a_ledger_opened_to_be_read_reads_while_another_writes_and_writes_nothing(
    ledger: Ledger, ledger_url: str
) -> None:
    ledger.documents.save([make_known("a")])
    reader = open_ledger(ledger_url, read_only=True)
    try:
        with ledger.engine.begin() as writing:
            writing.execute(sa.text("DELETE FROM document"))
            assert uris(reader.documents.of_source("site")) == ["a"]
        with pytest.raises((StoreUnavailable, sa.exc.DBAPIError)):
            reader.documents.save([make_known("b")])
        assert reader.documents.of_source("site") == ()
    finally:
        reader.close()
