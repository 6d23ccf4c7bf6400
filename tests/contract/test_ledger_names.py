"""The names of documents in the ledger, over SQLite files and a real PostgreSQL."""

from dataclasses import replace

from indexes.stores.ledger.ledger import Ledger, open_ledger
from indexes.stores.ledger.tables import name_key, name_word
from schemas.documents import LiveDocument
from schemas.names import Name, NameRole
from tests.fakes.ledger_rows import ODD_NAME, drop, make_live, publish, put

TITLE = Name(text="Leases", role=NameRole.TITLE, entity="Leases", disambiguation="GOV-0017", node="page:a")
TERM = Name(text="WAL", role=NameRole.ACRONYM, entity="Write-Ahead Log")


def held(
    ledger: Ledger, generation: int, *, without: tuple[LiveDocument, ...] = ()
) -> list[tuple[str, Name]]:
    return list(ledger.names.held(generation, without_docs=[live.doc for live in without]))


def test_names_come_back_as_they_were_saved_and_in_order(ledger: Ledger) -> None:
    odd = replace(TITLE, text=ODD_NAME, entity=ODD_NAME, node=None)
    ledger.names.save([("one", (TITLE, TERM, odd)), ("two", ())])
    assert ledger.names.of_fragments(["one", "two", "unknown"]) == {"one": (TITLE, TERM, odd)}
    assert ledger.names.of_fragments([]) == {}


def test_names_saved_again_replace_those_before(ledger: Ledger) -> None:
    ledger.names.save([("one", (TITLE, TERM))])
    ledger.names.save([("one", (TERM,)), ("one", (TERM,))])
    assert ledger.names.of_fragments(["one"]) == {"one": (TERM,)}


def test_a_generation_holds_the_names_of_its_documents(ledger: Ledger) -> None:
    a, b = make_live("a", "1"), make_live("b", "1")
    ledger.names.save([(a.fragment_sha, (TITLE,)), (b.fragment_sha, (TERM, TITLE))])
    first = publish(ledger, put(a), put(b), base=0)
    second = publish(ledger, drop(a), base=first)
    expected = sorted([(a.doc, [TITLE]), (b.doc, [TERM, TITLE])])
    assert held(ledger, first) == [(doc, name) for doc, names in expected for name in names]
    assert held(ledger, first, without=(b,)) == [(a.doc, TITLE)]
    assert held(ledger, second) == [(b.doc, TERM), (b.doc, TITLE)]
    assert held(ledger, 0) == []


def test_names_of_fragments_that_nothing_needs_are_dropped(ledger: Ledger) -> None:
    live = make_live("a", "1")
    ledger.names.save([(live.fragment_sha, (TITLE,)), ("forgotten", (TERM, TITLE))])
    publish(ledger, put(live), base=0)
    assert ledger.retention.drop_facts() == 4, "two names, and by what they are looked up"
    assert ledger.names.of_fragments([live.fragment_sha, "forgotten"]) == {live.fragment_sha: (TITLE,)}


def test_names_are_found_by_the_words_they_start_with(ledger: Ledger) -> None:
    names = [
        replace(TITLE, text=text, entity=text) for text in ("Gate", "(the) Gate-House plan", "Gate House")
    ]
    ledger.names.save([("one", (*names, TERM)), ("two", (names[2],))])
    assert ledger.names.entities_starting(["Gate", "Gate House", "the Gate", "WAL", "gate", "House"]) == {
        "Gate": {"gate"},
        "the Gate": {"(the) gate-house plan"},
        "Gate House": {"gate house"},
        "WAL": {"write-ahead log"},
    }
    assert ledger.names.first_words(["Gate", "the", "House", "WAL"]) == {"Gate": True, "the": True}
    assert ledger.names.entities_called(["Gate House", "WAL", "Gate House plan"]) == {
        "gate house",
        "write-ahead log",
    }
    odd = replace(TITLE, text=f"{ODD_NAME} x", entity=ODD_NAME)
    ledger.names.save([("three", (odd,))])
    assert ledger.names.entities_called([odd.text]) == {odd.folded}


def test_of_what_is_stated_very_often_no_more_is_read_than_is_asked_for(ledger: Ledger) -> None:
    live = sorted((make_live(path, "1") for path in "abcdef"), key=lambda one: one.doc)
    for one in live:
        ledger.names.save([(one.fragment_sha, (replace(TITLE, node=one.doc), TERM))])
    first = publish(ledger, *map(put, live), base=0)
    second = publish(ledger, drop(live[0]), base=first)

    def read(generation: int, *leaving: str) -> list[tuple[str, Name]]:
        return sorted(
            ledger.names.of_entities(
                [TITLE.folded, TERM.folded], generation=generation, without_docs=leaving, at_most=2
            ),
            key=lambda found: (found[1].text, found[0]),
        )

    docs = [one.doc for one in live]
    assert [doc for doc, _ in read(first)] == [*docs[:2], docs[0]]
    assert [doc for doc, _ in read(second)] == [*docs[1:3], docs[1]]
    left = [doc for doc, _ in read(first, docs[0], docs[1])]
    assert {*docs[2:4]} <= {*left[:-1]} <= {*docs[2:]}
    assert read(0) == []
    assert ledger.names.of_documents(docs[:2], generation=second) == (
        (docs[1], replace(TITLE, node=docs[1])),
    )


def test_a_ledger_made_before_names_had_keys_gets_them_when_it_is_opened(
    ledger: Ledger, ledger_url: str
) -> None:
    ledger.names.save([("one", (TITLE, TERM))])
    with ledger.engine.begin() as connection:
        for table in (name_key, name_word):
            table.drop(connection)
    again = open_ledger(ledger_url)
    try:
        assert again.names.entities_called(["Leases", "WAL"]) == {"leases", "write-ahead log"}
    finally:
        again.close()
