"""How much of what a source has is indexed, and why the rest is not; docs/crawling.md#completeness."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class DiscoveryWay(StrEnum):
    """What can name a page of a web source; documents of other kinds are named by the kind's `origin`."""

    SEED = "seed"
    SITEMAP = "sitemap"
    FEED = "feed"
    LLMS = "llms.txt"
    INVENTORY = "inventory"
    LINK = "link"


class AddressPlace(StrEnum):
    """What became of a named address: indexed, its content elsewhere, no page to index, or left out."""

    INDEXED = "indexed"
    ELSEWHERE = "elsewhere"
    NO_PAGE = "no_page"
    LEFT_OUT = "left_out"


class AddressReason(StrEnum):
    """Why an address is not indexed; most are the state of its document."""

    REDIRECTED = "redirected"
    DUPLICATE = "duplicate"
    OTHER_SOURCE = "other_source"
    MISSING = "missing"
    GONE = "gone"
    DEAD_LINK = "dead_link"
    UNSUPPORTED = "unsupported"
    OUT_OF_SCOPE = "out_of_scope"
    TRAP = "trap"
    DISALLOWED = "disallowed"
    FAILED = "failed"
    QUARANTINED = "quarantined"
    NOINDEX = "noindex"
    NO_TEXT = "no_text"
    OVER_BUDGET = "over_budget"
    TOO_DEEP = "too_deep"
    NOFOLLOW = "nofollow"
    UNPUBLISHED = "unpublished"
    NEW = "new"

    @property
    def place(self) -> AddressPlace:
        """Whether such an address leads elsewhere, has no page, or is left out."""
        return _PLACES.get(self, AddressPlace.LEFT_OUT)


_PLACES = {
    AddressReason.REDIRECTED: AddressPlace.ELSEWHERE,
    AddressReason.DUPLICATE: AddressPlace.ELSEWHERE,
    AddressReason.OTHER_SOURCE: AddressPlace.ELSEWHERE,
    AddressReason.MISSING: AddressPlace.NO_PAGE,
    AddressReason.GONE: AddressPlace.NO_PAGE,
    AddressReason.DEAD_LINK: AddressPlace.NO_PAGE,
    AddressReason.UNSUPPORTED: AddressPlace.NO_PAGE,
    AddressReason.OUT_OF_SCOPE: AddressPlace.NO_PAGE,
    AddressReason.TRAP: AddressPlace.NO_PAGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAddress:
    """An address, what names it, and why it is not indexed (None: it is); `detail` is in words."""

    uri: str
    ways: tuple[str, ...]
    reason: AddressReason | None = None
    detail: str = ""

    @property
    def place(self) -> AddressPlace:
        """What became of it."""
        return AddressPlace.INDEXED if self.reason is None else self.reason.place


LISTED = "listed"
"""How it is known that nothing is unknown: a folder or a repository lists all that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownPages:
    """How many pages a source likely has that nothing names, and the interval; None: `why` says why not."""

    likely: int | None = None
    low: int | None = None
    high: int | None = None
    method: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """How much of what names a source's documents is indexed.

    The four counts are of addresses by what became of them. `share` is `indexed` of `indexed` and
    `left_out`, None where both are 0; `fell` is how much it was higher after the run before, if it was.
    `reasons` counts addresses that are not indexed, `ways` all addresses by what names them.
    """

    indexed: int = 0
    left_out: int = 0
    elsewhere: int = 0
    no_page: int = 0
    share: float | None = None
    fell: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)
    ways: dict[str, int] = field(default_factory=dict)
    unknown: UnknownPages = UnknownPages()


def completeness_lines(found: Completeness) -> Iterator[tuple[str, str]]:
    """Say how much of what is named is indexed, and how much likely nothing names; of no page nothing."""
    if found.share is None:
        return
    fell = f", {100 * found.fell:.1f} points less than after the run before" if found.fell else ""
    left_out = [
        f"{number:,} {reason}"
        for reason, number in sorted(found.reasons.items(), key=lambda one: -one[1])
        if AddressReason(reason).place is AddressPlace.LEFT_OUT
    ]
    pages, told = found.indexed + found.left_out, f"; left out: {', '.join(left_out)}" if left_out else ""
    yield "indexed", f"{found.indexed:,} of {pages:,} pages that are named ({found.share:.1%}{fell}){told}"
    unknown = found.unknown
    if unknown.likely is None:
        yield "unknown", f"how many more pages there are cannot be told: {unknown.why}"
    elif unknown.method != LISTED:
        between = f"between {unknown.low:,} and {unknown.high:,} ({unknown.method})"
        yield "unknown", f"likely {unknown.likely:,} more pages, which nothing names; {between}"
