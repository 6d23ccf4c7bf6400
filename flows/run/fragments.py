"""Parsed documents, as the store of fragments holds them."""

import json

from flows.run.contexts import CrawlContext
from flows.run.index import Index
from ingest.parse.formats.registry import document_versions
from schemas.documents import KnownDocument
from schemas.errors import DamageFound
from schemas.fragment import GraphFragment
from schemas.hashing import record_sha256
from schemas.records import from_record


def is_parsed(run: CrawlContext, known: KnownDocument) -> bool:
    """Whether the bytes last fetched of a document have been parsed, as this run would, and that is kept."""
    versions = document_versions(run.pipeline_version)
    fresh = known.parsed_sha == known.raw_sha and known.pipeline_version in versions
    kept = known.fragment_sha is not None and run.index.fragments.has(known.fragment_sha)
    return fresh and kept


def load_fragment(index: Index, sha256: str) -> GraphFragment:
    """Read a parsed document back by hash."""
    return from_record(GraphFragment, json.loads(index.fragments.get(sha256)))


def said_in(index: Index, sha256: str) -> str | None:
    """Hash the text of a parsed document, without where its links lead; None where none is there or kept."""
    try:
        chunks = load_fragment(index, sha256).chunks if sha256 else ()
    except DamageFound:
        return None
    return record_sha256([chunk.content_hash for chunk in chunks]) if chunks else None
