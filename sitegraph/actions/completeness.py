"""How complete sources are: what became of every address that something names (docs/crawling.md)."""

from collections.abc import Collection
from typing import Any

from flows.run.completeness import read_addresses
from flows.run.index import Index
from ingest.plan.completeness import sum_up
from ingest.sources.registry import kind_named
from schemas.errors import ConfigError
from schemas.records import to_record
from schemas.source import Source


def describe_completeness(
    index: Index, name: str | None, *, reasons: Collection[str] = (), every: bool = False
) -> dict[str, Any]:
    """Return of each source, or the one of this name, how complete it is, and its addresses.

    Those that are indexed are left out unless *every* address is wanted; *reasons*, if any, count alone.
    Raises: ConfigError: no run has read a source of this name.
    """
    sources = index.ledger.sources.all()
    if name is not None and name not in sources:
        known = ", ".join(sorted(sources)) or "none"
        raise ConfigError(f"no run has read a source of this name; known: {known}", subject=name)
    wanted = sorted(sources) if name is None else [name]
    described = {one: _describe(index, sources[one], reasons, every=every) for one in wanted}
    return {"generation": index.current(), "sources": described}


def _describe(index: Index, source: Source, reasons: Collection[str], *, every: bool) -> dict[str, Any]:
    addresses = read_addresses(index, source)
    summed = to_record(sum_up(addresses, lists_all=kind_named(source.kind).lists_all))
    del summed["fell"]  # a run says so, against the one before it
    shown = [one for one in addresses if (not reasons or one.reason in reasons if one.reason else every)]
    return {**summed, "addresses": [{**to_record(one), "place": one.place.value} for one in shown]}
