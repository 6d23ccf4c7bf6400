"""What a page says by other means than running text: one text, whatever the markup."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html

from ingest.parse.html.dom import parse_tree
from ingest.parse.html.inline import inline_text
from tests.fakes.pages import parse_page, texts_of


def text_of(markup: str) -> str:
    """The text of a section with nothing but *markup*."""
    return texts_of(parse_page(f"<main><h2>A</h2>{markup}</main>"))["A"]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("10<sup>6</sup> loads", "10⁶ loads"),
        ("10<span class=superscript>-3</span> s", "10⁻³ s"),
        ("m<span style='vertical-align: super'>2</span>", "m²"),
        ("H<sub>2</sub>O", "H₂O"),
        ("x<sub>i</sub><sup>n+1</sup>", "x_i^(n+1)"),
        ("2<sup>2<sup>n</sup></sup>", "2^(2^n)"),
        ("the 21<sup>st</sup> day", "the 21st day"),
        ("in 1911<sup><a href=#n>2</a></sup>.", "in 1911[2]."),
        ("in 1911<a href=#n><sup>2</sup></a>.", "in 1911[2]."),
        ("a crane<a href=#n role=doc-noteref>1</a>", "a crane[1]"),
        ("a crane<a href=#n epub:type=noteref>1</a>", "a crane[1]"),
        ("a crane<a href=#n>1</a> of iron", "a crane[1] of iron"),
        ("a crane<sup>[<a href=#n>1</a>]</sup>", "a crane[1]"),
    ],
)
def test_a_raised_sign_makes_no_other_number_or_word(markup: str, text: str) -> None:
    assert inline_text(parse_tree(f"<p>{markup}</p>", subject="x")) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
        ("<ol><li value=4>a<li>b</ol>", "4. a\n5. b"),
        ("<ol type=a><li>a<li>b</ol>", "a. a\nb. b"),
        ("<ol style='list-style-type: upper-roman'><li>a<li>b</ol>", "I. a\nII. b"),
        ("<ol class=lowerroman><li>a<ol><li>b</ol></ol>", "i. a\n  1. b"),
        ("<ol style='list-style: none'><li>1. a<li>2. b</ol>", "- 1. a\n- 2. b"),
        ("<ol><li>1. a<li>2. b</ol>", "- 1. a\n- 2. b"),
        ("<ol><li><h3>Open</h3><p>Lift.</p></ol>", "1. Lift."),
    ],
)
def test_items_have_the_numbers_that_are_shown(markup: str, text: str) -> None:
    assert list(texts_of(parse_page(f"<main><h2>A</h2>{markup}</main>")).values())[-1] == text


LINES = {
    "pre": ("<pre>{}</pre>", "{}\n"),
    "div": ("<pre><code>{}</code></pre>", "<div>{}</div>"),
    "blocks": ("<pre>{}</pre>", "<span style='display:block'>{}</span>"),
    "shiki": ("<pre>{}</pre>", "<span class=line><span>{}</span></span>\n"),
    "tokens": ("<pre>{}</pre>", "<span class=token-line>{}</span>"),
    "doxygen": ("<div class=fragment>{}</div>", "<div class=line><span class=lineno>7</span>{}</div>\n"),
    "expressive": (
        "<pre>{}</pre>",
        "<div class=ec-line><div class=gutter>1</div><div class=code>{}</div></div>",
    ),
    "list": ("<pre><ol>{}</ol></pre>", "<li>{}</li>\n"),
    "table": ("<pre><code><table>{}</table></code></pre>", "<tr><td>7</td><td>{}</td></tr>\n"),
    "breaks": ("<p><code>{}</code></p>", "{}<br>"),
    "frame": ("<div class=code-block data-lang=x>{}</div>", "{}\n"),
    "example": ("<xmp>{}</xmp>", "{}\n"),
    "field": ("<textarea readonly>{}</textarea>", "{}\n"),
}


@pytest.mark.parametrize(("around", "line"), LINES.values(), ids=LINES)
@settings(deadline=None)  # the first example imports what votes
@given(
    lines=st.lists(
        st.sampled_from(["a = 1", "  b()", "    return x", "}", "", "c | d"]), min_size=2, max_size=6
    )
)
def test_code_has_its_lines_and_indents_in_every_markup(around: str, line: str, lines: list[str]) -> None:
    code = ["start:", *lines, "end"]
    shown = around.format(
        "".join(line.format(one.replace(" ", "&nbsp;") if "br>" in line else one) for one in code)
    )
    assert text_of(shown) == "\n".join(code)


@pytest.mark.parametrize("gap", [" ", "\n"])
def test_words_of_code_that_a_link_or_a_term_holds_alone_are_no_lines(gap: str) -> None:
    code = f"<code><span class=pre>--jobs</span>{gap}<span class=pre>&lt;n&gt;</span></code>"
    assert text_of(f"<p>Give <a href=#j>{code}</a>, too.</p>") == "Give --jobs <n>, too."
    assert text_of(f"<dl><dt>{code}<dd>How many.</dl>") == "--jobs <n>: How many."
    assert text_of("<p>Say <a href=#j><code><span>a</span> <span>b</span></code></a>.") == "Say a b."


def test_code_is_read_once_under_its_file_and_without_the_label_of_its_language() -> None:
    copies = "".join(f"<pre class={theme}><code>a()\n  b()</code></pre>" for theme in ("light", "dark"))
    bar = "<div><span>src/app.ts</span><span>TS</span><button>Copy</button></div>"
    page = parse_page(f"<main><h2>A</h2><div class=frame>{bar}{copies}</div></main>")
    (chunk,) = page.chunks
    assert (chunk.text, chunk.captions, chunk.code_languages) == (
        "src/app.ts\na()\n  b()",
        ("src/app.ts",),
        ("ts",),
    )


@pytest.mark.parametrize(
    ("markup", "rows"),
    [
        ("<tr><td>a<td><pre>x = 1</pre></tr>", "a | x = 1"),
        ("<tr><td>a<td><pre>x\n  y</pre></tr>", "a | x\n  y"),
        ("<tr><td>a<td><ul><li>x<li>y</ul></tr>", "a | x; y"),
        ("<tr><td>a<td>x<table><tr><td>1<td>2<tr><td>3<td>4</table></tr>", "a | x\na | 1 | 2\na | 3 | 4"),
        ("<tr><td>a<td><h4>x</h4></tr>", "a | x"),
        ("<tr><td colspan=2>A note.</tr>", "A note."),
        ("<tr><td>a<td><img src=y.png alt=Yes></tr>", "a | Yes"),
        ("<tr><td>a<td><i class='fa fa-check'></i></tr>", "a | Yes"),
        ("<tr><td>a<td><svg><title>No</title></svg></tr>", "a | No"),
        ("<tr><td>a<td><input type=checkbox checked></tr>", "a | [x]"),
    ],
)
def test_rows_stay_rows_whatever_their_cells_hold(markup: str, rows: str) -> None:
    assert text_of(f"<table><tr><th>K<th>V</tr>{markup}</table>") == f"K | V\n{rows}"


def test_a_table_by_its_roles_is_a_table() -> None:
    row = "<div role=row><span role=rowheader>{}</span><span role=cell>{}</span></div>"
    markup = f"<div role=table>{row.format('ssh', 22)}<div role=rowgroup>{row.format('dns', 53)}</div></div>"
    assert text_of(markup) == "ssh | 22\ndns | 53"


def test_the_row_that_rows_stand_under_is_repeated_with_the_header() -> None:
    rows = "".join(f"<tr><td>Entry {n}<td>{n} tons of coal<td>on day {n}</tr>" for n in range(60))
    table = f"<table><tr><th>K<th>V<th>W</tr><tr><th colspan=3>Usual</tr>{rows}</table>"
    chunks = parse_page(f"<main><h2>A</h2>{table}</main>").chunks
    assert len(chunks) > 1
    assert all(chunk.text.startswith("K | V | W\nUsual\nEntry") for chunk in chunks)


def test_what_follows_a_table_stands_under_the_heading_before_it() -> None:
    cell = "<table><tr><td>x<td><h4>Fuse</h4><p>It blows.</p></tr></table>"
    texts = texts_of(parse_page(f"<main><h2>A</h2><p>Red.</p>{cell}<p>Close it.</p></main>"))
    assert "Close it." in texts["A"]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>Press <img alt=Save src=s.png> now</p>", "Press Save now"),
        ("<p>Radio: <img class=emoji alt=✅ src=a.png></p>", "Radio: ✅"),
        (
            "<p>It has <span role=img aria-label='4 out of 5 stars'><i></i></span></p>",
            "It has 4 out of 5 stars",
        ),
        ("<p>It has <meter value=4 max=5></meter></p>", "It has 4/5"),
        ("<ul><li><input type=checkbox disabled> Go<li>Stay</ul>", "- [ ] Go\n- Stay"),
        (
            "<p>A <img alt='A harbour at dawn, seen from the hill' src=p.jpg> b</p>",
            "A [Figure: A harbour at dawn, seen from the hill] b",
        ),
        ("<form><p><input type=checkbox> Stay</p></form>", "Stay"),
    ],
)
def test_pictures_and_boxes_say_what_they_mean(markup: str, text: str) -> None:
    assert text_of(markup) == text


_MATHML = "<math><msup><mi>r</mi><mn>2</mn></msup></math>"
_CHTML = (
    "<mjx-container><mjx-math><mjx-msup><mjx-mi><mjx-c class=mjx-c1D45F></mjx-c></mjx-mi><mjx-script><mjx-mn>"
    "<mjx-c class=mjx-c32></mjx-c></mjx-mn></mjx-script></mjx-msup></mjx-math></mjx-container>"
)
_SVG = (
    "<mjx-container><svg><g data-mml-node=msup><g data-mml-node=mi><use data-c=1D45F></use></g>"
    "<g data-mml-node=mn><use data-c=32></use></g></g></svg></mjx-container>"
)
_KATEX = (
    "<span class=katex><span class=katex-html aria-hidden=true><span class=mord>r</span><span class=msupsub>"
    "<span class=vlist-t><span class=vlist-r><span class=vlist><span>2</span></span></span></span></span>"
    "</span></span>"
)
_KATEX_TWICE = (
    "<span class=katex><span class=katex-mathml><math><semantics><mi>r</mi>"
    "<annotation encoding='application/x-tex'>r^2</annotation></semantics></math></span>"
    "<span class=katex-html aria-hidden=true>r2</span></span>"
)


@pytest.mark.parametrize(
    "markup",
    [
        _MATHML,
        _CHTML,
        _SVG,
        _KATEX,
        "<span data-latex='r^2'><i></i></span>",
        "<img class=equation alt='r^2' src=e.png>",
        "<img alt='' src='https://latex.codecogs.com/svg.image?r%5E2'>",
        "<span role=math aria-label='r^2'></span>",
        "<script type='math/tex; mode=display'>r^2</script>",
        "<math alttext='r^2'><mi>?</mi></math>",
        "<math><semantics><mi>?</mi><annotation encoding=application/x-tex>r^2</annotation></math>",
        "<span style='display: none;'><math alttext='r^2'><mi>?</mi></math></span><img aria-hidden=true>",
        _KATEX_TWICE,
        "<span class=MathJax_Preview>r2</span><span class=MathJax><nobr>r2</nobr></span>"
        "<script type='math/tex'>r^2</script>",
    ],
)
def test_a_formula_is_read_once_and_never_silent(markup: str) -> None:
    assert text_of(f"<p>The area is {markup} for the tank.</p>") == "The area is r^2 for the tank."


def test_a_formula_in_a_cell_is_read_once() -> None:
    assert text_of(f"<table><tr><td>a<td>{_KATEX_TWICE}<tr><td>b<td>c</table>") == "a | r^2\nb | c"


def test_formulas_deep_in_each_other_are_read_without_end() -> None:
    deep = "<mrow>" * 200 + "<mi>x</mi>" + "</mrow>" * 200
    assert "x" in inline_text(lxml_html.fromstring(f"<p><math>{deep}</math></p>"))


@pytest.mark.parametrize(
    ("line", "added", "removed"),
    [
        ("<span class='line {}'>{}</span>\n", "diff add", "diff remove"),
        ("<div class='ec-line {}'>{}</div>", "ins", "del"),
    ],
)
def test_lines_of_code_that_a_theme_shows_as_changed_have_the_sign(
    line: str, added: str, removed: str
) -> None:
    lines = line.format("", "a = 0") + line.format(removed, "a = 1") + line.format(added, "a = 2")
    page = parse_page(f"<main><h2>A</h2><pre><code>{lines}</code></pre></main>")
    assert texts_of(page)["A"] == "a = 0\n- a = 1\n+ a = 2"
