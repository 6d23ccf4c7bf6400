"""Search results and items in the form that ChatGPT's connectors ask of an MCP server.

Source: OpenAI, "Building MCP servers for ChatGPT and API integrations": `search` gives id, title and url of
each result, `fetch` these, the text, and metadata. What has no address of its own gets the URI of its
resource: a result with an empty `url` is not cited.
"""

import re
from collections.abc import Iterator
from typing import Any

from indexes.wiring import Readers
from retrieval.bundle.build import locate_in_pdf
from retrieval.bundle.render import cite_line, mark_parts, show_line, split_passage
from schemas.evidence import ContextBundle, Evidence, PdfLocation
from schemas.nodes import Chunk
from schemas.records import node_to_record
from sitegraph.service.answers import chunk_of_generation, find_document

TITLE_MAX = 200
TEXT_MAX = 40_000
"""Code points of the text of a document; about 10,000 tokens."""
PASSAGE_MAX = 8_000
"""Code points of a passage and what stands around it, without marks and headings; about 2,000 tokens. A
definition list of hundreds of entries is one section: who asks for one of them wants that and its neighbours.
"""
_CUT = "\N{HORIZONTAL ELLIPSIS}"
_WORD_MAX = 100
"""Code points in which a cut text is to come to the end of a word; some scripts have no spaces."""


def resource_uri(chunk_id: str) -> str:
    """Return the URI by which a chunk is read and subscribed to (`chunk:abc` > `sitegraph://chunk/abc`)."""
    return f"sitegraph://chunk/{chunk_id.removeprefix('chunk:')}"


def list_results(bundle: ContextBundle) -> dict[str, Any]:
    """Return what a search found, best first, each chunk once."""
    first = {one.chunk_id: one for one in reversed(bundle.evidence)}
    ranked = sorted(first.values(), key=bundle.evidence.index)
    return {
        "results": [
            {"id": one.chunk_id, "title": _title(one, one.pdf), "url": _url(one, one.pdf, one.chunk_id)}
            for one in ranked
        ]
    }


def describe_item(readers: Readers, id_: str) -> dict[str, Any]:
    """Return a chunk in its section, the passage between » and «, or a document in reading order.

    Raises: HttpProblem: there is none; StoreUnavailable: a document is asked for, and the graph is not there.
    """
    return _item_of_chunk(readers, id_) if id_.startswith("chunk:") else _item_of_document(readers, id_)


def _item_of_chunk(readers: Readers, id_: str) -> dict[str, Any]:
    chunk = chunk_of_generation(readers, id_)
    pdf = locate_in_pdf(chunk)
    text, is_cut = read_in_place(readers, chunk)
    return {
        "id": chunk.id,
        "title": _title(chunk, pdf),
        "text": text,
        "url": _url(chunk, pdf, chunk.id),
        "metadata": _metadata(
            readers,
            source=chunk.source,
            kind=chunk.kind,
            document=chunk.doc,
            document_id=chunk.doc_id,
            citation=cite_line(chunk, pdf),
            heading_path=" > ".join(chunk.heading_path),
            page=pdf.page if pdf else None,
            last_modified=chunk.last_modified,
            stale=chunk.stale or None,
            resource=resource_uri(chunk.id),
            truncated=is_cut or None,
        ),
    }


def read_in_place(readers: Readers, chunk: Chunk) -> tuple[str, bool]:
    """Return a chunk under its headings with what its section says around it; whether the section was cut."""
    parts = split_passage(readers.graph, chunk)
    kept = cut_around(*parts, limit=max(PASSAGE_MAX, len(parts[1])))
    before = kept[0] if kept[0] == parts[0] else _from_whole_word(kept[0])
    after = kept[2] if kept[2] == parts[2] else _to_whole_word(kept[2])
    text = mark_parts(before, kept[1], after)
    return "\n\n".join(filter(None, (show_line(" > ".join(chunk.heading_path)), text))), kept != parts


def _from_whole_word(text: str) -> str:
    begun = re.search(r"\s", text[:_WORD_MAX])
    return f"{_CUT} {text[begun.end() :] if begun else text}"


def _to_whole_word(text: str) -> str:
    ended = re.search(r"\s\S*$", text[-_WORD_MAX:])
    return f"{text[: len(text) - len(ended[0])] if ended else text} {_CUT}"


def _item_of_document(readers: Readers, id_: str) -> dict[str, Any]:
    document = node_to_record(find_document(readers, id_))
    chunks = readers.chunks.of_documents([id_])
    shown = tuple(_within(chunks, limit=TEXT_MAX))
    place = document.get("url") or document.get("path") or ""
    left = chunks[len(shown)].id if len(shown) < len(chunks) else None
    return {
        "id": id_,
        "title": show_line(document["title"])[:TITLE_MAX] or place or id_,
        "text": "\n\n".join(chunk.text for chunk in shown)[:TEXT_MAX],
        "url": document.get("url") or f"sitegraph://document/{id_}",
        "metadata": _metadata(
            readers,
            source=document["source"],
            kind=document["kind"],
            document=id_,
            document_id=document.get("doc_id"),
            citation=place,
            last_modified=document.get("last_modified"),
            stale=document.get("stale") or None,
            chunks=len(chunks),
            truncated=left is not None or None,
            next_chunk=left,
        ),
    }


def _within(chunks: tuple[Chunk, ...], *, limit: int) -> Iterator[Chunk]:
    """The first chunks that *limit* code points have room for, at least one."""
    room = limit
    for number, chunk in enumerate(chunks):
        room -= len(chunk.text) + 2
        if room < 0 and number:
            return
        yield chunk


def _metadata(readers: Readers, **values: object) -> dict[str, str]:
    """Texts by name, the generation among them; what is not known is left out."""
    given = {"generation": readers.generation, **values}
    return {name: _text(value) for name, value in given.items() if value not in (None, "")}


def _text(value: object) -> str:
    return "true" if value is True else show_line(str(value))


def cut_around(before: str, passage: str, after: str, *, limit: int) -> tuple[str, str, str]:
    """Return the three with at most *limit* code points in all: first the passage, then what is next to it.

    Both sides have equal room; what one does not need the other gets.
    """
    room = max(0, limit - len(passage))
    ahead = min(len(before), max(room // 2, room - len(after)))
    return before[len(before) - ahead :], passage[:limit], after[: room - ahead]


def _title(cited: Evidence | Chunk, pdf: PdfLocation | None) -> str:
    trail = " > ".join(cited.heading_path or cited.breadcrumbs)
    return show_line(trail)[:TITLE_MAX] or show_line(cite_line(cited, pdf))[:TITLE_MAX]


def _url(cited: Evidence | Chunk, pdf: PdfLocation | None, chunk_id: str) -> str:
    """Where a browser opens the passage; of a PDF its page (RFC 8118, 3)."""
    if cited.url is None:
        return resource_uri(chunk_id)
    return f"{cited.url}#page={pdf.page}" if pdf else cite_line(cited, None)
