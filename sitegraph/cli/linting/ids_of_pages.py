"""Which ids a page has that a link can name."""

import re
from collections.abc import Mapping

from flows.run.index import Index
from ingest.parse.round_trip import names_in
from schemas.documents import LiveDocument
from schemas.errors import DamageFound
from schemas.nodes import DocumentKind, Page, Section

_ODD = re.compile(r"[\W_]+")


class IdsOfPages:
    """Answers for pages of one generation, each read once."""

    def __init__(self, index: Index, generation: int) -> None:
        self._index, self._generation = index, generation
        self._known: dict[str, frozenset[str] | None] = {}

    def lacks(self, doc: str, fragment: str) -> bool:
        """Whether a page surely has no element with that id, of whatever kind the element is.

        The page is read as it was fetched, since ids around the content count, too. Nothing is sure of other
        formats than HTML and Markdown, of bytes that are not kept, and of Markdown where only the way differs
        in which a generator makes ids of headings.
        """
        if doc not in self._known:
            self._known[doc] = self._read(doc)
        names = self._known[doc]
        return names is not None and fragment not in names and _plain(fragment) not in names

    def _read(self, doc: str) -> frozenset[str] | None:
        live = self._index.ledger.generations.live(self._generation, docs=(doc,))
        node = next(iter(self._index.graph.at(self._generation).nodes([doc])), None)
        kind = node.document_kind if isinstance(node, Page) else None
        if doc not in live or kind not in (DocumentKind.HTML, DocumentKind.MARKDOWN):
            return None
        text = self._text(live)
        if text is None:
            return None
        names = names_in(text)
        if kind == DocumentKind.HTML:
            return names
        nodes = self._index.graph.at(self._generation).nodes_of([doc])
        headings = {node.heading for node in nodes if isinstance(node, Section)}
        return names | {_plain(name) for name in (*names, *headings)}

    def _text(self, live: Mapping[str, LiveDocument]) -> str | None:
        """Return what was fetched; ids are ASCII in nearly all encodings, so they are read as Latin-1."""
        (one,) = live.values()
        known = self._index.ledger.documents.get(one.source, [one.uri]).get(one.uri)
        if known is None or not known.raw_sha or known.parsed_sha != known.raw_sha:
            return None
        try:
            data = self._index.raw.get(known.raw_sha)
        except DamageFound:
            return None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")


def _plain(name: str) -> str:
    """Return letters and digits alone: generators differ in how they join the words of a heading."""
    return _ODD.sub("", name).casefold()
