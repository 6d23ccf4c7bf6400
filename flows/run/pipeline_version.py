"""What a parsed document depends on besides its bytes."""

from dataclasses import replace

from indexes.embed.weights import ModelSpec
from ingest.sources.identity import citing
from runtime.processes.tesseract import engine
from schemas.hashing import record_sha256
from schemas.records import to_record
from schemas.source import Source


def pipeline_version(model: ModelSpec, source: Source) -> str:
    """Name everything a fragment, or what its links lead to, depends on besides the bytes."""
    from ingest.parse.document import PARSER_VERSION

    parts = {"parser": PARSER_VERSION, "tokenizer": model.sha256, "name": source.name, "seeds": source.seeds}
    settings = {"metadata": to_record(source.metadata), "scope": to_record(source.scope)}
    # Pages may address us by name; and bytes that were not kept, or may no longer be, are fetched again.
    more = {"user_agent": source.user_agent, "keep_raw": source.keep_raw}
    # A page that could not be recognised may be once Tesseract is installed.
    recognised = {"ocr": [*source.ocr, engine()]} if source.ocr else {}
    spoken = {"language": source.language} if source.language else {}
    related = {"relations": source.relations} if source.relations else {}
    cleaned = {"cleaning": source.cleaning.version} if source.cleaning else {}
    # What an earlier version read of front matter did not have its groups.
    shown = {"access": 1} if source.access.is_stated else {}
    cited = citing(source)
    # What the manual is called is in no document.
    dated = {"version": to_record(replace(source.family, name=""))} if source.family else {}
    return record_sha256(
        {**parts, **settings, **more, **recognised, **spoken, **related, **cleaned, **shown, **cited, **dated}
    )[:16]
