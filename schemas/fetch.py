"""What is asked of the network, whose turn it is to ask a host, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from schemas.completeness import DiscoveryWay
from schemas.nodes import Dated
from schemas.uses import UseOrigin, UseTerms

Body = bytes  # FetchResult has a field named bytes


class FetchStatus(StrEnum):
    """What became of one document; the `reason` of its result says why."""

    OK = "ok"
    NOT_MODIFIED = "not_modified"
    REDIRECTED = "redirected"
    NOT_FOUND = "not_found"
    GONE = "gone"
    DISALLOWED = "disallowed"  # by robots.txt
    UNSUPPORTED = "unsupported"  # no type of document that is read; its body was left where it is
    REFUSED = "refused"  # by our own rules: address, scheme, size, coding
    FAILED = "failed"  # tries used up, host unreachable, or an HTTP error that will not pass


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A canonical URL and the validators last seen for it, verbatim."""

    url: str
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """The outcome of one document.

    `body` is decoded and complete, or None; `unproven`: nothing but the end of the connection says that it is
    complete, and it came twice as it is. `etag`, `last_modified`, `content_type` and `x_robots_tag` are
    the server's own words; a 304 that names no validator keeps those of the request, and `told_etag` says
    whether it named one. `length` is the size of the body that a 304 stands for, where it can be compared
    with that of a body as decoded. `location` is the
    canonical target of a redirect, which is not fetched. `canonical` is the address on the same domain that a
    header `Link` names as the document's own, `translations` are those that it names as its forms in other
    languages, None where nothing is said of them. `uses` is what was said of those, beside X-Robots-Tag, in
    each place that was read, nothing included. `modified` is when what was asked says that the
    bytes last changed, None where that says nothing. `requests` (also those that no connection came
    of), `bytes` (of bodies, as received) and `statuses` cover all tries; `seconds` is how long they took,
    waiting included.
    """

    url: str
    status: FetchStatus
    requests: int = 0
    bytes: int = 0
    statuses: tuple[int, ...] = ()
    seconds: float = 0.0
    body: Body | None = None
    unproven: bool = False
    http_status: int | None = None
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    modified: Dated | None = None
    location: str | None = None
    permanent: bool = False
    length: int | None = None
    told_etag: bool = False
    x_robots_tag: str | None = None
    canonical: str | None = None
    translations: tuple[str, ...] | None = None
    uses: Mapping[UseOrigin, UseTerms] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapEntry:
    """A document a site lists; `lastmod` is the site's own claim and sets priority only; `ways` list it.

    `translations` are its forms in other languages, itself among them, where its site lists them.
    """

    url: str
    lastmod: str | None = None
    ways: tuple[DiscoveryWay, ...] = (DiscoveryWay.SITEMAP,)
    translations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchTotals:
    """All HTTP of a session, robots.txt and sitemaps included; `bytes` of bodies as received."""

    requests: int = 0
    bytes: int = 0
    statuses: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTurn:
    """What the ledger answers who wants to ask a host.

    `wait`: seconds after which to ask again; 0: it is their turn, for `seconds`. `delay`: the longest delay
    between requests, in seconds, that any other run promised the host; `others`: how many such runs.
    """

    wait: float
    seconds: float = 0.0
    delay: float = 0.0
    others: int = 0
