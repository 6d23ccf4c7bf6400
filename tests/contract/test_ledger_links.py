"""The index of links in the ledger, over SQLite files and a real PostgreSQL."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from indexes.stores.ledger.ledger import Ledger
from indexes.stores.ledger.links import IncomingLink, doc_id_target
from schemas.documents import LiveDocument
from schemas.edges import EdgeKind, LinkPosition
from schemas.fragment import Link
from tests.fakes.ledger_rows import (
    ODD_NAME,
    SITE,
    drop,
    link_to,
    make_fragment,
    make_known,
    make_live,
    publish,
    put,
)

TARGET = f"{SITE}/target"


def save(ledger: Ledger, live: LiveDocument, *links: Link) -> LiveDocument:
    """Index a document's links under its fragment."""
    ledger.links.save([(live.fragment_sha, make_fragment(live.uri.removeprefix(f"{SITE}/"), links))])
    return live


def rows(ledger: Ledger) -> int:
    with ledger.engine.connect() as connection:
        return int(connection.execute(sa.text("SELECT count(*) FROM fragment_link")).scalar_one())


def texts(
    ledger: Ledger, generation: int, *, without: tuple[str, ...] = (), new: tuple[str, ...] = ()
) -> list[str]:
    incoming = ledger.links.incoming(
        [TARGET], generation=generation, without_docs=without, with_fragments=new
    )
    return [link.text for link in incoming]


def test_documents_of_a_generation_that_link_to_a_target_are_found(ledger: Ledger) -> None:
    a, b = (save(ledger, make_live(name, "1"), link_to("target", name)) for name in ("a", "b"))
    other = save(ledger, make_live("c", "1"), link_to("elsewhere", "c"))
    generation = publish(ledger, put(a), put(b), put(other), base=0)

    def linking(*targets: str, generation: int = generation) -> tuple[str, ...]:
        return ledger.links.linking_documents(targets, generation=generation)

    assert linking(TARGET) == tuple(sorted([a.doc, b.doc]))
    assert linking(TARGET, f"{SITE}/elsewhere") == tuple(sorted([a.doc, b.doc, other.doc]))
    assert linking(f"{SITE}/unknown") == ()
    assert linking() == ()
    assert linking(TARGET, generation=0) == ()


def test_documents_that_link_from_one_position_are_found(ledger: Ledger) -> None:
    body = save(ledger, make_live("a", "1"), link_to("target", "a"))
    nav = save(ledger, make_live("b", "1"), link_to("target", "b", position=LinkPosition.NAV))
    generation = publish(ledger, put(body), put(nav), base=0)
    for live, position in ((body, LinkPosition.BODY), (nav, LinkPosition.NAV)):
        assert ledger.links.linking_documents([TARGET], generation=generation, position=position) == (
            live.doc,
        )


def test_a_document_links_as_the_generation_holds_it(ledger: Ledger) -> None:
    old, new = make_live("a", "1"), make_live("a", "2")
    save(ledger, old, link_to("target", "old"))
    save(ledger, new, link_to("elsewhere", "new"))
    first = publish(ledger, put(old), base=0)
    second = publish(ledger, put(new), base=first)
    third = publish(ledger, drop(new), base=second)

    found = [ledger.links.linking_documents([TARGET], generation=g) for g in (first, second, third)]
    assert found == [(old.doc,), (), ()]
    assert [texts(ledger, generation) for generation in (first, second, third)] == [["old"], [], []]


def test_a_changed_document_counts_with_its_new_fragment_only(ledger: Ledger) -> None:
    old, new, kept = make_live("a", "1"), make_live("a", "2"), make_live("b", "1")
    save(ledger, old, link_to("target", "old"))
    save(ledger, new, link_to("target", "new"))
    save(ledger, kept, link_to("target", "kept"))
    base = publish(ledger, put(old), put(kept), base=0)

    assert texts(ledger, base) == ["kept", "old"]
    assert texts(ledger, base, without=(old.doc,), new=(new.fragment_sha,)) == ["kept", "new"]
    assert texts(ledger, base, without=(old.doc, kept.doc)) == []
    assert texts(ledger, 0, new=(new.fragment_sha,)) == ["new"]


def test_texts_come_once_in_order_and_only_from_body_and_navigation(ledger: Ledger) -> None:
    page = save(
        ledger,
        make_live("a", "1"),
        *(link_to("target", position.value, position) for position in LinkPosition),
        link_to("target", "Twice"),
        link_to("target", "Twice", LinkPosition.NAV),
        link_to("target", "Part", fragment="part"),
        link_to("target", ""),
        link_to("atarget", "first"),
    )
    again = save(ledger, make_live("b", "1"), link_to("target", "Twice"))
    base = publish(ledger, put(page), put(again), base=0)

    incoming = ledger.links.incoming(
        [TARGET, f"{SITE}/atarget"], generation=base, without_docs=(), with_fragments=()
    )
    assert incoming == (
        IncomingLink(target=f"{SITE}/atarget", fragment=None, text="first"),
        IncomingLink(target=TARGET, fragment=None, text="Twice"),
        IncomingLink(target=TARGET, fragment=None, text="body"),
        IncomingLink(target=TARGET, fragment=None, text="nav"),
        IncomingLink(target=TARGET, fragment="part", text="Part"),
    )


def test_a_page_is_not_named_by_its_own_table_of_contents(ledger: Ledger) -> None:
    contents = link_to("target", "Options", LinkPosition.NAV, fragment="options")
    own = save(ledger, make_live("target", "1"), contents, link_to("target", "see below"))
    other = save(ledger, make_live("other", "1"), link_to("target", "Target manual", LinkPosition.NAV))
    base = publish(ledger, put(own), put(other), base=0)

    assert texts(ledger, base) == ["Target manual", "see below"]


def test_a_reference_to_a_document_id_is_a_target_whatever_its_case(ledger: Ledger) -> None:
    page = make_live("a", "1")
    references = [(EdgeKind.DEPENDS_ON, "GOV-0017"), (EdgeKind.SUPERSEDES, "gov-0017")]
    ledger.links.save([(page.fragment_sha, make_fragment("a", references=references))])
    base = publish(ledger, put(page), base=0)

    assert ledger.links.linking_documents([doc_id_target("Gov-0017")], generation=base) == (page.doc,)
    assert ledger.links.targets_of([page.fragment_sha]) == {"doc_id:gov-0017"}


def test_a_page_links_to_its_translations_and_gives_them_no_name(ledger: Ledger) -> None:
    page = make_live("target.de", "1")
    fragment = replace(make_fragment("target.de"), translations=(f"{SITE}/target",))
    ledger.links.save([(page.fragment_sha, fragment)])
    base = publish(ledger, put(page), put(make_live("target", "1")), base=0)

    assert ledger.links.linking_documents([f"{SITE}/target"], generation=base) == (page.doc,)
    assert texts(ledger, base) == []


def test_targets_of_fragments_are_all_they_link_to(ledger: Ledger) -> None:
    a = save(ledger, make_live("a", "1"), link_to("x", "x"), link_to("y", "y", LinkPosition.FOOTER))
    b = save(ledger, make_live("b", "1"), link_to("z", "z"))

    assert ledger.links.targets_of([a.fragment_sha]) == {f"{SITE}/x", f"{SITE}/y"}
    assert ledger.links.targets_of([a.fragment_sha, b.fragment_sha]) == {f"{SITE}/{n}" for n in "xyz"}
    assert ledger.links.targets_of(["unknown"]) == frozenset()


def test_links_of_fragments_are_those_whose_words_count_for_their_targets(ledger: Ledger) -> None:
    a = save(ledger, make_live("a", "1"), link_to("x", "the x"), link_to("y", "y", LinkPosition.FOOTER))
    b = save(ledger, make_live("b", "1"), link_to("z", "z", LinkPosition.NAV))

    counted = {
        a.fragment_sha: {IncomingLink(target=f"{SITE}/x", fragment=None, text="the x")},
        b.fragment_sha: {IncomingLink(target=f"{SITE}/z", fragment=None, text="z")},
    }
    assert ledger.links.of_fragments([a.fragment_sha, b.fragment_sha, "unknown"]) == counted


def test_saving_a_fragment_twice_is_no_work(ledger: Ledger) -> None:
    page = save(ledger, make_live("a", "1"), link_to("x", "x"), link_to("x", "x"), link_to("y", "y"))
    assert rows(ledger) == 2

    save(ledger, page, link_to("x", "x"), link_to("y", "y"))
    assert rows(ledger) == 2


def test_a_save_that_fails_midway_leaves_nothing_half_indexed(ledger: Ledger) -> None:
    def half() -> object:
        yield "first", make_fragment("a", [link_to("x", "x")])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.links.save(half())  # type: ignore[arg-type]
    assert rows(ledger) == 0

    ledger.links.save([("first", make_fragment("a", [link_to("x", "x")]))])
    assert rows(ledger) == 1


def test_more_targets_than_a_statement_may_name_are_answered(ledger: Ledger) -> None:
    pages = [save(ledger, make_live(f"p{n}", "1"), link_to(f"t{n}", "t")) for n in range(1200)]
    base = publish(ledger, *map(put, pages), base=0)
    targets = [f"{SITE}/t{n}" for n in range(1200)]

    assert ledger.links.linking_documents(targets, generation=base) == tuple(sorted(p.doc for p in pages))
    assert ledger.links.targets_of([p.fragment_sha for p in pages]) == set(targets)
    incoming = ledger.links.incoming(targets, generation=base, without_docs=[pages[0].doc], with_fragments=[])
    assert len(incoming) == 1199


def test_odd_targets_and_texts_are_data(ledger: Ledger) -> None:
    name = ODD_NAME
    page = save(ledger, make_live(name, "1"), link_to(name, name, fragment=name))
    base = publish(ledger, put(page), base=0)

    assert ledger.links.incoming([f"{SITE}/{name}"], generation=base, without_docs=(), with_fragments=()) == (
        IncomingLink(target=f"{SITE}/{name}", fragment=name, text=name),
    )


def test_a_link_longer_than_any_index_entry_is_kept(ledger: Ledger) -> None:
    import hashlib

    long = "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(200))
    page = save(ledger, make_live("a", "1"), link_to(long, "share"))
    base = publish(ledger, put(page), base=0)

    assert ledger.links.linking_documents([f"{SITE}/{long}"], generation=base) == (page.doc,)


def test_links_that_no_revision_and_no_document_names_are_collected(ledger: Ledger) -> None:
    old, new, gone = make_live("a", "1"), make_live("a", "2"), make_live("gone", "1")
    for live in (old, new, gone):
        save(ledger, live, link_to("target", live.fragment_sha))
    ledger.links.save([("parsed", make_fragment("b", [link_to("target", "parsed")]))])
    ledger.documents.save([make_known("b", fragment_sha="parsed"), make_known("c")])
    first = publish(ledger, put(old), put(gone), base=0)
    second = publish(ledger, put(new), drop(gone), base=first)

    assert ledger.retention.drop_facts() == 0
    ledger.generations.forget_before(second)
    assert ledger.retention.drop_facts() == 2
    assert texts(ledger, second, new=("parsed",)) == [new.fragment_sha, "parsed"]
    assert texts(ledger, second, new=(old.fragment_sha, gone.fragment_sha)) == [new.fragment_sha]
