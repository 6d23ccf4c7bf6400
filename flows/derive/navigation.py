"""Links of the text that are the navigation of their site, before and after, and the documents this moves."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from flows.run.contexts import DeriveContext
from ingest.link.repeated import LinkTexts, least_pages
from schemas.changes import DocumentChange


@dataclass(frozen=True, kw_only=True)
class NextNavigation:
    """Texts of links that most pages of a source repeat: in the base generation, and in the next one."""

    run: DeriveContext
    base: int
    changes: Mapping[str, DocumentChange]
    _held: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)

    def texts(self, source: str) -> frozenset[str]:
        """What is navigation in the next generation."""
        return self._of(source)[1]

    def touched(self) -> frozenset[str]:
        """Documents of the base with a link that becomes navigation, or is it no more."""
        links, found = self.run.index.ledger.links, set[str]()
        versions = (live for change in self.changes.values() for live in (change.old, change.new))
        for source in sorted({live.source for live in versions if live is not None}):
            before, after = self._of(source)
            found.update(links.documents_linking_by(before ^ after, source=source, generation=self.base))
        return frozenset(found)

    def _of(self, source: str) -> tuple[frozenset[str], frozenset[str]]:
        if source not in self._held:
            links = self.run.index.ledger.links
            old, new = self._changed(source, old=True), self._changed(source, old=False)
            pages = links.linking_pages(source, generation=self.base)
            # What stands on fewer pages is navigation neither before nor after, so it is not even read.
            least = min(least_pages(pages), least_pages(pages - old.pages + new.pages) - new.pages)
            counts = links.body_texts(source, generation=self.base, at_least=least)
            held = LinkTexts(pages=pages, counts=counts)
            self._held[source] = (held.repeated(), held.replaced(old, new).repeated())
        return self._held[source]

    def _changed(self, source: str, *, old: bool) -> LinkTexts:
        versions = (change.old if old else change.new for change in self.changes.values())
        shas = {live.fragment_sha for live in versions if live is not None and live.source == source}
        return LinkTexts(**self.run.index.ledger.links.body_texts_of(shas))
