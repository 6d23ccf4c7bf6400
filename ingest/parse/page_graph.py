"""A page while its sections, chunks and links become a graph."""

from dataclasses import dataclass, field

from ingest.parse.graph import DocumentGraph
from ingest.parse.link_places import PlacedLink
from ingest.parse.outline import OutlineSection
from schemas.nodes import PageKind, Section


@dataclass(slots=True, kw_only=True)
class PageGraph(DocumentGraph):
    """What an HTML or Markdown page gathers; `parts` are the ids of its chapters, `part_kinds` what each is.

    `silent` are the numbers of those that give no passages, 0 for a page without parts; `left_out` are the
    ids that their chunks would have. `places` are those of the links in chunks, in reading order.
    """

    kind: PageKind
    parts: tuple[str, ...] = ()
    part_kinds: tuple[PageKind, ...] = ()
    silent: frozenset[int] = frozenset()
    sections: list[Section] = field(default_factory=list)
    places: list[PlacedLink] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def page_of(self, section: OutlineSection) -> str:
        """Return the id of the Page that a section stands on."""
        return self.parts[section.page - 1] if self.parts else self.doc

    def kind_of(self, section: OutlineSection) -> PageKind:
        """Return what that Page is."""
        return self.part_kinds[section.page - 1] if self.parts else self.kind
