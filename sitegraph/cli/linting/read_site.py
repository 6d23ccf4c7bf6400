"""A generation as the linter sees it, from the ledger, the chunk store and the parsed documents."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flows.run.index import Index
from indexes.ports import ChunkReader
from ingest.link.resolve import redirect_ends, resolve_targets
from ingest.parse.formats.registry import file_suffixes
from ingest.plan.scope import is_inside, seed_urls
from ingest.urls import file_path, is_file_url
from retrieval.lint.site import FaultyLink, LintDocument, LintedSite
from schemas.documents import DocumentState, KnownDocument, LiveDocument
from schemas.edges import LinkPosition
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, DocumentKind, Page, PageKind, is_document
from schemas.records import from_record
from schemas.source import Source
from sitegraph.cli.linting.ids_of_pages import IdsOfPages
from sitegraph.cli.linting.link_faults import Targets, faulty_links, in_known_folder, linked_from

Watch = Callable[[str, Iterable[Any], int], Iterator[Any]]
"""Yields what it is given and shows how far it is: a name, the things, how many there are."""

_PART = 100
_START = frozenset({"index", "readme", "home", "default", "contents", "toc", "_index"})
"""Names of files that readers are sent to without a link."""
_ABSENT = frozenset({DocumentState.MISSING, DocumentState.GONE})


def read_site(
    index: Index, generation: int, *, source: str | None, sources: Mapping[str, Source], watch: Watch
) -> LintedSite:
    """Read all documents of a generation, or of one source, with their passages and faulty links.

    *sources* say what is in scope. Links from and to documents of other sources count for reachability.

    Raises: StoreUnavailable: a store or the ledger is not there.
    """
    everything = index.ledger.generations.live(generation)
    live = {doc: one for doc, one in everything.items() if source in (None, one.source)}
    documents = dict(_documents(index, generation, live, sources))
    texts = index.chunks.at(generation)
    passages = tuple(_passages(texts, tuple(documents), watch))
    faulty: list[FaultyLink] = []
    linked: dict[str, set[LinkPosition]] = {}
    reader = _LinkReader(index, generation, sources)
    for known, fragment in watch("links", _fragments(index, everything), len(everything)):
        targets = reader.targets(fragment, source=known.source)
        if known.doc in documents:
            faulty.extend(faulty_links(fragment, targets))
        for doc, position in linked_from(fragment, targets.docs):
            linked.setdefault(doc, set()).add(position)
    return LintedSite(
        documents=documents,
        passages=passages,
        faulty=tuple(faulty),
        linked_from={doc: frozenset(positions) for doc, positions in sorted(linked.items())},
    )


def _documents(
    index: Index, generation: int, live: Mapping[str, LiveDocument], sources: Mapping[str, Source]
) -> Iterator[tuple[str, LintDocument]]:
    graph = index.graph.at(generation)
    docs = list(live)
    for start in range(0, len(docs), _PART):
        for node in graph.nodes(docs[start : start + _PART]):
            if not is_document(node):
                continue
            known = live[node.id]
            yield (
                node.id,
                LintDocument(
                    doc=node.id,
                    source=known.source,
                    uri=known.uri,
                    title=node.title,
                    kind=node.document_kind if isinstance(node, Page) else DocumentKind.PDF,
                    url=node.url,
                    path=node.path,
                    page_kind=node.page_kind if isinstance(node, Page) else PageKind.CONTENT,
                    version=node.version,
                    start=_is_start(known.uri, sources.get(known.source)),
                ),
            )


def _is_start(uri: str, source: Source | None) -> bool:
    """Whether readers come to a document without a link: a seed, or the index page of a folder."""
    if source is not None and uri in seed_urls(source):
        return True
    name = uri.partition("?")[0].rpartition("/")[2]
    return not name or name.partition(".")[0].casefold() in _START


def _passages(texts: ChunkReader, docs: tuple[str, ...], watch: Watch) -> Iterator[Chunk]:
    parts = [docs[start : start + _PART] for start in range(0, len(docs), _PART)]
    for part in watch("read", parts, len(parts)):
        yield from texts.of_documents(part)


def _fragments(
    index: Index, live: Mapping[str, LiveDocument]
) -> Iterator[tuple[LiveDocument, GraphFragment]]:
    """Yield parsed documents; one that a lost ledger does not know the place of is left out.

    Raises: DamageFound: a parsed document is damaged or lost.
    """
    for known in live.values():
        if known.fragment_sha:
            yield known, from_record(GraphFragment, json.loads(index.fragments.get(known.fragment_sha)))


class _LinkReader:
    """What the index knows of where links lead; asks for the targets of one document at a time."""

    def __init__(self, index: Index, generation: int, sources: Mapping[str, Source]) -> None:
        self._index, self._generation, self._sources = index, generation, sources
        self._redirects = index.ledger.redirects.at(generation)
        self._ends = redirect_ends(self._redirects)
        self._known_paths: dict[str, tuple[str, ...]] = {}
        self._ids = IdsOfPages(index, generation)
        self._suffixes = tuple(file_suffixes())

    def targets(self, fragment: GraphFragment, *, source: str) -> Targets:
        wanted = {link.target for link in fragment.links}
        docs = resolve_targets(
            wanted,
            redirects=self._ends,
            live=lambda some: self._index.ledger.generations.live(self._generation, docs=some),
        )
        known = self._index.ledger.documents.get(source, wanted - docs.keys())
        return Targets(
            docs=docs,
            missing=lambda target: self._why_missing(source, target, known.get(target)),
            moved=self._moved,
            lacks=self._ids.lacks,
            shown=_shown,
        )

    def _why_missing(self, name: str, target: str, known: KnownDocument | None) -> str:
        """Say what is known of an address that no document has; nothing where it was never looked at."""
        source = self._sources.get(name)
        if source is None or not is_inside(source, target):
            return ""
        if known is not None:
            if known.state in _ABSENT or known.http_status in (404, 410):
                return f"which {'is not there' if is_file_url(target) else _answered(known)}"
            return ""
        if not is_file_url(target) or not target.partition("?")[0].endswith(self._suffixes):
            return ""
        surely = in_known_folder(file_path(target), self._paths(name)) and not _lies_there(source, target)
        return "which is not there" if surely else ""

    def _paths(self, source: str) -> tuple[str, ...]:
        """Return the paths of the documents of a source of files."""
        if source not in self._known_paths:
            live = self._index.ledger.generations.live(self._generation, source=source)
            self._known_paths[source] = tuple(file_path(one.uri) for one in live.values())
        return self._known_paths[source]

    def _moved(self, target: str) -> str:
        end = self._ends.get(target)
        return _shown(end) if end is not None else ""


def _lies_there(source: Source, target: str) -> bool:
    """Whether a file is in its folder, though it is no document: too large, or not read yet."""
    return any((Path(root) / file_path(target)).exists() for root in source.roots)


def _answered(known: KnownDocument) -> str:
    return f"answers {known.http_status}" if known.http_status in (404, 410) else "is gone"


def _shown(uri: str) -> str:
    return file_path(uri) if is_file_url(uri) else uri
