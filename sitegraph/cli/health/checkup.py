"""All checks of one configuration."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from indexes.layout import IndexLayout
from indexes.manifest import load_manifest
from indexes.own_ledger import open_own_ledger
from schemas.errors import SitegraphError
from schemas.redaction import one_line
from schemas.settings import Settings
from schemas.source import Source
from sitegraph.cli.health.findings import CheckResult, absent
from sitegraph.cli.health.machine import check_machine
from sitegraph.cli.health.needs import needs_of
from sitegraph.cli.health.servers import check_encoder, check_servers


class _Described(NamedTuple):
    """What an index says of itself; `faults` are what of it could not be read."""

    graph: str | None = None
    raw: str | None = None
    sources: tuple[Source, ...] = ()
    faults: tuple[CheckResult, ...] = ()


def check_up(settings: Settings, sources: Sequence[Source]) -> tuple[CheckResult, ...]:
    """Check machine, servers and encoder against settings, index and *sources*."""
    layout = IndexLayout(Path(settings.index))
    has_index = layout.manifest.exists()
    described = _describe(layout, settings) if has_index else _Described()
    needs = needs_of(
        settings,
        (*described.sources, *sources),
        has_index=has_index,
        graph=described.graph,
        raw=described.raw,
    )
    findings = (
        *check_machine(settings, needs),
        check_encoder(settings, has_index=has_index),
        *check_servers(settings, needs),
        *described.faults,
    )
    return tuple(replace(finding, told=one_line(finding.told)) for finding in findings)


def _describe(layout: IndexLayout, settings: Settings) -> _Described:
    try:
        manifest = load_manifest(layout)
    except SitegraphError as error:
        remedy = f"sitegraph verify --index {layout.root}"
        return _Described(faults=(absent("index", str(error), remedy=remedy, needed=True),))
    try:
        ledger = open_own_ledger(layout, settings.ledger_url, read_only=True)
    except SitegraphError:  # the check of the server says so
        return _Described(graph=manifest.graph, raw=manifest.raw)
    try:
        return _Described(manifest.graph, manifest.raw, tuple(ledger.sources.all().values()))
    finally:
        ledger.close()
