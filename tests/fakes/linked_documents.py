"""Documents that link to each other, without an index."""

from collections.abc import Iterable, Mapping

from ingest.link.authority import DocumentLinks, LinkState, no_links, replace_links, weigh_documents
from schemas.edges import Edge


def links_among(kinds: Mapping[str, str], links: Iterable[Edge]) -> LinkState:
    """Return the links of an index that holds documents of these kinds."""
    changed = DocumentLinks(docs={*kinds}, kinds={**kinds})
    changed.add((), (), links)
    return replace_links(no_links(), changed)


def weigh(kinds: Mapping[str, str], links: Iterable[Edge], clicks: Mapping[str, int]) -> dict[str, float]:
    """Return the authority of documents of these kinds."""
    return weigh_documents(links_among(kinds, links), clicks)
