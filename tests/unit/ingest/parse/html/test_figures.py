"""What a picture shows is text of the place where it stands, once, and only where no text says it."""

import pytest

from tests.fakes.pages import parse_file, parse_page, texts_of

PLAN = "<img src=plan.png alt='The plan of a house'>"
SAID = "[Figure: The plan of a house]"


def text_of(markup: str) -> str:
    """The text of a section with nothing but *markup*."""
    return texts_of(parse_page(f"<main><h2>A</h2>{markup}</main>")).get("A", "")


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (f"<p>Walls.</p>{PLAN}<p>Doors.</p>", f"Walls.\n\n{SAID}\n\nDoors."),
        (f"<p>Draw {PLAN} first.</p>", f"Draw {SAID} first."),
        (f"<ul><li>Draw<li>{PLAN}</ul>", f"- Draw\n- {SAID}"),
        (f"<figure>{PLAN}<figcaption>Figure 1. Walls</figcaption></figure>", f"{SAID}\nFigure 1. Walls"),
        (f"<div class=figure>{PLAN}<p class=caption>Walls</p></div>", f"{SAID}\nWalls"),
        (f"<table><tr><td>See {PLAN} now<td>b<tr><td>c<td>d</table>", f"See {SAID} now | b\nc | d"),
        (f"<a href=large.png>{PLAN}</a>", SAID),
        (f"{PLAN}<noscript>{PLAN}</noscript><p>Doors.</p>", f"{SAID}\n\nDoors."),
        ("<p><img src=a.png alt='The [inner] yard'></p>", "[Figure: The (inner) yard]"),
    ],
)
def test_what_a_picture_shows_stands_where_the_picture_does(markup: str, text: str) -> None:
    assert text_of(markup) == text


@pytest.mark.parametrize(
    "picture",
    [
        "<img src=plan.png>",
        "<img src=plan.png alt=''>",
        "<img src=plan.png alt='--'>",
        "<img src=plan.png alt=plan.png>",
        "<img src=a/floor-plan.png?v=2 alt=Floor-plan>",
        "<img src='my%20plan.heic' alt='my plan.heic'>",
        "<img src=plan.png alt='Image 1'>",
        "<img src=plan.png alt='On time icon'>",
        "<img src=plan.png alt=':mad:'>",
        "<img src=plan.png alt='The plan of a house' role=presentation>",
        "<img src=plan.png alt='The plan of a house' aria-hidden=true>",
        "<img src=plan.png alt='The plan of a house' width=16 height=16px>",
        "<img src=site-logo.svg alt='The plan of a house'>",
        "<img src=plan.png class='icon small' alt='The plan of a house'>",
        f"<a href=/build>{PLAN}</a>",
        f"{PLAN} The plan of a house: walls",
        f"<figure>{PLAN}<figcaption>Figure 1. The plan of a <b>house</b></figcaption></figure>",
    ],
)
def test_a_picture_for_looks_or_whose_words_stand_beside_it_says_nothing(picture: str) -> None:
    assert "[Figure" not in text_of(f"<p>Walls.</p><div>{picture}</div>")


def test_the_name_of_an_entry_is_not_what_a_picture_shows() -> None:
    assert text_of(f"<dl><dt>{PLAN} wall<dd>Stands.</dl>") == "wall: Stands."


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.md", "# A\n\nWalls.\n\n![The plan of a house](plan.png)\n\n[![Build](b.svg)](/ci)\n"),
        (
            "a.rst",
            "A\n=\n\nWalls.\n\n.. image:: plan.png\n   :alt: The plan of a house\n\n.. image:: b.png\n",
        ),
        ("a.html", f"<main><h1>A</h1><p>Walls.</p><p>{PLAN}</p></main>"),
    ],
)
def test_pictures_of_all_formats_are_told_alike_and_no_reader_has_lost_a_word(path: str, data: str) -> None:
    fragment = parse_file(data, path)

    assert [chunk.text for chunk in fragment.chunks] == [f"Walls.\n\n{SAID}"]
    if coverage := fragment.coverage:
        assert (coverage.lost, coverage.invented) == (0, 0)


def test_the_words_of_a_picture_that_is_all_of_a_link_are_those_of_the_link() -> None:
    (link,) = parse_file("# A\n\nWalls. [![Build](b.png)](https://ci.example.org/)\n", "a.md").links
    assert link.text == "Build"


def test_a_heading_in_markdown_has_the_words_of_its_pictures_as_its_host_names_it() -> None:
    (chunk,) = parse_file("# The ![Acme](acme.svg) pump\n\nIt runs.\n", "a.md").chunks
    assert (chunk.heading_path, chunk.fragment) == (("The Acme pump",), "the-acme-pump")


def test_a_text_that_writes_a_figure_itself_is_seen() -> None:
    coverage = parse_file(f"<main><h1>A</h1><p>Walls stand. {SAID}</p></main>", "a.html").coverage
    assert coverage is not None
    assert (coverage.lost, coverage.invented) == (0, 0)


def test_a_passage_that_begins_with_a_picture_is_opened_at_its_first_words() -> None:
    (chunk,) = parse_page(f"<main><h1>A</h1>{PLAN}<p>Walls stand on the ground floor.</p></main>").chunks
    assert chunk.text_fragment == ":~:text=Walls%20stand%20on%20the"
