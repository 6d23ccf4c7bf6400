"""Two rooms must agree on what the encoder reads, and may not import each other."""

from hypothesis import given
from hypothesis import strategies as st

from indexes.embed.texts import text_input
from ingest.parse.chunking import HEADING_WEIGHT, encoded_text
from schemas.nodes import Chunk, DocumentKind

# A sign weighs 4 at most, and a heading 4 beside its signs: paths up to here are never cut when chunking.
_HEADINGS = st.lists(st.text(max_size=HEADING_WEIGHT // 20), max_size=3)


@given(_HEADINGS, st.text(min_size=1, max_size=50))
def test_a_chunk_is_encoded_as_the_chunker_measured_it(headings: list[str], text: str) -> None:
    chunk = Chunk(
        id="chunk:1",
        kind=DocumentKind.HTML,
        source="docs",
        doc="page:1",
        text=text,
        content_hash="",
        ordinal=0,
        offsets=(0, len(text)),
        token_count=1,
        heading_path=tuple(headings),
    )

    assert text_input(chunk) == encoded_text(tuple(headings), text)
