import pytest

from tests.fakes.pages import parse_page, sections_of, texts_of


def text_of(body: str) -> str:
    (section,) = sections_of(parse_page(f"<main>{body}</main>"))
    return section.text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>One\n  two</p><p>three</p>", "One two\n\nthree"),
        ("<p>a<b>b</b> <i>c</i>d</p>", "ab cd"),
        ("<p>a<br>b<br> c</p>", "a\nb\nc"),
        ("<div>loose<p>para</p>tail</div>", "loose\n\npara\n\ntail"),
        ("<p>Do:</p><ul><li>one<li><p>two</p></ul><p>End</p>", "Do:\n\n- one\n- two\n\nEnd"),
        ("<ol><li>a<ul><li>b</ul></ol>", "1. a\n  - b"),
        (
            "<dl><dt>-a<dt>--all<dd><p>Show all.</p><p>More.</p><dt>-b<dd>B</dl>",
            "-a, --all: Show all.\n\nMore.\n\n-b: B",
        ),
        ("<dl><dt>alone</dl>", "alone"),
        ("<dl><dt>Returns:<dd>a lamp</dl>", "Returns: a lamp"),
        ("<p>Run:</p><pre>\nif x:\n    y\n\n</pre>", "Run:\n\nif x:\n    y"),
        ("<pre><span class=linenos>1</span>x = 1</pre>", "x = 1"),
        ("<table><tr><td class=linenos><pre>1</pre><td><pre>x = 1</pre></table>", "x = 1"),
        ("<p>E = <math alttext='mc^2'><mi>m</mi></math> holds</p>", "E = mc^2 holds"),
        ("<details><summary>More</summary><p>Inside</p></details>", "More\nInside"),
        (
            "<p>a</p><script>b</script><noscript>c</noscript><template>d</template><!-- e --><p>f</p>",
            "a\n\nf",
        ),
        ("<p>w\u200bor\u202ed\U000e0041\u061c</p>", "word"),
        (
            "<p>a\u200db \u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f469</p>",
            "ab \u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f469",
        ),
        ("<a id=skip href=#main>Skip to main content</a><p>a</p>", "a"),
    ],
)
def test_running_text_becomes_blocks(body: str, text: str) -> None:
    assert text_of(body) == text


@pytest.mark.parametrize(
    "attributes",
    [
        "hidden",
        "style='display: none'",
        "style='visibility:hidden'",
        "aria-hidden=true",
        "style='font-size:0'",
        "style='font-size: 0.0px'",
        "style='transform: scale(0)'",
        "style='width:0;height:0'",
        "style='color:#fff;background-color:#fff'",
    ],
)
def test_what_a_reader_cannot_see_is_not_read(attributes: str) -> None:
    assert text_of(f"<p>seen</p><div {attributes}><p>unseen</p></div>") == "seen"


def test_a_tab_panel_that_is_folded_away_is_read() -> None:
    assert text_of("<div role=tabpanel>one</div><div role=tabpanel hidden>two</div>") == "one\n\ntwo"


def alert(class_: str, heading: str) -> str:
    return f"<main><h2>A</h2><div class='{class_}'>{heading}<p>x</p></div></main>"


PAGES = {
    "hidden until a script runs": ("<div style='visibility:hidden'><h1>T</h1><p>x</p></div>", {"T": "x"}),
    "hidden from assistive software": (
        "<div id=app aria-hidden=true><main><h1>A</h1><p>x</p></main></div><div role=dialog>Accept?</div>",
        {"A": "x"},
    ),
    "permalink sign and marked number": (
        "<main><h2><span class=secno>2.1</span> Set <code>x</code><a href=#s class=anchor>#</a></h2><p>t",
        {"Set x": "t"},
    ),
    "number that no mark sets apart": (
        "<main><h2>2.31.0 (2023-05-22)</h2><p>t</main>",
        {"2.31.0 (2023-05-22)": "t"},
    ),
    "permalink sign in the wrong charset": (
        "<main><h2>Use<a class=headerlink href=#use>\u00c2\u00b6</a></h2><p>x</main>",
        {"Use": "x"},
    ),
    "link to the top": (
        "<main><h2><a id=n href=#n></a>NAME &nbsp; <a href=#top_of_page><b>top</b></a></h2><p>x</main>",
        {"NAME": "x"},
    ),
    "link to the source code": (
        "<main><h2>fs.open(path)<a class=srclink href=https://code.example/fs.js#L5>[src]</a></h2><p>x</main>",
        {"fs.open(path)": "x"},
    ),
    "entries of a menu": (
        "<main><h1>A</h1><ul><li><h2><a href=/vite>Using Vite</a></h2>"
        "<li><h2><a href=/cli>Using the CLI</a></h2></ul><p>x</p></main>",
        {"A": "- Using Vite\n- Using the CLI\n\nx"},
    ),
    "note amid a section": (
        "<main><h1>A</h1><p>a<div class='admonition tip'><p class=admonition-title>Tip</p><p>b</p></div><p>c",
        {"A": "a\n\nTip\nb\n\nc"},
    ),
    "heading of a note": (
        alert("alert alert-info", "<h4 class=alert-heading>Note:</h4>"),
        {"A": "Note:\nx"},
    ),
    "heading of a note with a hash": (
        alert("theme-admonition alert", "<div class=admonitionHeading_G7v>tip</div>"),
        {"A": "tip\nx"},
    ),
    "what pops up": ("<main><h1>A</h1><div class='share-popover left'><h4>Via</h4></div><p>x", {"A": "x"}),
    "what leads to other texts": (
        "<main><h1>A</h1><div class=similar-reads><h4>Via</h4></div><p>x",
        {"A": "x"},
    ),
}


@pytest.mark.parametrize(("page", "texts"), PAGES.values(), ids=PAGES)
def test_what_stands_under_which_heading(page: str, texts: dict[str, str]) -> None:
    assert texts_of(parse_page(page)) == texts


@pytest.mark.parametrize(
    ("page", "headings"),
    [
        ("<h1>A</h1><h2> </h2><h4>B</h4>", [("A", 1), ("B", 4)]),
        ("<h1>A</h1><div role=heading aria-level=3>B</div><p>t</p>", [("A", 1), ("B", 3)]),
        (
            "<h1>A<h2 id=b>B</h2><p>x</p><h3>C<h4>D<h4>E</h4><p>y",
            [("A", 1), ("B", 2), ("C", 3), ("D", 4), ("E", 4)],
        ),
    ],
    ids=["an empty heading goes, a skipped level stays", "a heading by its role", "tags left open"],
)
def test_headings_have_their_levels(page: str, headings: list[tuple[str, int]]) -> None:
    sections = sections_of(parse_page(f"<main>{page}</main>"))
    assert [(section.heading, section.level) for section in sections] == headings


def test_a_caption_stands_with_its_table_and_names_every_part_of_it() -> None:
    rows = "".join(f"<tr><td>name {n}<td>{'value ' * 8}</tr>" for n in range(60))
    fragment = parse_page(
        f"<main><h1>A</h1><table><caption>Table 1. Names</caption>{rows}</table><p>End</p></main>"
    )
    assert fragment.chunks[0].text.startswith("Table 1. Names\nname 0 | value")
    assert len(fragment.chunks) > 2
    assert {chunk.captions for chunk in fragment.chunks} == {("Table 1. Names",)}


def test_a_figure_is_read_by_its_caption() -> None:
    fragment = parse_page(
        "<main><h1>A</h1><figure><img src=x alt=x><figcaption>Figure 2. Flow</figcaption></figure></main>"
    )
    assert [(chunk.text, chunk.captions) for chunk in fragment.chunks] == [
        ("Figure 2. Flow", ("Figure 2. Flow",))
    ]


def test_deep_nesting_needs_no_recursion() -> None:
    assert parse_page("<main><h1>A</h1>" + "<div>" * 200 + "x" + "<ul><li>" * 50_000).title == "A"


@pytest.mark.parametrize("label", ["On this page", "In this article"])
def test_the_label_of_a_list_of_headings_heads_no_section(label: str) -> None:
    page = f"<main><h1>A</h1><p>x</p><div><h2 id=toc>{label}</h2><ul><li><a href=#b>B</a></ul></div></main>"
    assert list(texts_of(parse_page(page))) == ["A"]


def test_a_linked_heading_over_the_text_of_its_item_heads_a_section() -> None:
    item = "<ul><li><h2><a href=/one>One</a></h2><p>About it.</p></ul>"
    assert list(texts_of(parse_page(f"<main><h1>A</h1>{item}</main>"))) == ["A", "One"]


def test_sentences_that_are_set_as_a_heading_are_text() -> None:
    said = " ".join(f"Boats of lot {lot} wait outside of the <a href=/m#{lot}>mole</a>." for lot in range(8))
    fragment = parse_page(f"<main><h1>Port</h1><h3 id=boats>{said}</h3><p>So it is.</p></main>")
    (chunk,) = fragment.chunks
    assert (chunk.heading_path, chunk.text.startswith("Boats of lot 0"), "So it is." in chunk.text) == (
        ("Port",),
        True,
        True,
    )
    assert "boats" in (chunk.fragment, *chunk.fragments)
    assert len(fragment.links) == 8


def test_a_permalink_of_a_sign_without_width_is_no_link() -> None:
    heading = "<h2 id=a>A<a class=hash-link href=#a title='Direct link to A'>\u200b</a></h2>"
    assert parse_page(f"<main>{heading}<p>x</p></main>").links == ()
