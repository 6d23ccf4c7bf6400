"""Hyperlinks as data: each as its page has it, with where it leads, also when that is nowhere here."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flows.run.index import Index
from indexes.layout import IndexLayout, IndexManifest, ModelManifest
from schemas.documents import LiveDocument
from schemas.edges import LinkPosition
from schemas.fragment import Link
from schemas.ids import canonical_json, section_id
from schemas.nodes import Section
from schemas.records import to_record
from schemas.settings import Settings
from sitegraph.actions.export_records import link_records
from tests.fakes.graph_generations import publish as publish_graph
from tests.fakes.graph_samples import DIM, make_page
from tests.fakes.ledger_rows import SITE, link_to, make_fragment, make_live, publish, put
from tests.fakes.memory_stores import MemoryGraphStore

ELSEWHERE = "https://elsewhere.test/manual.html"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index with its graph in memory."""
    model = ModelManifest(name="test", sha256="0" * 64, dim=DIM, max_tokens=256)
    manifest = IndexManifest(index_id="test", graph="lance", model=model)
    index = Index(layout=IndexLayout(tmp_path), manifest=manifest, settings=Settings())
    index.opened_graph = MemoryGraphStore()
    yield index
    index.close()


def keep(index: Index, path: str, *links: Link, source: str = "site") -> LiveDocument:
    """A document whose parsed form has these links."""
    fragment = make_fragment(path, links)
    sha = index.fragments.put(canonical_json(to_record(fragment)).encode())
    return replace(make_live(path, "1", source=source), fragment_sha=sha)


def test_every_link_says_where_it_leads_if_it_leads_anywhere_here(index: Index) -> None:
    target = make_page(f"{SITE}/b")
    setup = Section(
        id=section_id(target.id, ("Setup",), 0),
        doc=target.id,
        source="site",
        heading="Setup",
        level=1,
        heading_path=("Setup",),
        ordinal=0,
        text="",
        fragment="setup",
    )
    links = (
        link_to("b", "how to set it up", fragment="setup", count=2),
        link_to("b", "further down", fragment="unknown"),
        link_to("not-crawled", "later", LinkPosition.NAV),
        Link(target=ELSEWHERE, text="their manual", position=LinkPosition.FOOTER, fragment="x"),
    )
    number = publish(index.ledger, put(keep(index, "a", *links)), put(keep(index, "b")), base=0)
    publish_graph(index.graph, number, [make_page(f"{SITE}/a"), target, setup])

    records = list(link_records(index, number, None))

    assert [(r["target"], r["text"], r["dst"], r["section"]) for r in records] == [
        (f"{SITE}/b", "how to set it up", target.id, setup.id),
        (f"{SITE}/b", "further down", target.id, None),
        (f"{SITE}/not-crawled", "later", None, None),
        (ELSEWHERE, "their manual", None, None),
    ]
    assert records[0] == {
        "doc": make_live("a", "1").doc,
        "source": "site",
        "uri": f"{SITE}/a",
        "target": f"{SITE}/b",
        "text": "how to set it up",
        "position": "body",
        "fragment": "setup",
        "count": 2,
        "dst": target.id,
        "section": setup.id,
        "places": [],
    }


def test_one_source_is_exported_with_its_links_into_others(index: Index) -> None:
    ours, theirs = keep(index, "a", link_to("b", "b")), keep(index, "b", link_to("a", "a"), source="wiki")
    number = publish(index.ledger, put(ours), put(theirs), base=0)
    publish_graph(index.graph, number, [make_page(f"{SITE}/{path}") for path in "ab"])
    assert [(r["source"], r["dst"]) for r in link_records(index, number, "wiki")] == [("wiki", ours.doc)]


def test_what_a_lost_ledger_left_unknown_has_no_links_to_tell(index: Index) -> None:
    number = publish(index.ledger, put(replace(make_live("a", "1"), fragment_sha="")), base=0)
    publish_graph(index.graph, number, [make_page(f"{SITE}/a")])
    assert list(link_records(index, number, None)) == []
