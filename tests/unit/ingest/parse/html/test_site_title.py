"""The name of a site over the title of each of its pages."""

import gzip
import tarfile

import pytest

from ingest.parse.html.reading import find_site_title, without_site_title
from ingest.parse.outline import Block, Heading
from schemas.fragment import GraphFragment
from tests.fakes.pages import parse_page
from tests.fakes.real_sites import DATA

SITE = Heading(text="Tides v20 documentation", level=1, fragment="top", aliases=("start",))
PAGE = Heading(text="Ebb", level=2, fragment="ebb")
BELOW = Heading(text="Spring tides", level=3)
TEXT = Block(text="Water runs off.")


def test_the_page_s_own_heading_takes_the_place_of_the_site_s_name() -> None:
    parts = without_site_title([SITE, PAGE, TEXT, BELOW], "Ebb | Tides v20 Documentation")
    title = Heading(text="Ebb", level=1, fragment="ebb", aliases=("top", "start"))
    assert parts == [title, TEXT, BELOW]


@pytest.mark.parametrize(
    "stated",
    [
        "Ebb",
        "",
        "Tides v20 documentation",
        "Tides v20 documentation | Ebb",
        "Flood | Tides v20 documentation",
        "Ebb | Tides v21 documentation",
        "Ebb-Tides v20 documentation",
    ],
)
def test_headings_stay_where_the_title_element_does_not_name_both(stated: str) -> None:
    assert find_site_title([SITE, PAGE, TEXT], stated) is None
    assert without_site_title([SITE, PAGE, TEXT], stated) == [SITE, PAGE, TEXT]


@pytest.mark.parametrize("parts", [[], [TEXT], [SITE, TEXT], [PAGE, SITE]])
def test_a_page_without_a_second_heading_below_an_h1_keeps_what_it_has(parts: list[Heading | Block]) -> None:
    assert without_site_title(parts, "Ebb | Tides v20 documentation") == parts


@pytest.mark.parametrize("frame", ["header", "div"])
def test_a_release_of_the_manual_changes_no_passage(frame: str) -> None:
    def read(release: str) -> GraphFragment:
        return parse_page(
            f"<head><title>Ebb — Tides {release}</title></head><body><{frame}><h1>Tides {release}</h1>"
            f"</{frame}><main><h2 id=ebb>Ebb</h2><p>Water runs off, and boats lie dry.</p></main></body>"
        )

    old, new = read("v20"), read("v21")
    assert (old.title, new.title) == ("Ebb", "Ebb")
    (before,), (now,) = old.chunks, new.chunks
    assert (before.heading_path, before.content_hash) == (("Ebb",), now.content_hash)


@pytest.mark.data
def test_pages_of_a_forum_are_called_by_their_topic() -> None:
    with tarfile.open(DATA / "html-wcxb" / "dev-html.tar") as archive:
        packed = archive.extractfile("dev/html/0538.html.gz")
        assert packed is not None
        markup = gzip.decompress(packed.read())
    assert parse_page(markup.decode()).title.startswith("Investment Strategy Review Request")
