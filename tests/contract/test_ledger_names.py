"""The names of documents in the ledger, over SQLite files and a real PostgreSQL."""

from dataclasses import replace

from indexes.stores.ledger.ledger import Ledger
from schemas.documents import LiveDocument
from schemas.names import Name, NameRole
from tests.fakes.ledger_rows import ODD_NAMES, drop, make_live, publish, put

TITLE = Name(text="Leases", role=NameRole.TITLE, entity="Leases", disambiguation="GOV-0017", node="page:a")
TERM = Name(text="WAL", role=NameRole.ACRONYM, entity="Write-Ahead Log")


def held(
    ledger: Ledger, generation: int, *, without: tuple[LiveDocument, ...] = ()
) -> list[tuple[str, Name]]:
    return list(ledger.names.held(generation, without_docs=[live.doc for live in without]))


def test_names_come_back_as_they_were_saved_and_in_order(ledger: Ledger) -> None:
    odd = tuple(replace(TITLE, text=name, entity=name, node=None) for name in ODD_NAMES)
    ledger.names.save([("one", (TITLE, TERM, *odd)), ("two", ())])
    assert ledger.names.of_fragments(["one", "two", "unknown"]) == {"one": (TITLE, TERM, *odd)}
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
    assert ledger.names.collect() == 2
    assert ledger.names.of_fragments([live.fragment_sha, "forgotten"]) == {live.fragment_sha: (TITLE,)}
