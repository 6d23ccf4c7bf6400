"""Which passages an entry of a check means: an address, an id, a path, a page of a PDF, or headings."""

from collections.abc import Sequence

from schemas.nodes import Chunk

HEADINGS = " > "


def is_cited(entry: str, chunk: Chunk) -> bool:
    """Whether *chunk* belongs to what *entry* names.

    An entry is the id of a document, section or chunk; a document id, address or path, which mean all of a
    document, with `#fragment` the passages there, and with `#page=3` a page of a PDF; or the last of the
    headings above a passage, `Guide > Leases`.
    """
    if entry in (chunk.id, chunk.doc, chunk.section_id, chunk.region_id):
        return True
    if HEADINGS in entry:
        return _ends_with(chunk, entry)
    name, _, fragment = entry.partition("#")
    if name not in _names(chunk):
        return False
    if fragment.startswith("page="):
        return fragment == f"page={chunk.page_no}"
    return not fragment or fragment in (chunk.fragment, *chunk.fragments)


def may_mean(entry: str, chunk: Chunk) -> bool:
    """Whether *entry* names *chunk* or a place in its document."""
    return is_cited(entry, chunk) or entry.partition("#")[0] in _names(chunk)


def passages_of(entry: str, chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return what *entry* means among *chunks*, which are all of some documents.

    Of a fragment that is all that stands under the same headings: an edit of a neighbour may cut a passage in
    two, and only one of them has the id then.
    """
    exact = {(one.doc, one.section_id, one.heading_path) for one in chunks if is_cited(entry, one)}
    if not entry.partition("#")[2] or "#page=" in entry:
        return tuple(one for one in chunks if is_cited(entry, one))
    return tuple(one for one in chunks if (one.doc, one.section_id, one.heading_path) in exact)


def document_of(entry: str) -> str | None:
    """Return the document, or page of a PDF, that an entry names; None where it names only a part.

    >>> document_of("guide.md#expiry"), document_of("m.pdf#page=3"), document_of("Guide > Leases")
    ('guide.md', 'm.pdf#page=3', None)
    """
    name, _, fragment = entry.partition("#")
    if HEADINGS in entry or name.startswith(("chunk:", "section:", "pdfregion:")):
        return None
    return entry if fragment.startswith("page=") else name


def _names(chunk: Chunk) -> set[str]:
    path = chunk.file_path or ""
    names = {chunk.doc, chunk.doc_id, chunk.url, path, path.rpartition("/")[2], chunk.file_id}
    return {name for name in names if name}


def _ends_with(chunk: Chunk, entry: str) -> bool:
    wanted = [_fold(one) for one in entry.split(HEADINGS)]
    above = [_fold(one) for one in (*chunk.breadcrumbs, *chunk.heading_path)]
    own = [_fold(one) for one in chunk.heading_path]
    return own[-len(wanted) :] == wanted or above[-len(wanted) :] == wanted


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
