"""What a run would do, from the source file and the ledger alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.source_file import load_source
from flows.wiring import find_model, open_index, pipeline_version
from indexes.layout import IndexLayout
from ingest.plan.preview import PlannedAction, plan_actions
from ingest.plan.scope import seed_urls
from schemas.documents import KnownDocument
from schemas.records import to_record
from schemas.settings import Settings
from schemas.source import Source, SourceKind


def plan_run(path: Path, settings: Settings, *, due: bool) -> dict[str, Any]:
    """Give the actions a run would begin with and their counts; links may lead it to more documents."""
    source = load_source(path)
    known, due_by = _known(source, settings, due=due)
    version = pipeline_version(find_model(settings), source)
    actions = plan_actions(source, known, _starts(source), pipeline_version=version, due_by=due_by)
    return {
        "source": source.name,
        "counts": dict(sorted(Counter(action.action.value for action in actions).items())),
        "documents": [_record(action) for action in actions],
    }


def _known(source: Source, settings: Settings, *, due: bool) -> tuple[Sequence[KnownDocument], str | None]:
    if not IndexLayout(Path(settings.index)).manifest.exists():
        return (), None
    index = open_index(settings)
    try:
        return index.ledger.documents.of_source(source.name), index.now() if due else None
    finally:
        index.close()


def _starts(source: Source) -> Iterable[str]:
    if source.kind is SourceKind.WEB:
        return seed_urls(source)
    from flows.steps.plan import file_uris

    return file_uris(source)


def _record(action: PlannedAction) -> Mapping[str, Any]:
    record = to_record(action)
    return {"url": record.pop("uri"), **record}
