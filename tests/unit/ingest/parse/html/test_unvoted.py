"""Which elements of the content are boilerplate, by what was voted for around them and what they are."""

import pytest

from ingest.parse.html.content import Purpose, Vote
from ingest.parse.html.dom import parse_tree
from ingest.parse.html.unvoted import is_cut_down, unvoted_elements
from tests.fakes.pages import parse_page, texts_of

FIRST = "Gardens need water in summer, and the soil should stay loose so that roots can breathe."
LAST = "In winter they need nothing but patience and a cover of dry leaves against the wind."
VOTE = Vote.of(f"{FIRST}\n{LAST}")
CREDIT = "A view of the garden from above."


def left_of(between: str, *, after: str = "", purpose: Purpose = Purpose.ARTICLE) -> list[str]:
    """The words that are left of an element between two voted paragraphs, or after them."""
    root = parse_tree(
        f"<body><div><p>{FIRST}</p>{between}<p>{LAST}</p>{after}</div></body>", subject="x"
    ).find("body")
    for element in unvoted_elements(root, VOTE, purpose):
        element.getparent().remove(element)
    return " ".join(" ".join(root.itertext()).replace(FIRST, "").replace(LAST, "").split()).split()


@pytest.mark.parametrize(
    "part",
    [
        "<p>Water them.</p>",
        "<ul><li>a can</li><li>a hose</li></ul>",
        "<ul><li><a href=a>can</a></li><li><a href=b>hose</a></li></ul>",
        "<pre>open tap</pre>",
        "<pre><a href=a>Tap</a> <a href=b>open</a></pre>",
        "<div class=wrap><div><pre>open tap</pre></div></div>",
        "<div class=scroll><table><tr><td>May</td><td>ten litres</td></tr></table></div>",
        "<blockquote>Rain is free.</blockquote>",
        "<section id=tags><h2>Tags</h2><table><tr><td>wet</td><td>every day</td></tr></table></section>",
        "<section id=comments><h2>Comments</h2><dl><dt>#</dt><dd>begins one</dd></dl></section>",
        "<div id=author class=level2><h2>Author</h2><pre>author = name</pre></div>",
        "<div>The can is filled in the evening, and is left in the sun for a day so that it warms.</div>",
    ],
)
def test_what_reads_as_a_part_of_the_text_stays_amid_what_was_voted_for(part: str) -> None:
    assert left_of(part)


@pytest.mark.parametrize(
    "part",
    [
        "<div>Read on</div>",
        "<div class=related><p>Ten plants that need no water at all, and where to buy them</p></div>",
        "<ul class=share-buttons><li>Mail</li><li>Print</li></ul>",
        "<section><a href=a>How to build a shed</a> <a href=b>How to paint it in one afternoon</a></section>",
        "<form><p>Your address is not published.</p></form>",
        "<aside><p><a href=a>Our newsletter comes on Fridays.</a></p></aside>",
        "<p><a href=a>More on gardens</a></p>",
        "<div><h3>Most popular</h3><a href=a>Sheds</a></div>",
    ],
)
def test_what_leads_elsewhere_or_is_named_so_goes(part: str) -> None:
    assert left_of(part) == []


@pytest.mark.parametrize(
    ("part", "stays"), [("<ul><li>dry leaves</li></ul>", True), ("<div>Imprint</div>", False)]
)
def test_after_the_last_voted_paragraph_only_text_beside_it_stays(part: str, stays: bool) -> None:
    assert bool(left_of("", after=part)) is stays


def test_a_long_passage_after_the_text_is_that_of_somebody_else() -> None:
    assert left_of("", after=f"<div>{'A reader says that this is wrong. ' * 9}</div>") == []


def test_a_term_stays_that_is_all_link_where_its_definition_was_voted_for() -> None:
    terms = "<dl><dt><a href=x.html>tap</a></dt><dd>{}</dd></dl>"
    assert left_of(terms.format(FIRST)) == ["tap"]


@pytest.mark.parametrize(
    ("part", "stays"),
    [
        ("<p><a href=#can>The can</a></p>", True),
        ("<p><a href=can.html#can>The can</a></p>", False),
        ("<div><ul><li><a href=#can>Can</a></li><li><a href=#tap>Tap</a></li></ul></div>", False),
    ],
)
def test_a_link_to_its_own_page_leads_elsewhere_from_a_list_alone(part: str, stays: bool) -> None:
    assert bool(left_of(part)) is stays


STATE = "<div><a href=states.html>State: 3</a> - old, use the hose</div>"


@pytest.mark.parametrize(("purpose", "stays"), [(Purpose.ARTICLE, False), (Purpose.OTHER, True)])
def test_a_line_between_a_heading_and_the_text_stays_unless_it_may_be_a_byline(
    purpose: Purpose, stays: bool
) -> None:
    assert ("State:" in left_of(f"<h2>Can</h2>{STATE}", purpose=purpose)) is stays


@pytest.mark.parametrize(
    ("part", "stays"),
    [
        (f"<h2>Can</h2><div>Since: May</div><p></p>{STATE}", True),
        ("<h2>Can</h2><div><a href=edit>Edit</a></div>", False),
        ("<h2>Can</h2><div class=share>Send a can</div>", False),
        ("<h2>Can</h2><div>Since: May</div><h2>Tap</h2>", False),
        (f"<h2>Can</h2><p>{FIRST}</p>{STATE}", False),
        (STATE, False),
    ],
)
def test_a_line_is_of_the_text_by_the_heading_over_it_and_what_follows(part: str, stays: bool) -> None:
    assert bool({"State:", "Since:", "Edit", "Send"} & set(left_of(part, purpose=Purpose.OTHER))) is stays


@pytest.mark.parametrize(("purpose", "stays"), [(Purpose.ARTICLE, False), (Purpose.OTHER, True)])
def test_captions_of_pictures_go_from_an_article_alone(purpose: Purpose, stays: bool) -> None:
    figure = f"<figure><img src=a><figcaption>{CREDIT}</figcaption></figure>"
    assert bool(left_of(figure, purpose=purpose)) is stays


def test_a_listing_is_no_picture_and_keeps_its_caption() -> None:
    assert left_of("<figure><pre>open tap</pre><figcaption>Opening</figcaption></figure>") == [
        "open",
        "tap",
        "Opening",
    ]


def test_a_heading_stays_over_what_stays_and_goes_with_what_goes() -> None:
    assert left_of("<h2>In winter</h2>") == ["In", "winter"]
    assert left_of("", after="<h2>Comments</h2><div>Nice.</div>") == []
    assert left_of("", after="<h2>Comments</h2>") == []


def test_a_word_that_stands_in_the_vote_by_chance_is_not_voted_for() -> None:
    assert left_of("<div>winter</div>") == []


@pytest.mark.parametrize(
    ("words", "share", "purpose", "prose", "cut"),
    [
        (700, 1.0, Purpose.OTHER, False, True),
        (500, 1.0, Purpose.OTHER, False, False),  # a list of articles: the vote holds half of the page
        (500, 1.0, Purpose.OTHER, True, True),
        (500, 1.0, Purpose.ARTICLE, False, True),
        (200, 1.0, Purpose.ARTICLE, False, False),  # the front of a magazine, which says it is an article
        (100, 1.0, Purpose.PRODUCT, False, True),
        (900, 0.4, Purpose.PRODUCT, True, False),  # voted for what is not on the page
    ],
)
def test_a_vote_is_believed_by_how_much_it_leaves_and_what_it_is(
    words: int, share: float, purpose: Purpose, prose: bool, cut: bool
) -> None:
    vote = Vote.of("word " * 100 if prose else "a short line\n" * 30)
    assert is_cut_down(vote, words=words, own_words=1_000, share=share, purpose=purpose) is cut


def test_soft_hyphens_do_not_hide_a_text_from_the_vote() -> None:
    prose = "".join(f"<p>{number}. {FIRST}</p>" for number in range(9)).replace("summer", "sum&shy;mer")
    page = f"<body><div class=top><a href=/>Start</a></div><article>{prose}</article></body>"
    assert "8. Gardens need water in summer" in "".join(texts_of(parse_page(page)).values())


def test_a_page_in_a_menu_that_was_never_closed_is_read_without_the_menu() -> None:
    prose = "".join(f"<p>{number}. {FIRST}</p>" for number in range(9))
    menu = "<nav><ul><li><a href=/>Start</a></li>" + "<li><a href=/x>Shop</a>" * 9
    page = f"<body>{menu}<main><h1>Watering</h1>{prose}</main></body>"
    text = "".join(texts_of(parse_page(page)).values())
    assert ("8. Gardens" in text, "Start" in text) == (True, False)


def test_a_page_in_a_noscript_that_was_never_closed_is_read_and_a_notice_is_not() -> None:
    prose = "".join(f"<p>{number}. {FIRST}</p>" for number in range(9))
    assert "8. Gardens" in "".join(texts_of(parse_page(f"<body><noscript><div>{prose}</body>")).values())
    notice = "<noscript><div>Please turn on scripts to read this page.</div></noscript>"
    assert texts_of(parse_page(f"<body>{notice}<div id=root></div></body>")) == {}


def test_the_heading_that_names_the_page_is_read_where_the_vote_begins_below_it() -> None:
    prose = "".join(f"<p>{number}. {FIRST}</p>" for number in range(9))
    page = f"""<title>Watering - My garden</title><body><div class=top><a href=/>My garden</a></div>
    <div class=post><h2>Watering</h2><div class=entry>{prose}</div><div class=share>Mail</div></div></body>"""
    assert list(texts_of(parse_page(page))) == ["Watering"]


def test_options_on_a_page_of_mdbook_keep_their_terms() -> None:
    options = "".join(
        f"""<dt class="option-term" id="tap--{name}"><a class="option-anchor" href="#tap--{name}">
        <code>--{name}</code></a></dt><dd class="option-desc"><p>Of {name}: the garden takes that much water
        before the roots are wet, and all that is poured on it later runs off into the path.</p></dd>"""
        for name in ("litres", "minutes", "pressure", "valve")
    )
    page = f"""<div id="mdbook-page-wrapper"><main><h1 id="tap"><a class="header" href="#tap">tap</a></h1>
    <h2 id="name"><a class="header" href="#name">NAME</a></h2><p>{FIRST} {LAST}</p>
    <h2 id="options"><a class="header" href="#options">OPTIONS</a></h2><dl>{options}</dl></main></div>"""
    text = "".join(texts_of(parse_page(page)).values())
    assert [name for name in ("litres", "minutes", "pressure", "valve") if f"--{name}" not in text] == []


def test_functions_on_a_page_of_the_manual_of_node_keep_their_version_and_state() -> None:
    functions = "".join(
        f"""<section><h3><code>{name}()</code><span><a class="mark" href="#{name}" id="{name}">#</a></span>
        </h3><div class="api_metadata"><span>Added in: v{number}.0</span></div><p></p>
        <div class="api_stability api_stability_3"><a href="states.html#index">Stability: 3</a> - Legacy: Use
        {name}Now instead.</div><p></p><p>The function {name} opens the tap of the garden, and closes it as
        soon as the soil has taken all the water that was asked for.</p></section>"""
        for number, name in enumerate(("pour", "spray", "drip", "flood"))
    )
    page = f"""<div id="content"><div id="column1"><div role="main" id="apicontent"><h2>Taps</h2>
    <p>{FIRST} {LAST}</p>{functions}</div></div></div>"""
    text = "".join(texts_of(parse_page(page)).values())
    assert [text.count(words) for words in ("Added in: v", "Stability: 3", "Now instead.")] == [4, 4, 4]
