"""An index of Markdown notes made by the steps of a run, without crawl, flow and model: stores in memory."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from flows.commit.publish import prune_generations, publish_generation
from flows.commit.write import verify_generation, write_plan
from flows.derive.freeze import freeze_rows, plan_rows
from flows.derive.link import NextGeneration
from flows.run.values import Difference
from indexes.embed.cache import SqliteVectorCache
from ingest.link.naming import stated_names
from ingest.parse.document import parse_document
from ingest.urls import file_url
from runtime.parser_pool import ParserPool
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import LiveDocument
from schemas.edges import Edge, EdgeKind
from schemas.fragment import GraphFragment, ParseRequest
from schemas.ids import canonical_json
from schemas.nodes import Chunk, Node
from schemas.records import to_record
from schemas.source import Source
from tests.fakes.encoder import HashEncoder
from tests.fakes.memory_stores import MemoryGraphStore
from tests.fakes.memory_tables import MemoryTables
from tests.fakes.plain_run import PlainRun, open_encoding, open_plain_run


@dataclass
class WrittenIndex:
    """Generations of notes by path, each published through the real plan and both stores."""

    plain: PlainRun
    notes: dict[tuple[str, str], LiveDocument] = field(default_factory=dict)
    linked: tuple[str, ...] = ()

    def publish(self, notes: Mapping[str, str | None], *, source: str = "notes") -> None:
        """Write, change or (None) remove notes of a source, as one generation."""
        self.plain.source = Source(name=source, kind="files", relations=("implements",))
        changes = tuple(self._change(source, path, text) for path, text in sorted(notes.items()))
        difference = Difference(base=self.plain.index.current(), changes=changes, documents={})
        self._write(difference)

    def drop(self, source: str) -> None:
        """Remove every note of a source."""
        self.publish({path: None for owner, path in list(self.notes) if owner == source}, source=source)

    @property
    def nodes(self) -> list[Node]:
        """All nodes, in id order."""
        return list(self.plain.index.graph.at(self.plain.index.current()).scan_nodes())

    @property
    def chunks(self) -> list[Chunk]:
        """All chunks, in id order, without what was observed."""
        return list(self.plain.index.chunks.at(self.plain.index.current()).scan())

    def edges(self, *kinds: EdgeKind) -> list[Edge]:
        """All edges, or those of some kinds, in id order."""
        found = self.plain.index.graph.at(self.plain.index.current()).scan_edges()
        return [edge for edge in found if not kinds or edge.kind in kinds]

    @cached_property
    def _lease(self) -> Any:
        lease = self.plain.index.ledger.leases.acquire(
            "index", holder="test", now="2026-01-01T00:00:00", expires_at="2099-01-01T00:00:00"
        )
        assert lease is not None
        return lease

    def _change(self, source: str, path: str, text: str | None) -> DocumentChange:
        old = self.notes.get((source, path))
        if text is None:
            del self.notes[source, path]
            return DocumentChange(kind=ChangeKind.REMOVED, old=old, new=None)
        new = self.notes[source, path] = self._keep(source, path, text)
        return DocumentChange(kind=ChangeKind.CHANGED if old else ChangeKind.ADDED, old=old, new=new)

    def _keep(self, source: str, path: str, text: str) -> LiveDocument:
        fragment = parse_note(text, source=source, path=path)
        index = self.plain.index
        sha = index.fragments.put(canonical_json(to_record(fragment)).encode())
        index.ledger.links.save([(sha, fragment)])
        index.ledger.names.save([(sha, stated_names(fragment))])
        return LiveDocument(
            doc=fragment.doc,
            source=source,
            uri=fragment.uri,
            fragment_sha=sha,
            content_hash=fragment.content_hash,
            doc_id=fragment.doc_id,
        )

    def _write(self, difference: Difference) -> None:
        plain, as_of = self.plain, "2026-03-01T12:00:00+00:00"
        changes = {change.doc: change for change in difference.changes}
        self.linked = NextGeneration(
            run=plain.indexing, base=difference.base, changes=changes, as_of=as_of
        ).affected()
        planned = plan_rows(plain.indexing, difference, as_of=as_of)
        generation = freeze_rows(
            plain.indexing, difference, planned, lease=self._lease, as_of=as_of, embedded=planned.texts
        )
        staged = write_plan(plain.indexing, generation, lease=self._lease)
        verify_generation(plain.indexing, generation, staged)
        publish_generation(plain.indexing, generation, staged, lease=self._lease)
        prune_generations(plain.index, source=plain.source.name)


@contextmanager
def open_written_index(folder: Path) -> Iterator[WrittenIndex]:
    """An empty index in *folder*."""
    source = Source(name="notes", kind="files")
    with open_plain_run(folder, source, parsers=cast("ParserPool", object())) as plain:
        encoder = HashEncoder(plain.index.manifest.model.dim)
        cache = SqliteVectorCache(folder / "vectors.sqlite", model_key="hash")
        encoding = open_encoding(cache, encoder)
        plain.give(encoder=encoder, vectors=cache, encoding=encoding)
        tables = MemoryTables(plain.index.manifest.model)
        plain.index.opened_chunks, plain.index.opened_graph = tables, MemoryGraphStore()
        yield WrittenIndex(plain)
        encoding.close()
        cache.close()


def parse_note(text: str, *, source: str = "notes", path: str = "note.md") -> GraphFragment:
    """Parse a Markdown note."""
    request = ParseRequest(uri=file_url(source, path), source=source, path=path, relations=("implements",))
    return parse_document(text.encode(), request, count_tokens=lambda words: len(words.split()))


def note(title: str, text: str, **front_matter: Any) -> str:
    """Write a note with front matter."""
    stated = "".join(f"{key}: {json.dumps(value)}\n" for key, value in front_matter.items())
    return f"---\ntitle: {json.dumps(title)}\n{stated}---\n# {title}\n\n{text}\n"


def content_of(index: WrittenIndex) -> dict[str, list[dict[str, Any]]]:
    """Everything an index holds, as records."""
    return {
        "nodes": [to_record(node) for node in index.nodes],
        "edges": [to_record(edge) for edge in index.edges()],
        "chunks": [{**to_record(chunk), "changed_at": None} for chunk in index.chunks],
    }
