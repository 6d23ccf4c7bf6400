"""Documents by what somebody has of them, over SQLite files and a real PostgreSQL."""

from indexes.stores.ledger.ledger import Ledger
from tests.fakes.ledger_rows import SITE, begin, drop, freeze, make_known, make_live, publish, put


def names(documents: object) -> list[str]:
    return [f"{d.source} {d.uri.removeprefix(SITE)}" for d in documents]  # type: ignore[attr-defined]


def test_the_same_address_in_several_sources_comes_by_source(ledger: Ledger) -> None:
    ledger.documents.save([make_known("a", source="wiki"), make_known("a"), make_known("b")])

    assert names(ledger.lookup.by_uris([f"{SITE}/b", f"{SITE}/a"])) == ["site /a", "site /b", "wiki /a"]
    assert ledger.lookup.by_uris([]) == ()


def test_the_end_of_an_address_is_whole_names_of_its_path(ledger: Ledger) -> None:
    ledger.documents.save([make_known("a/100%_b.html"), make_known("a/xb.html"), make_known("b.html")])

    assert names(ledger.lookup.ending_with("b.html", limit=9)) == ["site /b.html"]
    assert names(ledger.lookup.ending_with("100%_b.html", limit=9)) == ["site /a/100%_b.html"]
    assert ledger.lookup.ending_with("_b.html", limit=9) == ()
    assert ledger.lookup.ending_with("b", limit=9) == ()


def test_an_id_of_its_own_folds_case(ledger: Ledger) -> None:
    ledger.documents.save([make_known("a", doc_id="GOV-0017"), make_known("b", doc_id="GOV-0018")])

    assert names(ledger.lookup.by_doc_id("gov-0017")) == ["site /a"]
    assert ledger.lookup.by_doc_id("GOV-001") == ()
    assert ledger.lookup.doc_ids(limit=9) == ("GOV-0017", "GOV-0018")
    assert ledger.lookup.doc_ids(limit=1) == ("GOV-0017",)


def test_addresses_below_a_folder_come_in_order_and_no_others(ledger: Ledger) -> None:
    inside = ["docs/", "docs/a", "docs/ключ", "docs/😀"]
    ledger.documents.save([make_known(name) for name in [*inside, "doc", "docs", "docs0", "dos"]])

    assert ledger.lookup.uris_below(f"{SITE}/docs/", limit=9) == tuple(f"{SITE}/{name}" for name in inside)
    assert ledger.lookup.uris_below(f"{SITE}/docs/", limit=2) == (f"{SITE}/docs/", f"{SITE}/docs/a")


def test_a_document_was_published_in_the_generations_that_readers_could_see(ledger: Ledger) -> None:
    a, b = make_live("a", "1"), make_live("b", "1")
    publish(ledger, put(a), base=0)
    publish(ledger, put(b), base=1)
    publish(ledger, drop(a), base=2)
    publish(ledger, put(a), base=3)
    ledger.generations.roll_back(above=3)
    begun = begin(ledger, base=3)
    freeze(ledger, begun, [put(a)])

    assert ledger.lookup.published_in(a.doc) == (1, 2)
    assert ledger.lookup.published_in(b.doc) == (2, 3)
    assert ledger.lookup.published_in("page:nobody") == ()
