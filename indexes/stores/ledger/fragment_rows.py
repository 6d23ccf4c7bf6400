"""What a ledger has of parsed documents: derived from them, so saved, compared, repaired, copied by hash."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.ledger import Ledger
from indexes.stores.ledger.links import link_rows
from indexes.stores.ledger.tables import (
    answer,
    fragment_access,
    fragment_link,
    fragment_name,
    fragment_refusal,
    match,
    name_key,
    select_among,
)
from schemas.batches import in_parts
from schemas.documents import SoftError
from schemas.fragment import GraphFragment, WordCoverage
from schemas.names import Name
from schemas.nodes import DocumentKind
from schemas.uses import refused_uses

_ROWS = 5_000
_COPIED = (fragment_link, match, fragment_access, fragment_refusal)
"""Tables whose rows are copied as they are; names are saved, so that they can be looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentFacts:
    """All that a ledger has of a parsed document: what it says, its names, and what only its bytes tell.

    `raw_sha` are the bytes of a PDF, `pages_sha` what its pages gave; None: not kept. `is_judged`: whether
    it is known if it seems to stand in for content, as `soft_error` says. `coverage`: None:
    not known.
    """

    fragment: GraphFragment
    names: Collection[Name]
    raw_sha: str | None = None
    pages_sha: str | None = None
    soft_error: SoftError | None = None
    is_judged: bool = True
    coverage: WordCoverage | None = None


def save_fragment_rows(ledger: Ledger, facts: Mapping[str, FragmentFacts]) -> None:
    """Write what a ledger has of parsed documents, by hash: for who parses them, and for who restores it."""
    ledger.pages.save({sha: one.pages_sha for sha, one in facts.items()})
    ledger.soft_errors.save({sha: one.soft_error for sha, one in facts.items() if one.is_judged})
    ledger.coverage.save({sha: one.coverage for sha, one in facts.items()})
    pdfs = {sha: one.raw_sha for sha, one in facts.items() if one.fragment.kind == DocumentKind.PDF}
    ledger.origins.save(pdfs)
    _save(ledger, {sha: (one.fragment, one.names) for sha, one in facts.items()})


def _save(ledger: Ledger, fragments: Mapping[str, tuple[GraphFragment, Collection[Name]]]) -> None:
    ledger.links.save([(sha, fragment) for sha, (fragment, _) in fragments.items()])
    ledger.names.save([(sha, names) for sha, (_, names) in fragments.items()])
    ledger.matches.save({sha: fragment.matched for sha, (fragment, _) in fragments.items()})
    ledger.access.save({sha: fragment.access for sha, (fragment, _) in fragments.items()})
    ledger.refusals.save({sha: refused_uses(fragment.uses) for sha, (fragment, _) in fragments.items()})


def damaged_fragment_rows(
    ledger: Ledger, fragments: Mapping[str, tuple[GraphFragment, Collection[Name]]]
) -> frozenset[str]:
    """Return the hashes of those fragments whose links or names in the ledger are not what they say."""
    names = ledger.names.of_fragments(fragments.keys())
    links = _links_of(ledger, fragments.keys())
    unkeyed = ledger.names.unkeyed(fragments.keys())
    return frozenset(
        sha
        for sha, (fragment, said) in fragments.items()
        if sha in unkeyed
        or names.get(sha, ()) != tuple(said)
        or links.get(sha, []) != sorted(map(_link, link_rows(sha, fragment)), key=str)
    )


def rewrite_fragment_rows(
    ledger: Ledger, fragments: Mapping[str, tuple[GraphFragment, Collection[Name]]]
) -> None:
    """Write links, names and matched selectors of fragments, in place of any that are there."""
    _drop(ledger, fragments.keys())
    _save(ledger, fragments)


def copy_fragment_rows(held: Ledger, into: Ledger, shas: Collection[str]) -> None:
    """Copy links, names and matched selectors of fragments, in place of any that are there."""
    _drop(into, shas)
    for table in _COPIED:
        for part in in_parts(shas):
            _copy(held, into, table, sa.select(table).where(table.c.fragment_sha.in_(part)))
    for part in in_parts(shas):
        into.names.save(held.names.of_fragments(part).items())


def copy_answers(held: Ledger, into: Ledger) -> None:
    """Copy what a language model answered, so that none is asked again."""
    with into.engine.begin() as connection:
        connection.execute(sa.delete(answer))
    _copy(held, into, answer, sa.select(answer))


def _links_of(ledger: Ledger, shas: Collection[str]) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    with ledger.engine.execution_options(read_only=True).connect() as connection:
        rows = select_among(connection, sa.select(fragment_link), fragment_link.c.fragment_sha, shas)
        for row in rows:
            found.setdefault(row.fragment_sha, []).append(_link(row._mapping))
    return {sha: sorted(rows, key=str) for sha, rows in found.items()}


def _link(row: Mapping[Any, Any]) -> tuple[Any, ...]:
    return (row["target"], row["fragment"], row["text"], row["position"])


def _drop(ledger: Ledger, shas: Collection[str]) -> None:
    with ledger.engine.begin() as connection:
        for table in (*_COPIED, fragment_name, name_key):
            for part in in_parts(shas):
                connection.execute(sa.delete(table).where(table.c.fragment_sha.in_(part)))


def _copy(held: Ledger, into: Ledger, table: sa.Table, query: sa.Select[Any]) -> None:
    reading = held.engine.execution_options(read_only=True)
    with reading.connect() as source, into.engine.begin() as target:
        rows = source.execution_options(yield_per=_ROWS).execute(query)
        for part in rows.partitions(_ROWS):
            target.execute(sa.insert(table), [dict(row._mapping) for row in part])
