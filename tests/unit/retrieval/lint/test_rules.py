"""Links, reachability, copies, acronyms and titles."""

from retrieval.lint.catalogue import RULES
from retrieval.lint.duplicates import duplicate_passages
from retrieval.lint.links import (
    dead_fragments,
    dead_links,
    missing_titles,
    orphans,
    redirected_links,
    unlinked,
)
from retrieval.lint.site import FaultyLink, LinkFault, LintedSite, Severity, in_order
from retrieval.lint.terms import undefined_terms
from schemas.edges import LinkPosition
from schemas.nodes import PageKind
from tests.fakes.lint_sites import document, passage, site_of_texts

WORDS = (
    "A standby server replays the log that the main server writes, and answers queries while it does so. "
    "When the main server fails, an operator promotes the standby, which ends the replay and accepts writes. "
    "Clients that were connected to the main server must connect again, since no session outlives its server."
)
BODY, NAV = LinkPosition.BODY, LinkPosition.NAV


def link(
    doc: str,
    target: str,
    fault: LinkFault,
    *,
    position: LinkPosition = BODY,
    fragment: str | None = None,
) -> FaultyLink:
    return FaultyLink(
        doc=doc,
        target=f"https://example.org/{target}",
        shown=target,
        fault=fault,
        position=position,
        text="see there",
        fragment=fragment,
        why="which answers 404",
    )


def linked(site_links: dict[str, set[LinkPosition]], *names: str) -> LintedSite:
    documents = [document(name, start=name == "home") for name in names]
    return site_of_texts(
        documents=documents, linked_from={doc: frozenset(at) for doc, at in site_links.items()}
    )


def test_links_to_one_missing_page_are_one_finding_with_its_places() -> None:
    faulty = [link(name, "gone.html", LinkFault.MISSING) for name in ("a", "b")]
    menu = [link(f"m{number}", "gone.html", LinkFault.MISSING, position=NAV) for number in range(9)]
    documents = [document(one.doc) for one in (*faulty, *menu)]

    (finding,) = dead_links(site_of_texts(documents=documents, faulty=(*menu, *faulty)))

    assert finding.message == "links to gone.html, which answers 404 (and 6 more places)"
    assert [place.uri for place in finding.places[:2]] == [
        "https://example.org/a.html",
        "https://example.org/b.html",
    ]
    assert finding.severity is Severity.ERROR


def test_each_id_that_is_not_there_is_a_finding() -> None:
    faulty = [link("a", "b.html", LinkFault.NO_FRAGMENT, fragment=name) for name in ("one", "two")]

    found = list(dead_fragments(site_of_texts(documents=[document("a")], faulty=tuple(faulty))))

    assert [one.message.partition(",")[0] for one in found] == [
        "links to b.html#one",
        "links to b.html#two",
    ]


def test_a_redirect_counts_in_the_text_alone() -> None:
    documents = [document("a"), document("b")]
    body, menu = (
        link(doc, f"{doc}x.html", LinkFault.REDIRECTED, position=at) for doc, at in (("a", BODY), ("b", NAV))
    )

    (finding,) = redirected_links(site_of_texts(documents=documents, faulty=(body, menu)))

    assert finding.places[0].uri == "https://example.org/a.html"


def test_a_page_without_links_to_it_is_an_orphan_and_one_in_menus_alone_is_unlinked() -> None:
    site = linked({"a": {BODY, NAV}, "b": {NAV}, "c": {BODY}}, "home", "a", "b", "c", "lost")

    assert [one.places[0].uri for one in orphans(site)] == ["https://example.org/lost.html"]
    assert [one.places[0].uri for one in unlinked(site)] == ["https://example.org/b.html"]


def test_where_documents_do_not_link_none_is_an_orphan() -> None:
    assert list(orphans(linked({"a": {BODY}}, "a", "b", "c"))) == []


def test_a_search_page_and_an_error_page_are_no_orphans() -> None:
    documents = [
        document("a"),
        document("search", page_kind=PageKind.SEARCH),
        document("404", page_kind=PageKind.NOT_FOUND),
    ]
    linked_from = {"a": frozenset({BODY}), "b": frozenset({BODY}), "c": frozenset({BODY})}
    site = site_of_texts(documents=[*documents, document("b"), document("c")], linked_from=linked_from)

    assert list(orphans(site)) == []


def test_copies_of_a_passage_in_several_documents_are_one_finding() -> None:
    passages = [passage(doc, WORDS, heading=(doc, "Failover")) for doc in ("a", "b", "c")]

    (finding,) = duplicate_passages(site_of_texts(*passages))

    assert "https://example.org/b.html and https://example.org/c.html, word for word" in finding.message
    assert len(finding.places) == 3


def test_a_copy_that_was_edited_is_told_as_changed() -> None:
    edited = WORDS.replace("an operator promotes", "a script promotes")

    (finding,) = duplicate_passages(site_of_texts(passage("a", WORDS), passage("b", edited)))

    assert finding.message.endswith("with changes")


def test_short_passages_other_settings_and_boilerplate_are_no_copies() -> None:
    short = [passage(doc, WORDS[:80]) for doc in ("a", "b")]
    boilerplate = [passage(f"d{number}", WORDS) for number in range(9)]
    entries = [
        passage(doc, WORDS.replace("operator", word), heading=("Settings", name))
        for doc, word, name in (("a", "operator", "merge.auto"), ("b", "script", "rebase.auto"))
    ]

    for passages in (short, boilerplate, entries):
        assert list(duplicate_passages(site_of_texts(*passages))) == []


def test_one_manual_in_two_formats_and_two_versions_are_no_copies() -> None:
    passages = [passage("a", WORDS), passage("b", WORDS)]
    formats = [document("a"), document("b", kind="pdf")]
    versions = [document("a", version="1"), document("b", version="2")]

    assert list(duplicate_passages(site_of_texts(*passages, documents=formats))) == []
    assert list(duplicate_passages(site_of_texts(*passages, documents=versions))) == []


def test_a_manual_on_one_page_is_no_copy_of_its_pages() -> None:
    parts = [WORDS.replace("server", f"server of kind {number}") for number in range(4)]
    pages = [passage(f"p{number}", text) for number, text in enumerate(parts)]
    on_one = [passage("whole", text, ordinal=number) for number, text in enumerate(parts)]

    assert list(duplicate_passages(site_of_texts(*pages, *on_one))) == []


EXPLAINED = (
    "The Write-Ahead Log (WAL) is written first, a Bloom Filter Index (BFI) is small, "
    "and Multi-Version Concurrency Control (MVCC) needs no locks."
)
USES = (
    "The planner reads the QRT of the table before it begins.",
    "An operator may ask for the QRT of a table at any time.",
    "The size of the QRT grows with the number of its columns.",
)


def acronyms(*more: str, heading: str = "Planner") -> list[str]:
    texts = (EXPLAINED, *USES, *more)
    passages = [passage(f"d{number}", text, heading=("Manual", heading)) for number, text in enumerate(texts)]
    return [one.message for one in undefined_terms(site_of_texts(*passages))]


def test_an_acronym_that_nobody_explains_is_found() -> None:
    assert acronyms() == ["QRT is used in 3 documents and explained in none"]


def test_an_acronym_counts_as_explained() -> None:
    assert acronyms("The Query Rewrite Table (QRT) is made at the start.") == []
    assert acronyms("QRT stands for the query rewrite table.") == []
    assert acronyms("QRT: query rewrite table\nXYZ: something else") == []
    assert acronyms(heading="Size of the QRT") == []
    assert acronyms("Set qrt to 3 where it is too large.") == [], "a keyword in capitals"


def test_a_site_that_explains_no_acronyms_is_not_judged_by_them() -> None:
    passages = [passage(f"d{number}", text) for number, text in enumerate(USES)]

    assert list(undefined_terms(site_of_texts(*passages))) == []


def test_a_page_with_neither_title_nor_heading_is_found() -> None:
    documents = [document("a", title="a"), document("b"), document("c", title="")]
    passages = [passage("a", WORDS), passage("b", WORDS), passage("c", WORDS, heading=("C",))]

    found = list(missing_titles(site_of_texts(*passages, documents=documents)))

    assert [one.places[0].uri for one in found] == ["https://example.org/a.html"]


def test_findings_come_worst_first_and_once() -> None:
    orphan = next(orphans(linked({"a": {BODY}, "b": {BODY}}, "a", "b", "lost")))
    dead = next(
        dead_links(site_of_texts(documents=[document("a")], faulty=(link("a", "x", LinkFault.MISSING),)))
    )

    assert in_order([orphan, dead, orphan]) == (dead, orphan)


def test_every_rule_says_what_it_finds_and_what_to_do() -> None:
    assert list(RULES) == sorted(RULES)
    for rule in RULES.values():
        assert rule.summary.endswith(".")
        assert rule.help_.endswith(".")
