"""How an index stands, as plain data: what it holds, how fresh it is, who is at work, its audiences."""

from collections import Counter
from datetime import datetime
from typing import Any

from flows.run.account import freshness_by_source
from flows.run.index import Index
from flows.run.leases import is_dead, process_of
from indexes.families import Families
from indexes.health import due_of, last_report, load_record
from indexes.layout import IndexLayout
from indexes.markers import Audience, audiences_of
from indexes.publish.current import held_since, read_current
from indexes.publish.files import bytes_beyond
from indexes.publish.generation import GenerationManifest, load_generation, published_line
from indexes.stores.ledger.leases import HeldLease
from runtime.logins import login_state, told_login
from schemas.fragment import CoverageCounts
from schemas.nodes import NodeKind
from schemas.records import to_record
from schemas.report import FreshnessState, LoginState
from schemas.source import Source
from sitegraph.actions.health import describe_sources


def gather_status(opened: Index) -> dict[str, Any]:
    """Return everything that `status` shows."""
    manifest, ledger = load_generation(opened.layout, opened.current()), opened.ledger
    leases = [_lease(held) for held in ledger.leases.describe(now=opened.now())]
    fresh, covered = freshness_by_source(opened), ledger.coverage.counts()
    described = describe_sources(
        states=ledger.documents.states(),
        rows=manifest.sources,
        runs=ledger.runs.latest_reports(),
        under_way={lease["name"] for lease in leases if lease["alive"]},
    )
    known, now = ledger.sources.all(), opened.clock.now()
    audiences, checks = describe_audiences(opened), load_record(opened.layout)
    return {
        "index": str(opened.layout.root),
        "graph": opened.manifest.graph,
        "model": opened.model().name,
        "generation": manifest.generation,
        "as_of": manifest.as_of if manifest.generation else None,
        "held_since": held_since(opened.layout),
        "maintenance": _maintenance(opened),
        # Of the last run that asked questions before publishing; the losses are `check --held`'s.
        "checks": checks
        and {
            "source": checks.source,
            "generation": checks.generation,
            "as_of": checks.as_of,
            **to_record(checks.counts),
        },
        "kept": _kept(opened.layout, manifest),
        "families": _families(opened, manifest),
        "writing": ledger.leases.holder("index", now=opened.now()),
        "leases": leases,
        "sources": {
            name: {
                **one,
                "freshness": to_record(fresh.get(name, FreshnessState())),
                "coverage": to_record(covered.get(name, CoverageCounts())),
                "login": _login(known.get(name), now=now),
                "completeness": ledger.runs.last_good_report(name).get("completeness"),
            }
            for name, one in described.items()
        },
        # Only where there are any: nothing else says of most indexes that they could have some.
        **({"audiences": audiences} if audiences else {}),
    }


def _login(source: Source | None, *, now: datetime) -> dict[str, Any]:
    """When the login ends, and a line about it where that is soon or was."""
    state = LoginState() if source is None else login_state(source, now=now)
    return {**to_record(state), "told": source and told_login(source, state, now=now)}


def _maintenance(opened: Index) -> dict[str, Any]:
    last = last_report(opened.layout)
    return {
        "due": list(due_of(opened.layout, opened.manifest)),
        "last": last.started_at if last else None,
        "damage": [list(one) for one in last.sample.damage] if last else [],
    }


def _kept(layout: IndexLayout, current: GenerationManifest) -> dict[str, Any]:
    """The generations that can be read, and the bytes on disk that only those before the current one need."""
    line = published_line(layout, current.generation)
    return {
        "generations": [{"generation": one.generation, "as_of": one.as_of} for one in line],
        "bytes": bytes_beyond(current.files, (one.files for one in line)),
    }


def _families(opened: Index, manifest: GenerationManifest) -> dict[str, dict[str, int]]:
    """Documents of each version of each manual; the version that is answered from comes first."""
    if not manifest.families:
        return {}
    families = Families(manifest.families, opened.chunks.at(manifest.generation))
    found = {}
    for manual in families.manuals:
        counts = Counter(one.version for one in manual.all_editions())
        found[manual.name] = {version: counts[version] for version in manual.versions}
    return found


def _lease(held: HeldLease) -> dict[str, Any]:
    machine, pid = process_of(held.holder)
    return {
        "name": held.name,
        "machine": machine,
        "pid": pid,
        "since": held.since,
        "expires_at": held.expires_at,
        "alive": not is_dead(held.holder),
    }


def describe_audiences(index: Index) -> list[dict[str, Any]]:
    """Return each audience: its groups, generation, documents, and what it was made from, by name."""
    return [_describe(one, current=index.current()) for one in audiences_of(index.layout.root)]


def _describe(audience: Audience, *, current: int) -> dict[str, Any]:
    layout = IndexLayout(audience.folder)
    number = read_current(audience.folder)
    nodes = load_generation(layout, number).totals().get("nodes", {})
    return {
        "name": audience.name,
        "groups": sorted(audience.groups),
        "generation": number,
        "documents": sum(nodes.get(kind, 0) for kind in (NodeKind.PAGE, NodeKind.PDF_DOC)),
        "made_from": audience.made_from,
        "behind": audience.made_from != current,
        "folder": str(audience.folder),
    }
