"""A document opened: what it is, its outline, what stands around it, what happened to it."""

from dataclasses import dataclass

from indexes.wiring import Readers
from schemas.nodes import Chunk, Page, PdfDoc
from sitegraph.service.problems import HttpProblem
from sitegraph.service.viewer.archive import LedgerArchive
from sitegraph.service.viewer.history import DocumentHistory, read_history
from sitegraph.service.viewer.outline import OutlineEntry, outline_of
from sitegraph.service.viewer.places import document_of, name_of
from sitegraph.service.viewer.relations import Relations, read_relations

HEADINGS_MAX = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedDocument:
    """A document; `node` is None where it is not in the generation that is read, or the graph is not there.

    `relations` are None without the graph, `history` without the ledger. `outline` are `HEADINGS_MAX` of
    `headings` from `offset`.
    """

    id: str
    title: str
    node: Page | PdfDoc | None
    first: Chunk | None
    passages: int
    outline: tuple[OutlineEntry, ...]
    headings: int
    offset: int
    relations: Relations | None
    history: DocumentHistory | None


def open_document(readers: Readers, archive: LedgerArchive, doc: str, *, offset: int) -> OpenedDocument:
    """Return a document, also one that is in the index no more but whose history is known.

    Raises: HttpProblem: nothing is known of it.
    """
    node = document_of(readers, doc)
    chunks = readers.chunks.of_documents([doc])
    history = read_history(readers, archive, doc)
    if node is None and not chunks and not (history and (history.standings or history.revisions)):
        raise HttpProblem(404, f"generation {readers.generation} has no {doc}", "NotFound")
    headings = outline_of(chunks)
    return OpenedDocument(
        id=doc,
        title=name_of(node) if node else doc,
        node=node,
        first=next(iter(chunks), None),
        passages=len(chunks),
        outline=headings[offset : offset + HEADINGS_MAX],
        headings=len(headings),
        offset=offset,
        relations=read_relations(readers, doc, chunks) if node else None,
        history=history,
    )
