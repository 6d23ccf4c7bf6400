"""Links in a folder that give a page another file name than it has, as a server of that folder would."""

from pathlib import Path

from schemas.edges import EdgeKind
from tests.fakes.written_index import WrittenIndex, content_of, note, open_written_index

START = note("Start", "Read the [guide](guide.htm), [again](guide), and [the tour](tour/#sights).")
GUIDE, TOUR = note("Guide", "Turn left at the mill."), note("Tour", "The mill stands by the river.")


def links(index: WrittenIndex) -> dict[str, str]:
    paths = {live.doc: path for (_, path), live in index.notes.items()}
    return {edge.anchor_text or "": paths[edge.dst] for edge in index.edges(EdgeKind.LINKS_TO)}


def test_a_link_leads_to_the_file_that_it_names_otherwise(tmp_path: Path) -> None:
    notes: dict[str, str | None] = {"start.md": START, "guide.md": GUIDE, "tour/index.md": TOUR}
    with open_written_index(tmp_path / "index") as index:
        index.publish(notes)
        assert links(index) == {"guide": "guide.md", "again": "guide.md", "the tour": "tour/index.md"}


def test_a_file_that_comes_is_linked_at_once_and_one_that_goes_no_more(tmp_path: Path) -> None:
    with open_written_index(tmp_path / "index") as index, open_written_index(tmp_path / "clean") as clean:
        index.publish({"start.md": START})
        assert links(index) == {}
        index.publish({"guide.md": GUIDE, "tour/index.md": TOUR})
        assert links(index) == {"guide": "guide.md", "again": "guide.md", "the tour": "tour/index.md"}
        clean.publish({"start.md": START, "guide.md": GUIDE, "tour/index.md": TOUR})
        assert content_of(index) == content_of(clean)
        index.publish({"tour/index.md": None})
        assert links(index) == {"guide": "guide.md", "again": "guide.md"}
