"""How complete a source is: what the ledger knows of every address, accounted for and summed up."""

from flows.run.index import Index
from ingest.parse.coverage.cover import NOINDEX
from ingest.plan.completeness import SourceRows, account_for, sum_up
from ingest.sources.registry import kind_named
from schemas.completeness import Completeness, NamedAddress
from schemas.documents import READABLE
from schemas.source import Source


def read_addresses(index: Index, source: Source) -> tuple[NamedAddress, ...]:
    """Return every address that something names of a source, with what became of it."""
    ledger, kind, name, current = index.ledger, kind_named(source.kind), source.name, index.current()
    known = ledger.documents.of_source(name)
    shown = {live.uri for live in ledger.generations.live(current, source=name).values()}
    apart = {one.doc for one in known if one.state in READABLE and one.uri not in shown and one.doc}
    owners = ledger.generations.owners(current, docs=apart) if apart else {}
    rows = SourceRows(
        known=known,
        shown=shown,
        listed=ledger.listings.of_source(name),
        linked=ledger.links.targets_of_source(name) if kind.follows_links else {},
        textless=_textless(index, name),
        owned={doc for doc, owner in owners.items() if owner != name},
        origin=kind.origin if kind.lists_all else None,
    )
    return account_for(source, rows)


def _textless(index: Index, source: str) -> dict[str, str]:
    """Documents without a word; an index or a list of links is left out, whose words lead to others."""
    found = index.ledger.coverage.of_textless(source).items()
    return {uri: NOINDEX if NOINDEX in why else "" for uri, why in found if NOINDEX in why or not why}


def measure_completeness(index: Index, source: Source) -> Completeness:
    """Sum up how complete a source is, against what the last run of it that ended well reported."""
    before = index.ledger.runs.last_good_report(source.name).get("completeness", {}).get("share")
    lists_all = kind_named(source.kind).lists_all
    return sum_up(read_addresses(index, source), lists_all=lists_all, before=before)
