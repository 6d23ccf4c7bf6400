"""All checks of one configuration."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

from indexes.layout import IndexLayout, load_manifest
from indexes.places import is_in_bucket, place_of
from indexes.publish.current import read_current
from indexes.publish.generation import load_generation, space_of
from schemas.errors import SitegraphError
from schemas.redaction import REDACTED, one_line
from schemas.settings import Settings
from schemas.source import Source
from sitegraph.actions.needs import CheckResult, CheckState, absent, needs_of
from sitegraph.actions.probes import (
    LEDGER,
    POSTGRESQL,
    check_encoder,
    check_machine,
    check_servers,
    check_sessions,
    read_sources,
)


class _Described(NamedTuple):
    """What an index says of itself; `encoder` is the folder that its readers open."""

    encoder: Path | None = None
    graph: str | None = None
    raw: str | None = None
    sources: tuple[Source, ...] = ()
    findings: tuple[CheckResult, ...] = ()


def check_up(settings: Settings, sources: Sequence[Source]) -> tuple[CheckResult, ...]:
    """Check machine, servers and encoder against settings, environment, index and *sources*."""
    layout = IndexLayout(place_of(settings) if "://" in settings.index else Path(settings.index))
    # os.path, not Path: a folder that may not be entered is a finding, no traceback.
    has_index = _exists(layout)
    described = _describe(layout, settings) if has_index else _Described()
    needs = needs_of(
        settings,
        (*described.sources, *sources),
        has_index=has_index,
        graph=described.graph,
        raw=described.raw,
        environ=os.environ,
    )
    findings = (
        *check_machine(settings, needs),
        check_encoder(settings, described.encoder),
        *check_servers(settings, needs),
        *check_sessions({one.name: one for one in (*described.sources, *sources)}.values()),
        *described.findings,
    )
    return tuple(replace(finding, told=one_line(finding.told)) for finding in _told_once(findings))


def effective_settings(settings: Settings) -> dict[str, str | float | None]:
    """Return every setting by name, from wherever it was read; of a secret, that it is set."""
    shown: dict[str, str | float | None] = {}
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        if isinstance(value, str):
            value = one_line(value) if setting.repr else REDACTED
        shown[setting.name] = value
    return shown


def _exists(layout: IndexLayout) -> bool:
    with suppress(SitegraphError):  # of a bucket: told by those who check it
        return layout.manifest.exists() if is_in_bucket(layout.root) else os.path.exists(layout.manifest)
    return False


def _told_once(findings: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """Leave out that the ledger cannot be read where its server has said why."""
    away = any(one.subject == POSTGRESQL and one.health is not CheckState.OK for one in findings)
    return tuple(one for one in findings if not (away and one.subject == LEDGER))


def _describe(layout: IndexLayout, settings: Settings) -> _Described:
    described = _Described(encoder=layout.encoder)
    try:
        manifest = load_manifest(layout)
        described = described._replace(graph=manifest.graph, raw=manifest.raw)
        current = load_generation(layout, read_current(layout.root)).generation
    except SitegraphError as error:
        remedy = f"sitegraph verify --index {layout.root}"
        return described._replace(findings=(absent("index", str(error), remedy=remedy, needed=True),))
    sources, finding = read_sources(layout, settings.ledger_url)
    # After a change of model, readers use another encoder than the one that the index was made with.
    encoder = layout.root / space_of(layout, manifest, current).encoder
    return described._replace(encoder=encoder, sources=sources, findings=(finding,))
