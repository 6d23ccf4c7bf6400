"""What a document of a source is cited by."""

from collections.abc import Mapping

from ingest.sources.registry import kind_named
from ingest.urls import file_path, file_url, is_file_url
from schemas.source import Source
from schemas.source_kinds import Identity


def identify(source: Source, uri: str, etag: str | None) -> Identity:
    """Return address and path that readers cite the document *uri* by; *etag* is that of its bytes."""
    own = kind_named(source.kind).identify
    return own(source, uri, etag) if own is not None else by_uri(uri)


def citing(source: Source) -> Mapping[str, str | None]:
    """Say how a source's kind cites documents, where the source file has a say in it."""
    if kind_named(source.kind).identify is None:
        return {}
    identity = identify(source, file_url(source.name, "path"), "content version")
    return {"cited_url": identity.url, "cited_path": identity.path, "cited_line": identity.line}


def by_uri(uri: str) -> Identity:
    """Cite a document by its path where its URI is `files://source/path`, else by its URI."""
    return Identity(path=file_path(uri)) if is_file_url(uri) else Identity(url=uri)
