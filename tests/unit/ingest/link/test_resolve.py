"""Links and references become edges once their targets are known."""

from dataclasses import replace

import pytest

from ingest.link.links import (
    link_edges,
    redirect_ends,
    reference_edges,
    resolve_targets,
    translation_edges,
    unresolved_references,
)
from schemas.documents import LiveDocument
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.fragment import GraphFragment, Link, Reference
from schemas.ids import page_id, pdf_doc_id
from schemas.nodes import DocumentKind

HERE, THERE, OLD = "https://h.example/here", "https://h.example/there", "https://h.example/old"
LIVE = {HERE: page_id(HERE), THERE: page_id(THERE), OLD: page_id(THERE)}
"""An old address leads to the page that is there now."""
IDS = {"GOV-0017": "page:gov", "ADR-0001": page_id(HERE)}


def link(target: str = THERE, text: str = "there", count: int = 1, **fields: str) -> Link:
    """A link in the body."""
    return Link(target=target, text=text, position=LinkPosition.BODY, count=count, **fields)


def page(*links: Link, references: tuple[Reference, ...] = ()) -> GraphFragment:
    """A parsed page with links and references and nothing else."""
    return GraphFragment(
        uri=HERE,
        doc=page_id(HERE),
        kind=DocumentKind.MARKDOWN,
        content_hash="c",
        nodes=(),
        edges=(),
        chunks=(),
        links=links,
        references=references,
    )


def edges(*links: Link) -> tuple[Edge, ...]:
    """The edges of a page's links."""
    return link_edges(page(*links), source="site", resolve=LIVE.get)


def test_a_link_is_an_edge_with_all_that_the_page_says_of_it() -> None:
    (edge,) = edges(link(fragment="top", count=3))
    assert (edge.kind, edge.src, edge.dst) == (EdgeKind.LINKS_TO, page_id(HERE), page_id(THERE))
    assert (edge.anchor_text, edge.position, edge.fragment) == ("there", LinkPosition.BODY, "top")
    assert (edge.count, edge.confidence, edge.doc, edge.source) == (3, 1.0, page_id(HERE), "site")


@pytest.mark.parametrize("target", [HERE, "https://h.example/unknown", ""])
def test_a_link_to_itself_or_to_nothing_known_is_no_edge(target: str) -> None:
    assert edges(link(target)) == ()


def test_links_that_agree_are_one_edge_with_their_counts_added() -> None:
    (edge,) = edges(link(count=2), link(count=5))
    assert edge.count == 7


def test_two_addresses_of_one_page_are_one_edge() -> None:
    (edge,) = edges(link(THERE), link(OLD))
    assert edge.count == 2


@pytest.mark.parametrize(
    "other",
    [link(text="elsewhere"), link(fragment="top"), replace(link(), position=LinkPosition.NAV)],
    ids=["text", "fragment", "position"],
)
def test_links_that_differ_are_parallel_edges(other: Link) -> None:
    found = edges(link(), other)
    assert len({edge.id for edge in found}) == 2
    assert [edge.id for edge in found] == sorted(edge.id for edge in found)


def test_the_order_and_the_spelling_of_the_target_change_no_edge_id() -> None:
    assert edges(link(THERE), link(text="b")) == edges(link(text="b"), link(OLD))


def test_each_translation_that_is_in_the_index_is_an_edge() -> None:
    fragment = replace(page(), translations=(THERE, OLD, HERE, "https://h.example/unknown"))
    (edge,) = translation_edges(fragment, source="site", resolve=LIVE.get)
    assert (edge.kind, edge.src, edge.dst) == (EdgeKind.TRANSLATES, page_id(HERE), page_id(THERE))


def test_front_matter_gives_typed_edges() -> None:
    fragment = page(references=(Reference(kind=EdgeKind.DEPENDS_ON, target="GOV-0017"),))
    (edge,) = reference_edges(fragment, source="site", resolve=IDS.get)
    assert (edge.kind, edge.src, edge.dst, edge.confidence) == (
        EdgeKind.DEPENDS_ON,
        page_id(HERE),
        "page:gov",
        1.0,
    )


def test_a_relation_stated_twice_is_one_edge_and_another_kind_is_another() -> None:
    kinds = (EdgeKind.DEPENDS_ON, EdgeKind.DEPENDS_ON, EdgeKind.SUPERSEDES)
    fragment = page(references=tuple(Reference(kind=kind, target="GOV-0017") for kind in kinds))
    found = reference_edges(fragment, source="site", resolve=IDS.get)
    assert sorted(edge.kind for edge in found) == [EdgeKind.DEPENDS_ON, EdgeKind.SUPERSEDES]


def test_relations_of_other_keys_are_edges_of_their_own() -> None:
    predicates = (None, "implements", "owned_by", "implements")
    fragment = page(
        references=tuple(
            Reference(kind=EdgeKind.RELATES_TO, target="GOV-0017", predicate=predicate)
            for predicate in predicates
        )
    )
    found = reference_edges(fragment, source="site", resolve=IDS.get)
    assert {edge.predicate for edge in found} == {None, "implements", "owned_by"}
    assert len({edge.id for edge in found}) == len(found) == 3


def test_a_reference_to_itself_is_no_edge_and_one_to_nobody_is_said() -> None:
    targets = ("ADR-0001", "GOV-9999", "GOV-9999", "GOV-0017")
    fragment = page(references=tuple(Reference(kind=EdgeKind.RELATES_TO, target=t) for t in targets))
    assert len(reference_edges(fragment, source="site", resolve=IDS.get)) == 1
    assert unresolved_references(fragment, resolve=IDS.get) == ("GOV-9999",)


@pytest.mark.parametrize(
    ("redirects", "ends"),
    [
        ({}, {}),
        ({"a": "b"}, {"a": "b"}),
        ({"a": "b", "b": "c", "c": "d"}, {"a": "d", "b": "d", "c": "d"}),
        ({"a": "a"}, {}),
        ({"a": "b", "b": "a", "c": "a", "d": "e"}, {"d": "e"}),
    ],
)
def test_a_redirect_leads_to_where_the_last_one_ends_and_a_circle_nowhere(
    redirects: dict[str, str], ends: dict[str, str]
) -> None:
    assert redirect_ends(redirects) == ends


def test_a_long_chain_of_redirects_is_followed_once() -> None:
    chain = {str(number): str(number + 1) for number in range(100_000)}
    assert set(redirect_ends(chain).values()) == {"100000"}


def test_an_address_leads_to_the_document_that_is_there_or_where_a_redirect_ends() -> None:
    here, there = page_id("https://site.test/here"), pdf_doc_id("https://site.test/there")
    known = {
        doc: LiveDocument(doc=doc, source="s", uri="u", fragment_sha="f", content_hash="c")
        for doc in (here, there)
    }
    redirects = {
        "https://site.test/old": "https://site.test/there",
        "https://site.test/here": "https://site.test/there",
        "https://site.test/lost": "https://site.test/nowhere",
    }
    wanted = {f"https://site.test/{path}" for path in ("here", "old", "lost", "unknown")}

    found = resolve_targets(
        wanted, redirects=redirects, live=lambda docs: {doc: known[doc] for doc in docs if doc in known}
    )

    assert found == {"https://site.test/here": here, "https://site.test/old": there}
