"""Which documents link to each other in the generation that is being decided, from those of its base."""

from dataclasses import dataclass, field

from flows.run.contexts import DeriveContext
from flows.run.index import Index
from flows.run.kept_generations import links_file
from ingest.link.link_state import (
    DocumentLinks,
    LinkState,
    dump_links,
    load_links,
    no_links,
    replace_links,
)
from schemas.edges import EdgeKind
from schemas.errors import DamageFound


def known_links(index: Index, number: int) -> LinkState:
    """The links of a generation as its run left them; where that is lost, read from the graph."""
    if number == 0:
        return no_links()
    generation = index.ledger.generations.get(number)
    named = links_file(generation) if generation else None
    try:
        return load_links(index.links.get(named)) if named else read_links(index, number)
    except DamageFound:
        return read_links(index, number)


def read_links(index: Index, number: int) -> LinkState:
    """The same from the graph."""
    graph, links = index.graph.at(number), DocumentLinks()
    live = index.ledger.generations.live(number)
    links.add(live, graph.nodes(live.keys()), graph.scan_edges(kinds=[EdgeKind.LINKS_TO]))
    return replace_links(no_links(), links)


@dataclass(kw_only=True)
class LinkStatePlan:
    """Gathers what documents link to, batch by batch; at the end keeps what is known of all."""

    run: DeriveContext
    base: int
    _changed: DocumentLinks = field(default_factory=DocumentLinks)

    def add(self, links: DocumentLinks) -> None:
        """Take in what some documents are and link to."""
        self._changed.docs.update(links.docs)
        self._changed.kinds.update(links.kinds)
        self._changed.weights.update(links.weights)

    def decide(self) -> str:
        """Keep the links of the next generation; give their hash."""
        index = self.run.index
        return index.links.put(dump_links(replace_links(known_links(index, self.base), self._changed)))
