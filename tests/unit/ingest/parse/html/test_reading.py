"""How much of a page is read: all of a thread, a product without its neighbours, what a script folds away."""

import pytest

from schemas.nodes import Section
from tests.fakes.pages import parse_page, texts_of

PROSE = "Gardens need water in summer, and the soil should stay loose so that its roots can breathe at night."
AROUND = "<div class=top><a href=/a>Shop</a> <a href=/b>Offers</a></div>"


def all_text(page: str) -> str:
    return "\n".join(texts_of(parse_page(page)).values())


def posts(*texts: str) -> str:
    return "".join(
        f'<article class="post"><div><p>{text} {PROSE} {PROSE}</p></div></article>' for text in texts
    )


def test_every_post_of_a_thread_is_content_where_the_first_one_won_the_vote() -> None:
    page = f"<body>{AROUND}<div class=thread>{posts('Question?', 'Answer.', 'Thanks!')}</div></body>"
    text = all_text(page)
    assert [word in text for word in ("Question?", "Answer.", "Thanks!")] == [True, True, True]


def test_a_product_page_keeps_the_product_and_drops_the_cards_of_others() -> None:
    cards = "".join(
        f"<div class=card><h3>Kettle {n}</h3><span>Buy kettle {n}</span></div>" for n in range(30)
    )
    page = f"""<head><meta property=og:type content=product></head><body>{AROUND}<div><h1>Watering can</h1>
    <p>{PROSE}</p><p>It holds {PROSE}</p><p>It weighs {PROSE}</p></div>
    <div class=others>{cards}</div></body>"""
    text = all_text(page)
    assert "It weighs" in text
    assert "Buy kettle" not in text


def test_content_inside_a_navigation_element_is_read_when_the_vote_is_for_it() -> None:
    paragraphs = "".join(f"<p>{number}. {PROSE}</p>" for number in range(9))
    page = f"<body><main><p>Hello.</p><div class=toc><h2>Care</h2>{paragraphs}</div></main></body>"
    assert "8. Gardens" in all_text(page)


def test_a_tab_panel_that_is_not_shown_is_read() -> None:
    page = "<main><p>a</p><div role=tabpanel hidden style='display:none'><p>second tab</p></div></main>"
    assert "second tab" in all_text(page)


@pytest.mark.parametrize(
    ("markup", "wanted", "unwanted"),
    [
        ("<div><p>Did this help you?</p><button>Yes</button><button>No</button></div>", "", "help you"),
        (
            "<section>Was it clear?<a class=btn-button>Yes</a><a class=btn-button>No</a></section>",
            "",
            "clear",
        ),
        ("<div><h3>Why not?</h3><p>It rusts.</p></div>", "Why not?", "Yes"),
        (
            "<h2 id=a>Soil</h2><a href=#a><span>Link to the part on soil</span></a><p>Dig.</p>",
            "Soil",
            "Link to",
        ),
        ("<h2>Soil<span class=e>[<a href=/w?edit=1>edit</a>]</span></h2><p>Dig.</p>", "Soil", "edit"),
        ("<div id=my-toc><h3>Contents</h3><ul><li><a href=#a>First</a></ul></div>", "", "Contents"),
        ("<div class=toc-page><h3>Contents</h3><p>A spade, and seeds.</p></div>", "A spade", "First"),
        ("<div role=dialog><p>We use cookies to count you.</p></div>", "", "cookies"),
        ("<button><b>404</b><p>There is no such plant.</p></button>", "There is no such", "Yes"),
    ],
)
def test_what_is_there_to_be_clicked_is_told_from_what_is_there_to_be_read(
    markup: str, wanted: str, unwanted: str
) -> None:
    page = parse_page(f"<main><h1>Garden</h1><p>{PROSE}</p>{markup}<p>{PROSE}</p></main>")
    text = "\n".join("\n".join(told) for told in texts_of(page).items())
    assert wanted in text
    assert unwanted not in text


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("Rye bread | Bakers", "<main><div><h1>Rye bread</h1></div>{}</main>", "Rye bread"),
        ("Rye bread - Bakers", "<h1><a href=/>Bakers</a></h1><h1>Rye bread</h1><div>{}</div>", "Rye bread"),
        ("Bakers: Rye bread", "<div class=title>Rye bread</div><div>{}</div>", "Rye bread"),
        ("Rye bread", "<main><h1 hidden>Menu</h1>{}</main>", None),
    ],
)
def test_the_title_of_a_page_is_said_once_and_first(head: str, body: str, title: str | None) -> None:
    told = "".join(f"<p>{number}. {PROSE}</p>" for number in range(4))
    page = parse_page(f"<head><title>{head}</title></head><body>{body.format(told)}</body>")
    headings = [node.heading for node in page.nodes if isinstance(node, Section) and node.heading]
    assert headings == ([title] if title else [])


def test_what_a_class_hides_is_read_where_a_control_names_it() -> None:
    fold = "<div class=x><a href=#f>How to count</a></div><div class='x is-hidden' id=f><p>{}</p></div>"
    text = all_text(
        f"<div><h1>Saws</h1><p>{PROSE}</p>{fold.format('Count the points from nought on.')}</div>"
    )
    assert "How to count" in text
    assert "Count the points" in text
