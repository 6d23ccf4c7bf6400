"""A citation opens the page at the passage, by an id or by words."""

import pytest

from retrieval.bundle.build import cite, evidence_of
from retrieval.bundle.render import cite_line
from schemas.evidence import Derivation, Origin, Scores
from schemas.nodes import Chunk


def chunk_at(fragment: str | None, text_fragment: str | None) -> Chunk:
    return Chunk(
        id="chunk:a",
        kind="html",
        source="docs",
        doc="page:a",
        text="The pump stands below deck.",
        content_hash="",
        ordinal=0,
        offsets=(0, 27),
        token_count=5,
        url="http://docs.example/a",
        fragment=fragment,
        text_fragment=text_fragment,
    )


@pytest.mark.parametrize(
    ("fragment", "text_fragment", "line"),
    [
        (None, None, "http://docs.example/a"),
        ("pump", None, "http://docs.example/a#pump"),
        (None, ":~:text=The%20pump", "http://docs.example/a#:~:text=The%20pump"),
        ("pump", ":~:text=The%20pump", "http://docs.example/a#pump:~:text=The%20pump"),
    ],
)
def test_evidence_citation_and_chunk_name_the_same_place(
    fragment: str | None, text_fragment: str | None, line: str
) -> None:
    chunk = chunk_at(fragment, text_fragment)
    evidence = evidence_of(
        chunk,
        "S1",
        text=chunk.text,
        offsets=chunk.offsets,
        score=1.0,
        scores=Scores(),
        source=Origin.VECTOR,
        derivation=Derivation.STATED,
        role="anchor",
        path=(),
    )
    assert cite_line(chunk, None) == cite_line(evidence, None) == cite_line(cite(evidence), None) == line
