"""Whether the ledger of an index is there and can be read."""

import shlex
from contextlib import closing

from indexes.copies.marker import read_marker
from indexes.layout import COPY, IndexLayout
from indexes.own_ledger import open_own_ledger
from schemas.errors import ConfigError, DamageFound, SchemaMismatch, SitegraphError
from schemas.source import Source
from sitegraph.cli.health.findings import CheckResult, absent, found

LEDGER = "ledger"


def read_sources(layout: IndexLayout, url: str | None) -> tuple[tuple[Source, ...], CheckResult]:
    """Return the sources that the ledger of an index knows, and how it is; nothing is written.

    *url* is the setting's.
    """
    try:
        if url is None and not layout.ledger.exists() and (marker := read_marker(layout.root)) is not None:
            return (), found(LEDGER, f"not needed: the index is a copy of {marker.url}")
        with closing(open_own_ledger(layout, url, read_only=True)) as ledger:
            sources = tuple(ledger.sources.all().values())
    except SitegraphError as error:
        return (), absent(LEDGER, str(error), remedy=_remedy(error, layout, url), needed=True)
    return sources, found(LEDGER, f"knows {len(sources)} source{'s' * (len(sources) != 1)}")


def _remedy(error: SitegraphError, layout: IndexLayout, url: str | None) -> str:
    if (layout.root / COPY).exists():  # which a run refuses
        return _remedy_of_copy(error, layout, url)
    folder = shlex.quote(str(layout.root))
    run = f"sitegraph run SOURCE.yaml --index {folder}"
    if isinstance(error, SchemaMismatch):
        return "sitegraph run SOURCE.yaml --index NEW_FOLDER"
    if isinstance(error, ConfigError):
        return "unset SITEGRAPH_LEDGER_URL, or name this index's own" if url else "set SITEGRAPH_LEDGER_URL"
    if isinstance(error, DamageFound):
        return f"sitegraph repair --index {folder}"
    if layout.ledger.exists() and not url:
        return f"chown $(id -un) {shlex.quote(str(layout.ledger))}"
    return run


def _remedy_of_copy(error: SitegraphError, layout: IndexLayout, url: str | None) -> str:
    if url is None:
        return f"sitegraph pull ADDRESS --to {shlex.quote(str(layout.root))}"
    if isinstance(error, ConfigError):
        return "unset SITEGRAPH_LEDGER_URL, or name that of the index that was copied"
    return "unset SITEGRAPH_LEDGER_URL, which a copy does not need, or check its server"
