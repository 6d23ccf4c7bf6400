"""What a framework's document says of a piece of evidence: its citation as plain values."""

from typing import Any

from retrieval.bundle.render import cite_line
from schemas.evidence import Evidence


def evidence_metadata(found: Evidence, *, generation: int) -> dict[str, Any]:
    """Return the metadata of a piece of evidence: JSON values alone, without what it does not have.

    `citation` opens at the passage, where it is a URL; `page` counts from 1, `bbox` is x0, y0, x1, y1 in
    points from the top left of the page. `version` is that of a manual with several.
    """
    located = found.pdf
    box = located.bbox if located else None
    named = {
        "chunk_id": found.chunk_id,
        "label": found.S,
        "citation": cite_line(found, located),
        "document": found.doc,
        "document_id": found.doc_id,
        "kind": found.kind,
        "url": found.url,
        "fragment": found.fragment,
        "text_fragment": found.text_fragment,
        "file_path": found.file_path,
        "heading_path": list(found.heading_path),
        "page": located.page if located else None,
        "bbox": [box.x0, box.y0, box.x1, box.y1] if box else None,
        "score": found.score,
        "source": found.source.value,
        "last_modified": found.last_modified,
        "stale": found.stale,
        "version": found.versions.version if found.versions else None,
        "generation": generation,
    }
    return {name: value for name, value in named.items() if value is not None}
