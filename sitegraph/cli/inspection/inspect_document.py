"""Look at what the parser makes of one document, without an index and without writing to one."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from flows.run.index import model_of, open_index
from flows.run.models import find_model
from indexes.layout import IndexLayout
from indexes.places import place_of
from ingest.parse.inspection import Inspection
from runtime.processes.parser_pool import ParserPool
from schemas.cleaning import Cleaning
from schemas.records import from_record
from schemas.settings import Settings
from sitegraph.cli.inspection.building import build_report
from sitegraph.cli.inspection.loading import load_document
from sitegraph.cli.inspection.report import Report

if TYPE_CHECKING:
    from ingest.parse.pdf.picture import PagePicture


def inspect_target(
    target: str,
    settings: Settings,
    *,
    allow_private: Sequence[str] = (),
    draw: bool = False,
    cleaning: Cleaning | None = None,
) -> tuple[Report, "tuple[PagePicture, ...]"]:
    """Fetch or read *target*, parse it in a child under limits, and report; *draw*: with a PDF's pages.

    *cleaning*: as a source cleans its pages.

    Raises: ConfigError: no such file, address or model; GuardRefused: the URL is unavailable; ParseError,
    UnsupportedMedia: it cannot be parsed; SchemaMismatch: the index was made with another model.
    """
    document = load_document(target, user_agent=settings.user_agent, allow_private=allow_private)
    with ParserPool(workers=1, tokenizer=_tokenizer(settings)) as pool:
        record = pool.inspect(document.data, replace(document.request, cleaning=cleaning), draw=draw)
    inspection = from_record(Inspection, json.loads(record))
    report = build_report(inspection, address=document.address, notes=document.notes)
    return report, inspection.pictures


def _tokenizer(settings: Settings) -> Path:
    """That of the index where there is one, since its chunks are counted with it; it is only looked at."""
    if IndexLayout(place_of(settings)).manifest.exists():
        return model_of(open_index(settings)).path / "tokenizer.json"
    return find_model(settings).path / "tokenizer.json"
