"""Links of real manuals: where each one stands, what is navigation, and what reads it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pytest

from ingest.link.links import LinkTexts, link_edges, with_navigation
from retrieval.graph.spreading import find_ways
from retrieval.graph.surroundings import chunk_behind
from retrieval.iterative.readers import read_from_index
from retrieval.ranking.candidates import weigh_anchors
from schemas.edges import Edge, LinkPosition
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, Page, PageKind
from tests.fakes.graph_generations import publish
from tests.fakes.memory_stores import MemoryGraphStore
from tests.fakes.novels import evidence
from tests.quality.floors import hold
from tests.quality.html_sites import SOURCES, Site

pytestmark = [pytest.mark.data, pytest.mark.timeout(300)]


@dataclass(frozen=True)
class LinkedSite:
    """A manual, parsed and linked as a run does it, without vectors."""

    fragments: Mapping[str, GraphFragment]

    @cached_property
    def edges(self) -> Sequence[Edge]:
        docs = {fragment.uri: fragment.doc for fragment in self.fragments.values()}
        linking = [fragment for fragment in self.fragments.values() if fragment.links]
        counts = Counter(text for fragment in linking for text in body_texts(fragment))
        repeated = LinkTexts(pages=len(linking), counts=counts).repeated()
        moved = (with_navigation(fragment, repeated) for fragment in self.fragments.values())
        return [edge for fragment in moved for edge in link_edges(fragment, source="s", resolve=docs.get)]

    @cached_property
    def body(self) -> Sequence[Edge]:
        return [edge for edge in self.edges if edge.position is LinkPosition.BODY]

    @cached_property
    def chunks(self) -> Mapping[str, Chunk]:
        return {chunk.id: chunk for fragment in self.fragments.values() for chunk in fragment.chunks}

    def kind(self, name: str) -> PageKind:
        page = self.fragments[name].nodes[0]
        assert isinstance(page, Page)
        return page.page_kind


def body_texts(fragment: GraphFragment) -> set[str]:
    """The words of a page's body links, each once."""
    return {link.text for link in fragment.links if link.position is LinkPosition.BODY and link.text}


@pytest.fixture(scope="module", params=["flask-3.1", pytest.param("git", marks=pytest.mark.long)])
def named(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, LinkedSite]:
    site = Site(SOURCES[request.param], tmp_path_factory.mktemp("site"))
    return request.param, LinkedSite(site.fragments)


def holds_its_words(edge: Edge, chunks: Mapping[str, Chunk]) -> bool:
    """Whether the chunk of a link has its words at its offset, white space aside."""
    if edge.chunk is None or edge.offset is None:
        return False
    there = " ".join(chunks[edge.chunk].text[edge.offset :].split())
    return there.startswith(" ".join((edge.anchor_text or "").split()))


def test_a_link_of_the_text_names_the_chunk_and_the_offset_of_its_words(
    named: tuple[str, LinkedSite], figures: list[str]
) -> None:
    name, site = named
    exact = sum(holds_its_words(edge, site.chunks) for edge in site.body)
    hold(figures, "links", f"{name}.places", exact / len(site.body), note=f"of {len(site.body)}")
    assert all(edge.chunk for edge in site.body)


def test_what_leads_out_of_a_chunk_says_what_the_chunk_is_about(named: tuple[str, LinkedSite]) -> None:
    _, site = named
    edge = next(edge for edge in site.body if holds_its_words(edge, site.chunks) and edge.anchor_text)
    chunk = replace(site.chunks[edge.chunk or ""], anchor_texts=())
    assert weigh_anchors(edge.anchor_text or "", [chunk], []).of(chunk) == 0
    assert weigh_anchors(edge.anchor_text or "", [chunk], [edge]).of(chunk) > 0


def test_the_loop_reads_the_links_of_the_passages_it_has(named: tuple[str, LinkedSite]) -> None:
    _, site = named
    graph = MemoryGraphStore()
    nodes = {node.id: node for fragment in site.fragments.values() for node in fragment.nodes}
    publish(graph, 1, list(nodes.values()), site.edges)
    edge = next(edge for edge in site.body if holds_its_words(edge, site.chunks) and edge.anchor_text)
    chunk = site.chunks[edge.chunk or ""]
    passage = replace(evidence("Title", chunk.text), chunk_id=chunk.id, doc=chunk.doc)

    facts = read_from_index(graph.at(1), [passage], step=1)

    said = [one for one in facts.statements if one.predicate == "links to"]
    assert edge.dst in {one.object_ref for one in said}
    assert all(chunk.text[slice(*one.span)] for one in said if one.span)


def test_a_path_over_a_link_shows_the_chunk_that_the_link_stands_in(named: tuple[str, LinkedSite]) -> None:
    _, site = named
    graph = MemoryGraphStore()
    nodes = {node.id: node for fragment in site.fragments.values() for node in fragment.nodes}
    publish(graph, 1, list(nodes.values()), site.edges)
    docs = sorted({edge.src for edge in site.body})[:20]

    ways = [way for way in find_ways(graph.at(1), docs, {}) if way.edges[0].kind == "links_to"]

    assert ways
    assert {step.chunk for way in ways for step in way.steps} <= site.chunks.keys()
    assert {chunk_behind(way.edges[0]) for way in ways} <= site.chunks.keys()


NAVIGATION = {"previous", "next", "up", "home", "contents", "index", "modules"}


def noise(site: LinkedSite, kinds: Mapping[str, PageKind]) -> Iterator[Edge]:
    """Links of the text that are none: of pages that are lists of links, or with the words of navigation."""
    for edge in site.body:
        is_list = kinds[edge.src] not in {PageKind.CONTENT, PageKind.CHANGES}
        if is_list or (edge.anchor_text or "").strip(" »«").lower() in NAVIGATION:
            yield edge


def test_no_navigation_is_left_among_the_links_of_the_text(named: tuple[str, LinkedSite]) -> None:
    _, site = named
    kinds = {fragment.doc: site.kind(name) for name, fragment in site.fragments.items()}
    texts = Counter(edge.anchor_text for edge in site.body for _ in [edge.src])
    assert list(noise(site, kinds)) == []
    assert "git(1)" not in texts, "every manual page of git ends with it"


PAGES: Mapping[str, Mapping[str, PageKind]] = {
    "flask-3.1": {
        "genindex.html": PageKind.INDEX,
        "py-modindex.html": PageKind.INDEX,
        "search.html": PageKind.SEARCH,
        "404.html": PageKind.NOT_FOUND,
        "changes.html": PageKind.CHANGES,
    },
    "git": {},
    "debian-policy": {
        "policy.html/genindex.html": PageKind.INDEX,
        "policy.html/search.html": PageKind.SEARCH,
        "policy.html/upgrading-checklist.html": PageKind.CHANGES,
    },
    "developers-reference": {"search.html": PageKind.SEARCH},
    "bash": {},
    "debian-faq": {},
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name == "git" else []) for name in PAGES]
)
def test_indexes_changes_searches_and_errors_of_a_manual_are_known_and_nothing_else_is(
    name: str, tmp_path: Path
) -> None:
    site = LinkedSite(Site(SOURCES[name], tmp_path).fragments)
    found = {page: kind for page in site.fragments if (kind := site.kind(page)) is not PageKind.CONTENT}
    assert found == PAGES[name]
