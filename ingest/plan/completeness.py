"""What became of every address that something names, and how much of a source is indexed."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ingest.plan.frontier import BudgetUsage, apply_budgets, is_limit, site_of
from ingest.plan.recapture import estimate_unknown
from ingest.plan.scope import Variant, budget_refusal, outside_refusal
from ingest.urls import path_of_variant
from schemas.completeness import (
    LISTED,
    AddressPlace,
    AddressReason,
    Completeness,
    DiscoveryWay,
    NamedAddress,
    UnknownPages,
)
from schemas.documents import ASLEEP, NOWHERE, READABLE, DocumentState, KnownDocument
from schemas.source import Source

_STATES = {state: AddressReason(state.value) for state in DocumentState if state not in READABLE}
_TOO_DEEP = "deeper than max_depth"
_Why = tuple[AddressReason | None, str]
"""Why readers do not see what an address names, None where they do, and what more there is to say of it."""

_NOTHING = UnknownPages(likely=0, low=0, high=0, method=LISTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRows:
    """What is known of a source: rows of the ledger, and what names addresses.

    `listed` has the ways by address, `linked` the depth of the nearest document that links to it. `shown` are
    the addresses that readers see, `textless` those without a word, each with why they have none ("" if
    nobody says), `owned` documents by node id that another source has. `origin` names what has no other way.
    """

    known: Collection[KnownDocument]
    shown: Collection[str]
    listed: Mapping[str, Collection[str]] = field(default_factory=dict)
    linked: Mapping[str, int] = field(default_factory=dict)
    textless: Mapping[str, str] = field(default_factory=dict)
    owned: Collection[str] = ()
    origin: str | None = None


def account_for(source: Source, rows: SourceRows) -> tuple[NamedAddress, ...]:
    """Say of every address that something names what became of it, by address.

    Links that lead out of the source name no address of it, and what is gone or out of scope, and named by
    nothing any more, is none.
    """
    ways = _ways(rows)
    by_uri = {known.uri: known for known in rows.known}
    held = (known for known in by_uri.values() if known.state not in ASLEEP or ways.get(known.uri))
    why = {known.uri: _why_not(source, rows, known) for known in held}
    waiting = [
        uri
        for uri in ways
        if uri not in by_uri and (uri in rows.listed or outside_refusal(uri, source) is None)
    ]
    why |= _why_never(source, rows, waiting)
    return tuple(
        NamedAddress(uri=uri, ways=ways.get(uri, ()), reason=reason, detail=detail)
        for uri, (reason, detail) in sorted(why.items())
    )


def _ways(rows: SourceRows) -> Mapping[str, tuple[str, ...]]:
    """What names each address, in order; a redirect and a copy are named for what they lead to, too."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for uri, listed in rows.listed.items():
        found[uri] |= set(listed)
    for uri in rows.linked:
        found[uri].add(DiscoveryWay.LINK)
    for known in rows.known:
        if rows.origin is not None and known.state not in ASLEEP:
            found[known.uri].add(rows.origin)
        elif known.found_by is not None and known.hops == 0:
            found[known.uri].add(DiscoveryWay.LINK)
    leads = {known.uri: known.location for known in rows.known if known.location is not None}
    for uri in leads:
        _pass_on(found[uri] - {DiscoveryWay.SEED}, uri, leads, found)
    return {uri: tuple(sorted(ways)) for uri, ways in found.items() if ways}


def _pass_on(ways: set[str], uri: str, leads: Mapping[str, str], found: defaultdict[str, set[str]]) -> None:
    passed = {uri}
    while (uri := leads.get(uri, "")) and uri not in passed:
        passed.add(uri)
        found[uri] |= ways


def _why_not(source: Source, rows: SourceRows, known: KnownDocument) -> _Why:
    """Why readers do not see a document; no reason where they do, if only its last good version."""
    if known.uri in rows.shown:
        why = rows.textless.get(known.uri)
        if why is None or known.state not in READABLE:
            return None, ""
        return (AddressReason.NOINDEX, why) if why else (AddressReason.NO_TEXT, "")
    if known.state is DocumentState.OUT_OF_SCOPE:
        outside = outside_refusal(known.uri, source)
        return (AddressReason.OUT_OF_SCOPE, outside) if outside else _beyond(known.reason)
    if known.state in READABLE:
        owned = known.doc in rows.owned
        return (AddressReason.OTHER_SOURCE if owned else AddressReason.UNPUBLISHED), ""
    if known.state in NOWHERE and known.content_hash is None:
        return AddressReason.DEAD_LINK, known.reason
    detail = f"leads to {known.location}" if known.location else ""
    return _STATES[known.state], "; ".join(part for part in (known.reason, detail) if part)


def _beyond(refusal: str) -> _Why:
    """Tell a limit that the source file sets from what no person wrote."""
    if refusal.startswith(_TOO_DEEP):
        return AddressReason.TOO_DEEP, refusal
    return (AddressReason.OVER_BUDGET if is_limit(refusal) else AddressReason.TRAP), refusal


def _why_never(source: Source, rows: SourceRows, uris: Collection[str]) -> Mapping[str, _Why]:
    """Say of addresses that are not in the ledger what would keep them out of it now."""
    why: dict[str, _Why] = {}
    for uri in sorted(uris):
        depth = 0 if uri in rows.listed else rows.linked.get(uri, 0) + 1
        if outside := outside_refusal(uri, source):
            why[uri] = (AddressReason.OUT_OF_SCOPE, outside)
        elif refusal := budget_refusal(uri, source, depth=depth):
            why[uri] = _beyond(refusal)
    rest = [_as_new(source, rows, uri) for uri in sorted(uris) if uri not in why]
    stopped = apply_budgets(source.scope, rest, _usage(rows, [one.uri for one in rest])).stopped
    why |= {problem.url: _beyond(problem.reason) for problem in stopped}
    # What no budget stops is let in, unless the only pages that link to it say `nofollow`.
    unstopped = {uri: AddressReason.NEW if uri in rows.listed else AddressReason.NOFOLLOW for uri in uris}
    return {uri: why.get(uri, (reason, "")) for uri, reason in unstopped.items()}


def _as_new(source: Source, rows: SourceRows, uri: str) -> KnownDocument:
    return KnownDocument(source=source.name, uri=uri, found_by=None if uri in rows.listed else uri)


def _usage(rows: SourceRows, uris: Iterable[str]) -> BudgetUsage:
    paths = {path_of_variant(uri) for uri in uris} - {None}
    awake = [known.uri for known in rows.known if known.state not in ASLEEP]
    variants: defaultdict[str, list[Variant]] = defaultdict(list)
    for known in rows.known if paths else ():
        path = path_of_variant(known.uri) or known.uri
        if path in paths:
            variants[path].append(
                Variant(uri=known.uri, content_hash=known.content_hash, fetched_at=known.fetched_at)
            )
    return BudgetUsage(pages=len(awake), by_site=Counter(map(site_of, awake)), variants=variants)


def sum_up(
    addresses: Iterable[NamedAddress], *, lists_all: bool, before: float | None = None
) -> Completeness:
    """Count addresses, and estimate how many pages nothing names, unless the source *lists_all* that it has.

    *before* is the share after the run before.
    """
    found = tuple(addresses)
    places = Counter(one.place for one in found)
    indexed, left_out = places[AddressPlace.INDEXED], places[AddressPlace.LEFT_OUT]
    share = indexed / (indexed + left_out) if indexed + left_out else None
    pages = (one.ways for one in found if one.reason is None)
    return Completeness(
        indexed=indexed,
        left_out=left_out,
        elsewhere=places[AddressPlace.ELSEWHERE],
        no_page=places[AddressPlace.NO_PAGE],
        share=share,
        fell=max(0.0, before - share) if before is not None and share is not None else 0.0,
        reasons=_counted(one.reason for one in found if one.reason is not None),
        ways=_counted(way for one in found for way in one.ways),
        unknown=_NOTHING if lists_all else estimate_unknown(pages),
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    return {str(name): number for name, number in sorted(Counter(names).items())}
