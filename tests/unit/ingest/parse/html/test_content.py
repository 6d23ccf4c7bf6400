import pytest

from schemas.edges import LinkPosition
from tests.fakes.pages import links_of, parse_page, texts_of

PROSE = "<p>Gardens need water in summer, and the soil should stay loose so that roots can breathe.</p>" * 6


def test_the_vote_keeps_the_article_and_drops_what_is_around_it() -> None:
    page = f"""<body><div class=top><a href=/a>Shop</a> <a href=/b>Offers</a> <a href=/c>Basket</a></div>
    <div class=x><div class=y><h1>Watering</h1>{PROSE}<h2>When</h2>{PROSE}</div></div>
    <div class=bottom><a href=/d>Imprint</a> <a href=/e>Jobs</a></div></body>"""
    texts = texts_of(parse_page(page))
    assert list(texts) == ["Watering", "When"]
    assert "Shop" not in "".join(texts.values())
    assert "Imprint" not in "".join(texts.values())


def test_a_page_heading_outside_the_content_leads_it() -> None:
    page = f"<body><div class=hero><h1>Watering</h1></div><main><h2>When</h2>{PROSE}</main></body>"
    assert list(texts_of(parse_page(page))) == ["Watering", "When"]


BOOK = "<div class=navheader>Prev</div><div class=titlepage><h1>Book</h1></div>"


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ("<body><div>Moved to the new site.</div></body>", {"": "Moved to the new site."}),
        (f"{BOOK}<div class=toc>One</div><p>Text.</p>", {"Book": "Text."}),
        ("<title>T</title><main><h1>A</h1><p>x</p></main>", {"A": "x"}),
    ],
    ids=["few words", "a table of contents beside text", "no body tag"],
)
def test_a_short_page_is_read_but_for_its_frame(page: str, texts: dict[str, str]) -> None:
    assert texts_of(parse_page(page)) == texts


def test_a_page_that_is_a_table_of_contents_keeps_it() -> None:
    page = f"{BOOK}<div class=toc><ul><li>One<li>Two</ul></div>"
    assert "- One\n- Two" in texts_of(parse_page(page))["Book"]


def test_a_table_of_contents_whose_id_is_written_with_underscores_is_dropped() -> None:
    items = "".join(f"<li><a href='#{name}'>{name.title()}</a></li>" for name in ("cans", "taps", "hoses"))
    page = f"""<section id="content"><header class="title"><h1>tap-open</h1></header>
    <span class="description">Opens a tap</span>
    <section id="table_of_contents"><h2 id="table-of-contents">Table of contents</h2>
    <div id="_table_of_contents"><ul>{items}</ul></div></section>
    <div id="_content"><h3 id="cans">Cans</h3>{PROSE}</div></section>"""
    read = texts_of(parse_page(page))
    assert ("Hoses" in "".join(read.values()), "Gardens need" in read["Cans"]) == (False, True)


@pytest.mark.parametrize("generator", ["DocBook XSL Stylesheets V1.79", ""])
@pytest.mark.parametrize("class_", ["nav", "navigation"])
def test_a_table_that_leads_from_page_to_page_is_navigation(generator: str, class_: str) -> None:
    table = f'<table class="{class_}" summary="Navigation header">'
    page = f"""<head><meta name="generator" content="{generator}"></head><body><div>{table}<tr>
    <td><a accesskey="p" href="taps.html">&lt;&lt; 3. Taps</a></td>
    <td><a accesskey="u" href="book.html">Up</a></td><th>Manual of the garden</th></tr></table></div>
    <div class="chapter"><div class="titlepage"><h1>4. Cans</h1></div>{PROSE}</div></body>"""
    fragment = parse_page(page)
    read = "".join(texts_of(fragment).values())
    assert ("Up" in read, "Manual" in read, "Gardens need" in read) == (False, False, True)
    assert links_of(fragment)["Up"].position is LinkPosition.NAV


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (
            "<main><h1>Keys</h1><table class=navigation><tr><td>j<td>Next <a href=m.html>message</a></table>",
            "Next message",
        ),
        (
            f"<table summary='Navigation header'><tr><td><h1>Cans</h1>{PROSE}</td></tr></table>",
            "Gardens need",
        ),
        (
            '<main><h1>Boats</h1><table summary="Navigation lights by size"><tr><td>12 m<td>White</table>',
            "White",
        ),
    ],
    ids=["of keys to navigate by", "around headings", "about navigation"],
)
def test_a_table_that_leads_nowhere_is_a_table_whatever_it_is_called(page: str, said: str) -> None:
    assert said in " ".join(chunk.text for chunk in parse_page(page).chunks)


def test_links_of_the_whole_page_say_where_they_stand() -> None:
    page = f"""<body><header><a href=/home>Home</a></header><nav><a href=/docs>Docs</a></nav>
    <div id=sidebar><a href=/news>News</a></div><main><h1>A</h1>{PROSE}<p><a href=/deep#x>deeper</a>
    <a href=#top class=headerlink>¶</a><a href=mailto:x@y.z>mail</a></p></main>
    <footer><a href=/legal><img alt=Legal></a></footer></body>"""
    links = links_of(parse_page(page))
    assert {text: link.position for text, link in links.items()} == {
        "Home": LinkPosition.HEADER,
        "Docs": LinkPosition.NAV,
        "News": LinkPosition.ASIDE,
        "deeper": LinkPosition.BODY,
        "Legal": LinkPosition.FOOTER,
    }
    assert (links["deeper"].target, links["deeper"].fragment) == ("http://docs.example/deep", "x")


def test_links_are_resolved_against_the_base_element() -> None:
    page = "<base href=/v2/><main><h1>A</h1><p><a href=b.html>b</a></p></main>"
    assert links_of(parse_page(page))["b"].target == "http://docs.example/v2/b.html"


def test_pages_that_the_head_relates_are_links_and_files_are_not() -> None:
    head = "<link rel=next href=/two title=Two><link rel=stylesheet href=/a.css><link rel=search href=/find>"
    links = parse_page(f"<head>{head}</head><body><p>x</p></body>").links
    assert [(link.target, link.text) for link in links] == [
        ("http://docs.example/two", "Two"),
        ("http://docs.example/find", ""),
    ]
