"""The files of tools of a run, as documents of the next generation, and what they are called there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flows.run.contexts import IndexContext, load_fragment
from flows.run.generations import changes_model
from flows.run.index import Index, unrelated_in
from indexes.embed.pending import encode_missing
from indexes.embed.unrelated import least_cosine
from ingest.link.explained_by import documents_naming
from ingest.link.tool_names import ToolNames, tool_names
from ingest.parse.tools.file import tools_fragment
from ingest.urls import is_tools_url
from runtime.source_file import tools_documents, tools_record
from schemas.changes import DocumentChange
from schemas.documents import LiveDocument
from schemas.edges import Edge, EdgeKind
from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, Node, Tool
from schemas.text import encoded_text


def keep_tools(index: Index, fragments: Sequence[GraphFragment]) -> tuple[LiveDocument, ...]:
    """Keep what files of tools say, as parsed documents are kept; give them as documents."""
    for fragment in fragments:
        index.fragments.put(tools_record(fragment))
    return tools_documents(fragments)


def restore_tools(index: Index, nodes: Iterable[Node]) -> tuple[LiveDocument, ...]:
    """Make the files of tools again from their nodes, for a ledger that was lost; give them as documents."""
    files: dict[str, list[Tool]] = {}
    for tool in _tools(nodes):
        files.setdefault(tool.doc, []).append(tool)
    return keep_tools(index, [tools_fragment(tools) for _, tools in sorted(files.items())])


AGREEING = 0.55
"""Least cosine of a description and a passage that says the same. Of passages that name a git command, .42 of
those on its own page and .08 of the others reach it (MiniLM; summaries of `git help -a`).
"""


@dataclass(frozen=True, kw_only=True)
class NextTools:
    """The tools that the next generation will hold, and what they matter to."""

    run: IndexContext
    base: int
    changes: Mapping[str, DocumentChange]
    _names: dict[str, ToolNames] = field(default_factory=dict)

    def names(self, source: str) -> ToolNames:
        """What the tools of a source will be called: only its own documents explain them."""
        if source not in self._names:
            self._names[source] = tool_names(self._of_source(source))
        return self._names[source]

    def agree(self, pairs: Sequence[tuple[Tool, Chunk]]) -> list[bool]:
        """Whether the vectors of each tool's description and of the passage are near each other."""
        texts = {(tool.id, chunk.id): (tool.description, _text(chunk)) for tool, chunk in pairs}
        wanted = {text for both in texts.values() for text in both}
        encode_missing(
            wanted,
            cache=self.run.vectors(),
            encoder=self.run.encoder(),
            on_progress=lambda _done, _total: None,
            should_stop=self.run.stop.is_set,
            with_tokens=self.run.model.token_vectors,
        )
        found = self.run.vectors().get(wanted)
        cosines = (found[description] @ found[text] for description, text in texts.values())
        least = least_cosine(AGREEING, unrelated_in(self.run.index, self.run.model))
        return [round(float(cosine), 4) >= least for cosine in cosines]

    def give_names(self, chunks: Sequence[Chunk], edges: Iterable[Edge]) -> list[Chunk]:
        """Return the passages with the names of the tools that they explain, as far as *edges* say."""
        found: dict[str, set[str]] = {}
        by_id = {tool.id: tool.name for names in self._names.values() for tool in names.tools}
        for edge in edges:
            if edge.kind is EdgeKind.EXPLAINED_BY and edge.chunk is not None:
                found.setdefault(edge.chunk, set()).add(by_id[edge.src])
        return [
            replace(chunk, tool_names=tuple(sorted(found[chunk.id]))) if chunk.id in found else chunk
            for chunk in chunks
        ]

    def touched(self) -> frozenset[str]:
        """Documents of the base that explained, or may explain, a tool that comes, goes or changes.

        With another model they are all that explain one: its vectors say whether description and text agree.
        """
        index = self.run.index
        chunks, graph = index.chunks.at(self.base), index.graph.at(self.base)
        found: set[str] = set()
        if changes_model(self.run):
            found |= {edge.doc for edge in graph.scan_edges(kinds=[EdgeKind.EXPLAINED_BY])}
        for change in self._changed():
            before = self._before([change.doc])
            if differing := before ^ self._after(change):
                found |= documents_naming(differing, chunks.scan(source=change.source))
                leaving = [tool.id for tool in before & differing]
                found |= {edge.doc for edge in graph.edges_from(leaving, kinds=[EdgeKind.EXPLAINED_BY])}
        return frozenset(found)

    def _changed(self) -> Iterable[DocumentChange]:
        return (change for _, change in sorted(self.changes.items()) if is_tools_url(change.uri))

    def _of_source(self, source: str) -> Iterable[Tool]:
        held = self.run.index.ledger.generations.tools(self.base, source=source)
        kept = self._before(held.keys() - self.changes.keys())
        return kept.union(*(self._after(change) for change in self._changed() if change.source == source))

    def _before(self, docs: Iterable[str]) -> frozenset[Tool]:
        return _tools(self.run.index.graph.at(self.base).nodes_of(sorted(docs)))

    def _after(self, change: DocumentChange) -> frozenset[Tool]:
        if change.new is None:
            return frozenset()
        return _tools(load_fragment(self.run.index, change.new.fragment_sha).nodes)


def _tools(nodes: Iterable[Node]) -> frozenset[Tool]:
    return frozenset(node for node in nodes if isinstance(node, Tool))


def _text(chunk: Chunk) -> str:
    return encoded_text(chunk.heading_path, chunk.text)
