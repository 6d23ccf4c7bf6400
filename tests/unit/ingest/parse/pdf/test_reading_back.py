"""Whether the passages of a PDF are printed where their boxes lie."""

from dataclasses import replace

import pytest

from ingest.parse.pdf.document import look_up_texts
from ingest.parse.pdf.page import PageContent
from ingest.parse.round_trip import NOT_FOUND
from schemas.fragment import GraphFragment
from schemas.nodes import BBox, Chunk, PageSize, PdfRegion, RegionType
from tests.fakes.pdfs import Text, heading, new_pdf, parse, pdf_bytes, prose
from tests.fakes.secret_samples import github_token

SIZE = PageSize(612, 792)


def parsed(*texts: str) -> GraphFragment:
    return parse(pdf_bytes([[heading("Lamps"), *map(Text, texts)]]))


def looked_up(fragment: GraphFragment, chunk: Chunk, *printed: tuple[BBox, str]) -> list[bool | None]:
    pages = [PageContent(page_no=1, size=SIZE, printed=printed)]
    return list(look_up_texts(replace(fragment, chunks=(chunk,)), pages))


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_text_of_a_pdf_is_found_in_its_box_whichever_way_the_page_is_turned(rotation: int) -> None:
    document = new_pdf([[heading("Lamps"), Text(prose("lamp"))], [Text(prose("oil"))]])
    document[0].set_rotation(rotation)
    assert [chunk.round_trip for chunk in parse(document.tobytes()).chunks] == [True, True]


def test_text_is_looked_for_in_its_own_box_and_on_its_own_page() -> None:
    fragment = parsed("A lamp gives light.")
    (chunk,) = fragment.chunks
    box = chunk.bbox
    assert box is not None
    line = box, chunk.text
    assert looked_up(fragment, chunk, line) == [True]
    assert looked_up(fragment, replace(chunk, bbox=BBox(0, 700, 500, 780)), line) == [False]
    assert looked_up(fragment, replace(chunk, page_no=2), line) == [False]
    assert looked_up(fragment, chunk, (box, "Oil burns.")) == [False]


def test_spaces_hyphens_and_ligatures_make_no_difference() -> None:
    fragment = parsed("The first lamplight.")
    (chunk,) = fragment.chunks
    box = chunk.bbox
    assert box is not None
    assert looked_up(fragment, chunk, (box, "The \ufb01rst  lamp-"), (box, "light.")) == [True]


def test_what_cannot_be_told_is_not_judged() -> None:
    (secret,) = parsed(f"The token {github_token()} opens the door.").chunks
    assert secret.round_trip is None
    assert secret.structure_confidence > NOT_FOUND
    fragment = parsed("A lamp gives light.")
    recognised = replace(fragment.chunks[0], ocr_conf=0.9)
    assert looked_up(fragment, recognised) == [None]


def test_a_paragraph_is_found_though_lines_of_a_neighbour_stand_between_its_own() -> None:
    fragment = parsed("A lamp gives light. Oil burns in it.")
    (chunk,) = fragment.chunks
    box = chunk.bbox
    assert box is not None
    assert looked_up(
        fragment, chunk, (box, "A lamp gives light."), (box, "Figure"), (box, "Oil burns in it.")
    ) == [True]
    assert looked_up(fragment, chunk, (box, "A lamp gives light."), (box, "Oil")) == [False]


def test_a_table_stored_column_by_column_is_found_and_a_word_said_once_too_often_is_not() -> None:
    fragment = parsed("Lamp")
    (chunk,) = fragment.chunks
    region = next(
        node for node in fragment.nodes if isinstance(node, PdfRegion) and node.id == chunk.region_id
    )
    box = chunk.bbox
    assert box is not None

    def as_table(text: str) -> list[bool | None]:
        table = replace(region, region_type=RegionType.TABLE, text=text)
        nodes = tuple(table if node is region else node for node in fragment.nodes)
        said = replace(chunk, text=text, offsets=(0, len(text)))
        columns = (box, "Lamp"), (box, "Desk"), (box, "Price"), (box, "12")
        return looked_up(replace(fragment, nodes=nodes), said, *columns)

    assert as_table("Lamp\tPrice\nDesk\t12") == [True]
    assert as_table("Lamp\tPrice\nDesk\t12 12") == [False]
    assert as_table("Lamp\tPrice\nWall\t12") == [False]
