"""The rows that differ from what the parsed documents give, planned as a generation of their own."""

from dataclasses import dataclass

from flows.commit.abort import abort_generation
from flows.commit.publish import prune, publish_generation
from flows.commit.repair import REPAIR, from_nothing, require_ledger
from flows.commit.verify import verify_generation
from flows.commit.write import write_plan
from flows.derive.diff import base_manifest_sources
from flows.derive.freeze import freeze, plan_rows
from flows.derive.link import DOCUMENTS_PER_PAYLOAD, NextGeneration, link_documents
from flows.derive.row_plan import PlannedRows
from flows.derive.similar_to import SimilarPlan
from flows.run.batches import cut
from flows.run.contexts import DeriveContext
from flows.run.resources import Resources
from flows.run.values import Difference
from indexes.stores.ledger.leases import Lease
from indexes.write.outbox import dump_payload
from ingest.link.similarity import Similarity
from schemas.causes import count_rows
from schemas.errors import DamageFound, SchemaMismatch

"""Under this a generation that mends is published, and its lease held, as those of a source are."""


@dataclass(kw_only=True)
class AgainstTheGraph(SimilarPlan):
    """Compares all passages, and their edges with those of the graph, whatever is remembered."""

    @property
    def _known(self) -> Similarity | None:
        return None


def publish_difference(resources: Resources, lease: Lease, *, anyway: bool) -> int | None:
    """Publish the rows that documents should have and the stores have not; None where none differ.

    *anyway*: publish although no row differs, for what goes with a generation.

    Raises: DamageFound, SchemaMismatch: the stores do not take it: more is damaged than rows of documents.
    """
    index, as_of = resources.index, resources.index.now()
    planned = plan_difference(resources.deriving(), as_of=as_of)
    if not planned.payloads and not anyway:
        return None
    difference = Difference(base=index.current(), changes=(), documents={})
    return _publish(resources, lease, difference, planned, as_of=as_of)


def publish_all_rows(resources: Resources, lease: Lease) -> int:
    """Publish all rows in new tables, from the parsed documents and the vectors that are cached.

    Raises: DamageFound: a parsed document, or the ledger that names them, is lost as well.
    """
    require_ledger(resources.index)
    index, as_of = resources.index, resources.index.now()
    difference = from_nothing(index, Difference(base=index.current(), changes=(), documents={}))
    planned = plan_rows(resources.deriving(), difference, as_of=as_of)
    return _publish(resources, lease, difference, planned, as_of=as_of)


def plan_difference(run: DeriveContext, *, as_of: str) -> PlannedRows:
    """Decide the rows of every document again, and put those that differ from the stores' into the outbox."""
    index, base = run.index, run.index.current()
    generation = NextGeneration(run=run, base=base, changes={}, as_of=as_of)
    similar, payloads, texts = AgainstTheGraph(run=run, base=base), [], 0
    docs = sorted(index.ledger.generations.live(base))
    run.progress.expect("link", len(docs))
    count_rows("documents", len(docs))
    for part in cut(docs, DOCUMENTS_PER_PAYLOAD):
        run.raise_if_stopped()
        linked = link_documents(generation, part)
        similar.add(linked.rows)
        texts += linked.texts
        if linked.rows:
            payloads.append(dump_payload(index.outbox, linked.rows))
        run.progress.advance("link", len(part))
    alike, entities = similar.decide(), generation.entities.decide()
    return PlannedRows(
        payloads=(*payloads, *alike.payloads, *entities.payloads),
        # What was published is what it must be again; what the damaged stores have says nothing.
        sources=base_manifest_sources(index, base),
        chunks_added=0,
        chunks_removed=0,
        redirects=index.ledger.redirects.at(base),
        similar=alike,
        names=generation.names.counts(),
        texts=texts,
    )


def _publish(
    resources: Resources, lease: Lease, difference: Difference, planned: PlannedRows, *, as_of: str
) -> int:
    deriving, committing = resources.deriving(), resources.committing()
    made = freeze(deriving, difference, planned, lease=lease, as_of=as_of, embedded=planned.texts)
    try:
        staged = write_plan(committing, made, lease=lease)
        verify_generation(committing, made, staged)
    except (DamageFound, SchemaMismatch):
        abort_generation(committing, made)
        raise
    publish_generation(committing, made, staged, lease=lease)
    prune(resources.index, source=REPAIR)
    return made.generation
