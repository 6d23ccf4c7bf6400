"""The links of all documents, changed a few at a time: as if all had been read again."""

import random
from dataclasses import replace

import pytest

from ingest.link.authority import (
    DocumentLinks,
    LinkState,
    authority_kind,
    dump_links,
    load_links,
    no_links,
    replace_links,
)
from schemas.edges import Edge, EdgeKind, LinkPosition, plain_edge
from schemas.nodes import PageKind
from tests.fakes.graph_samples import make_page
from tests.fakes.linked_documents import links_among

DOCS = tuple(f"page:{letter}" for letter in "abcdefghij")
Site = dict[str, tuple[str, list[Edge]]]
"""Kind and links of each document that is there."""


def link(src: str, dst: str, position: LinkPosition = LinkPosition.BODY) -> Edge:
    edge = plain_edge(EdgeKind.LINKS_TO, src, dst, doc=src, source="site")
    return replace(edge, position=position)


def drawn(chance: random.Random, doc: str) -> tuple[str, list[Edge]]:
    """A document of some kind, or of none, with some links, twice too, and to what is not there."""
    links = [
        link(doc, chance.choice([*DOCS, "pdfpage:x"]), chance.choice([*LinkPosition]))
        for _ in range(chance.randrange(6))
    ]
    return chance.choice(["html", "pdf", ""]), links


def as_change(site: Site, docs: set[str]) -> DocumentLinks:
    there = [(doc, *site[doc]) for doc in sorted(docs & site.keys())]
    changed = DocumentLinks(docs=docs, kinds={doc: kind for doc, kind, _ in there if kind})
    changed.add((), (), [one for _, _, links in there for one in links])
    return changed


@pytest.mark.parametrize("seed", range(20))
def test_whatever_changes_it_is_as_if_all_had_been_read_again(seed: int) -> None:
    chance, site, state = random.Random(seed), Site(), no_links()
    for _ in range(30):
        docs = {*chance.sample(DOCS, chance.randrange(1, 5))}
        for doc in sorted(docs):
            site.pop(doc, None)
            if chance.random() < 0.7:
                site[doc] = drawn(chance, doc)
        state = replace_links(state, as_change(site, docs))
        assert dump_links(state) == dump_links(replace_links(no_links(), as_change(site, {*DOCS})))


@pytest.mark.parametrize(
    "state",
    [
        no_links(),
        links_among({"page:a": "html"}, []),
        links_among({"page:a": "pdf"}, [link("page:a", "page:b")]),
    ],
)
def test_what_is_kept_comes_back(state: LinkState) -> None:
    again = load_links(dump_links(state))
    assert (again.docs, again.kinds, dump_links(again)) == (state.docs, state.kinds, dump_links(state))


def test_what_a_document_is_compared_with() -> None:
    page = make_page("https://site.test/a")
    assert authority_kind(page) == page.document_kind
    assert authority_kind(replace(page, page_kind=PageKind.LISTING)) is None
