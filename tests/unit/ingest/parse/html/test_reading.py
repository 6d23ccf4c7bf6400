"""How much of a page is read: all of a thread, a product without its neighbours, what a script folds away."""

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
