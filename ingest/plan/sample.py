"""Which documents a run asks for whole, though it holds validators: whether the others can be believed."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from ingest.plan.budgets import site_of

ONE_IN = 100
"""One document in so many is asked for without conditions in every run."""

LEAST = 5
"""So many at least of each site whose pages have no ETag, as far as it has so many."""


def plan_sample(held: Iterable[tuple[str, bool]], *, run_id: str) -> frozenset[str]:
    """Choose documents to ask for without conditions, by a hash of the run and the address.

    Args: held: addresses of documents with validators, and whether an ETag is among them.

    A date is compared by order, so a server that holds an older file calls it unmodified; an ETag is compared
    for equality and comes first, so of small sites that send one none is chosen (RFC 9110, 13.1.3, 13.2.2).
    """
    sites: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for uri, tagged in held:
        sites[site_of(uri), tagged].append(uri)
    return frozenset(
        uri
        for (_, tagged), uris in sites.items()
        for uri in sorted(uris, key=lambda uri: _draw(run_id, uri))[: _size(len(uris), tagged=tagged)]
    )


def _size(documents: int, *, tagged: bool) -> int:
    return documents // ONE_IN if tagged else max(LEAST, -(-documents // ONE_IN))


def _draw(run_id: str, uri: str) -> bytes:
    return hashlib.blake2b(f"{run_id} {uri}".encode(), digest_size=8).digest()
