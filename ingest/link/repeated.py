"""Links of the text that stand on most pages of a source are its navigation, whatever their markup says."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment, Link

LEAST_PAGES = 8
"""Pages that repeat a link before it is navigation: in a small manual every page may name the same one."""

LEAST_SHARE = 0.5
"""Share of the source's pages, of those that link anywhere. "Previous" and "Next" of a manual stand on all
but one, "git(1)" on .87 of git's pages; of words linked in prose none stands on more than .38 in five
manuals (`git-config(1)`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTexts:
    """On how many pages of a source each text of a body link stands, and how many pages have links."""

    pages: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    def replaced(self, old: "LinkTexts", new: "LinkTexts") -> "LinkTexts":
        """Count as it is when the pages of *new* have come for those of *old*."""
        counts = Counter(self.counts)
        counts.update(new.counts)
        counts.subtract(old.counts)
        return LinkTexts(pages=self.pages - old.pages + new.pages, counts=counts)

    def repeated(self) -> frozenset[str]:
        """Texts that stand on so many pages that they are navigation."""
        least = least_pages(self.pages)
        return frozenset(text for text, count in self.counts.items() if count >= least)


def least_pages(pages: int) -> float:
    """Return on how many of so many pages a link is navigation."""
    return max(LEAST_PAGES, LEAST_SHARE * pages)


def with_navigation(fragment: GraphFragment, repeated: Collection[str]) -> GraphFragment:
    """Move the links of the body whose texts are *repeated* to the navigation."""
    if not repeated:
        return fragment
    return replace(fragment, links=tuple(_moved(fragment.links, repeated)))


def _moved(links: Iterable[Link], repeated: Collection[str]) -> Iterable[Link]:
    for link in links:
        is_repeated = link.position is LinkPosition.BODY and link.text in repeated
        yield replace(link, position=LinkPosition.NAV) if is_repeated else link
