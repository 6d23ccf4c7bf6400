"""Every hyperlink of a generation as its page has it, also those that lead out of the index."""

from collections.abc import Iterator, Mapping
from typing import Any

from flows.run.fragments import load_fragment
from flows.run.index import Index
from ingest.link.resolve import redirect_ends, resolve_targets
from schemas.documents import LiveDocument
from schemas.fragment import GraphFragment
from schemas.nodes import Section
from schemas.records import to_record

_PAGE = 100


def link_records(index: Index, generation: int, source: str | None) -> Iterator[dict[str, Any]]:
    """Yield the links of each document, by its id, in the order of the page.

    `dst` is the document that the link leads to, `section` the one that its fragment names; both null
    where the index contains none.

    Raises: DamageFound: a parsed document is damaged or lost.
    """
    live = index.ledger.generations.live(generation, source=source)
    ends = redirect_ends(index.ledger.redirects.at(generation))
    sections = _Sections(index, generation)
    for start in range(0, len(live), _PAGE):
        part = [live[doc] for doc in list(live)[start : start + _PAGE] if live[doc].fragment_sha]
        fragments = {one.doc: load_fragment(index, one.fragment_sha) for one in part}
        targets = {link.target for fragment in fragments.values() for link in fragment.links}
        found = resolve_targets(
            targets, redirects=ends, live=lambda docs: index.ledger.generations.live(generation, docs=docs)
        )
        for document in part:
            yield from _records(document, fragments[document.doc], found, sections)


class _Sections:
    """Sections of documents by the fragment that leads to them, read once each."""

    def __init__(self, index: Index, generation: int) -> None:
        self._graph = index.graph.at(generation)
        self._known: dict[str, Mapping[str, str]] = {}

    def named(self, doc: str | None, fragment: str | None) -> str | None:
        if doc is None or fragment is None:
            return None
        if doc not in self._known:
            nodes = (node for node in self._graph.nodes_of([doc]) if isinstance(node, Section))
            self._known[doc] = {node.fragment: node.id for node in nodes if node.fragment}
        return self._known[doc].get(fragment)


def _records(
    document: LiveDocument, fragment: GraphFragment, found: Mapping[str, str], sections: _Sections
) -> Iterator[dict[str, Any]]:
    for link in fragment.links:
        dst = found.get(link.target)
        section = sections.named(dst, link.fragment)
        ours = {"doc": document.doc, "source": document.source, "uri": document.uri}
        yield {**ours, **to_record(link), "dst": dst, "section": section}
