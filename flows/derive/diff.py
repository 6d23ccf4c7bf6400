"""The ledger against the generation that readers see; an empty difference ends the run."""

import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from flows.derive.link import redirects_matter
from flows.derive.tools import keep_tools
from flows.run.contexts import IndexContext, said_in
from flows.run.generations import changes_model
from flows.run.index import Index
from flows.run.values import ComparedSource, Difference
from indexes.publish.generation import load_generation
from ingest.diff.documents import count_outcomes, diff_documents, diff_tools, run_outcome, without_tools
from ingest.diff.guard import (
    empty_refusal,
    failure_advice,
    failure_refusal,
    removal_refusal,
    seed_refusal,
    unread_seeds,
)
from ingest.diff.validators import hosts_with_false_304
from ingest.fetch.sitemaps import may_be_list
from ingest.plan.scope import is_inside, seed_urls
from ingest.urls import folder_of
from schemas.advice import ADVICE, Trouble
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.errors import GuardRefused
from schemas.families import SourceFamily
from schemas.ids import canonical_json
from schemas.records import from_record, to_record
from schemas.report import Problem
from schemas.source import Source


def family_of(source: Source) -> SourceFamily | None:
    """Return what readers need to join the source's documents with their other versions."""
    family = source.family
    if family is None:
        return None
    bases = () if family.url is not None else tuple(sorted({folder_of(url) for url in seed_urls(source)}))
    return SourceFamily(source=source.name, family=family.name, url=family.url, bases=bases)


def families_after(
    before: Iterable[SourceFamily], source: Source, *, there: Collection[str]
) -> tuple[SourceFamily, ...]:
    """Return the families of the sources that are *there* in the next generation, which *source* makes."""
    own = family_of(source)
    others = (one for one in before if one.source != source.name)
    found = (*others, *((own,) if own else ()))
    return tuple(sorted((one for one in found if one.source in there), key=lambda one: one.source))


def families_differ(index: Index, source: Source, *, base: int) -> bool:
    """Whether the source file says of versions what the base generation does not."""
    held = {one.source: one for one in load_generation(index.layout, base).families}
    return held.get(source.name) != family_of(source)


_log = logging.getLogger(__name__)

LINKED_AGAIN = "linked_again"
"""Detail of a generation that a lost ledger learnt anew: the source whose documents are all to be linked."""


def check_seeds(run: IndexContext, known: Sequence[KnownDocument], *, accept: bool) -> None:
    """Stop before anything is decided when the source, of which *known* are all rows, cannot be read.

    *accept* goes on without a seed, which becomes a problem, as long as another can be read.

    Raises: GuardRefused: a seed is unreachable and that is not accepted, or all are, or there is no readable
    document.
    """
    seeds = seed_urls(run.source)
    # A feed to which pages link, too, is no document and was read all the same.
    read = [row for row in known if row.state is not DocumentState.UNSUPPORTED or not may_be_list(row.uri)]
    refusal = seed_refusal(seeds, read, accept=accept) or empty_refusal(known)
    if refusal:
        raise GuardRefused(f"{refusal}; nothing was changed", subject=run.source.name)
    unread = unread_seeds(seeds, read)
    told = [Problem(url=seed, reason=f"seed cannot be read: {why}") for seed, why in unread.items()]
    run.index.ledger.runs.add_problems(run.run_id, told)


def compare_source(
    run: IndexContext,
    *,
    accept: bool,
    rebuild: Callable[[Index, Difference], Difference] | None = None,
    repairs: bool = False,
) -> ComparedSource:
    """Compare with the generation that is current now, and keep the difference where there is one.

    *rebuild* makes all of the index change, *repairs* says that something is to be written again.

    Raises: GuardRefused: too much of the source would go and *accept* is false.
    """
    difference = diff_source(run, accept=accept)
    if rebuild is not None:
        difference = rebuild(run.index, difference)
    changes = repairs or is_to_publish(run, difference)
    return ComparedSource(
        base=difference.base,
        difference=dump_difference(run.index, difference) if changes else None,
        documents=len(difference.changes),
        counts=difference.documents,
        live=difference.live,
        guard=difference.guard,
        fragments=tuple(change.new.fragment_sha for change in difference.changes if change.new),
        as_of=run.index.now(),
    )


def is_to_publish(run: IndexContext, difference: Difference) -> bool:
    """Whether readers would see anything else, or in vectors of another model."""
    return bool(
        difference.changes
        or changes_model(run)
        or (difference.live and families_differ(run.index, run.source, base=difference.base))
        or redirects_matter(run, difference)
    )


def dump_difference(index: Index, difference: Difference) -> str:
    """Keep a difference in the outbox; return its hash."""
    return index.outbox.put(canonical_json(to_record(difference)).encode())


def load_difference(index: Index, compared: ComparedSource) -> Difference:
    """Read back what was found.

    Raises: DamageFound: it is damaged or lost.
    """
    if compared.difference is None:
        return Difference(
            base=compared.base,
            changes=(),
            documents=compared.counts,
            live=compared.live,
            guard=compared.guard,
        )
    return from_record(Difference, json.loads(index.outbox.get(compared.difference)))


def diff_source(run: IndexContext, *, accept: bool) -> Difference:
    """Compare with the generation that is current now; needs the index lease.

    Raises: GuardRefused: too much of the source would go and *accept* is false.
    """
    ledger, source = run.index.ledger, run.source
    base = run.index.current()
    known = ledger.documents.of_source(source.name)
    held = ledger.generations.live(base, source=source.name)
    live = without_tools(held)
    owners = ledger.generations.owners(base, docs=[one.doc for one in known if one.doc])
    changes = diff_documents(
        known, live, owners, in_scope=partial(is_inside, source), says=partial(said_in, run.index)
    )
    if ledger.generations.still_says(LINKED_AGAIN, source.name):
        changes = _all_of(live, changes)
    _distrust(run, hosts_with_false_304(known, changes))
    guard = _check_loss(run, known, live, changes, accept=accept)
    counts = _count(
        run, known, changes, owners, shown={uri for one in live.values() for uri in (one.uri, *one.aliases)}
    )
    told = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    _log.info(
        "compared with generation %d, %d documents change: %s", base, len(changes), told or "nothing seen"
    )
    changes = (*changes, *diff_tools(keep_tools(run.index, run.tools()), held))
    return Difference(base=base, changes=changes, documents=counts, live=len(live), guard=guard)


def _all_of(
    live: Mapping[str, LiveDocument], changes: Sequence[DocumentChange]
) -> tuple[DocumentChange, ...]:
    """The changes, and every other document as if it came with other links."""
    found = {doc: DocumentChange(kind=ChangeKind.REFRESHED, old=old, new=old) for doc, old in live.items()}
    found |= {change.doc: change for change in changes}
    return tuple(
        replace(change, old=change.old and replace(change.old, fragment_sha=""))
        for _, change in sorted(found.items())
        if change.new is None or change.new.fragment_sha
    )


def _check_loss(
    run: IndexContext,
    known: Sequence[KnownDocument],
    live: Mapping[str, LiveDocument],
    changes: Sequence[DocumentChange],
    *,
    accept: bool,
) -> str | None:
    """Return what a guard objects to, where *accept* lets it through."""
    seen, limits = {document.uri for document in live.values()}, run.source.max_failures
    removal = removal_refusal(changes, live=len(live))
    failures = failure_refusal(known, seen, run_id=run.run_id, limits=limits)
    guard = removal or failures
    if guard is None or accept:
        return guard
    advice = ADVICE[Trouble.REMOVAL] if removal else failure_advice(known, seen)
    raise GuardRefused(f"{guard}; nothing was changed; {advice}", subject=run.source.name)


def _distrust(run: IndexContext, lies: Mapping[str, str]) -> None:
    """Remember hosts whose 304 hid a change; from the next run on they are asked without conditions."""
    ledger = run.index.ledger
    ledger.hosts.distrust(lies, now=run.index.now())
    told = [
        Problem(url=host, reason=f"its 304 is no longer believed: {reason}") for host, reason in lies.items()
    ]
    ledger.runs.add_problems(run.run_id, told)


def _count(
    run: IndexContext,
    known: Sequence[KnownDocument],
    changes: Sequence[DocumentChange],
    owners: Mapping[str, str],
    *,
    shown: Collection[str],
) -> dict[str, int]:
    seen = [document for document in known if document.run_id == run.run_id]
    by_doc = {change.doc: change for change in changes}
    outcomes = [
        run_outcome(
            document,
            by_doc.get(document.doc or ""),
            owned=owners.get(document.doc or "", document.source) == document.source,
            shown=document.uri in shown,
        )
        for document in seen
    ]
    return count_outcomes(seen, outcomes)


def base_manifest_sources(index: Index, base: int) -> dict[str, dict[str, dict[str, int]]]:
    """Row counts of every source at the base generation."""
    manifest = load_generation(index.layout, base)
    return {
        source: {table: dict(kinds) for table, kinds in counts.items()}
        for source, counts in manifest.sources.items()
    }
