import pytest
from lxml import html

from ingest.parse.html.code import code_language
from tests.fakes.pages import parse_page, texts_of


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ("<pre><code class=language-py>x</code></pre>", "py"),
        ("<pre class='brush: js notranslate'>x</pre>", "js"),
        ("<pre class='prism-code language-JSX x'>x</pre>", "jsx"),
        ("<pre class='lang-c++ prettyprint'>x</pre>", "c++"),
        ("<pre data-lang=go>x</pre>", "go"),
        ("<div class='highlight-python notranslate'><div class=highlight><pre>x</pre></div></div>", "python"),
        (
            "<div class='language-rb highlighter-rouge'><div class=highlight><pre>x</pre></div></div>",
            "rb",
        ),
        ("<div class='highlight highlight-source-shell'><pre>x</pre><button>Copy</button></div>", "shell"),
        ("<div class='highlight-default'><div class=highlight><pre>x</pre></div></div>", None),
        ("<div class=language-js><p>About</p><pre>x</pre></div>", None),
        ("<pre class=programlisting>x</pre>", None),
    ],
)
def test_the_language_is_what_the_markup_of_the_code_names(markup: str, language: str | None) -> None:
    assert code_language(next(html.fragment_fromstring(markup, create_parent="main").iter("pre"))) == language


def test_a_passage_names_the_languages_of_the_code_in_it_once_each() -> None:
    blocks = "".join(f"<pre><code class=language-{name}>{name}</code></pre>" for name in ("py", "sh", "py"))
    (with_code, without) = parse_page(f"<main><h2>A</h2>{blocks}<h2>B</h2><p>x</p></main>").chunks
    assert with_code.code_languages == ("py", "sh")
    assert without.code_languages == ()


_FLAVOURS = (
    '<pre class="with-30-chars"><input class="js-flavor-toggle" type="checkbox" aria-label="Show ES modules">'
    '<code class="language-js cjs"><span>const</span> tide = require(<span>"tide"</span>);'
    "\ntide.turn();</code>"
    '<code class="language-js mjs" id="as-module">import tide from "tide";\ntide.turn();</code>'
    '<button class="copy-button">copy</button></pre>'
)


def test_two_variants_of_one_example_are_two_listings_each_in_its_language() -> None:
    (chunk,) = parse_page(f"<main><h2 id=turn>Turn</h2><p>Turns the tide.</p>{_FLAVOURS}</main>").chunks
    assert chunk.text == (
        'Turns the tide.\n\nconst tide = require("tide");\ntide.turn();\n\n'
        'import tide from "tide";\ntide.turn();'
    )
    assert chunk.code_languages == ("cjs", "mjs")
    assert "as-module" in chunk.fragments


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<code class=k>int</code><code class=n>x</code>", "intx"),
        ("<code class=language-c>int x;</code>\n<code class=language-c>int y;</code>", "int x;\nint y;"),
        ("<code class=lang-js>a();\n</code><code class=lang-js>b();</code>", "a();\nb();"),
        ("Type <code class=language-sh>ls</code><code class=language-sh>-l</code>", "Type ls-l"),
    ],
    ids=["coloured words", "lines", "lines with their ends", "words of a text"],
)
def test_pieces_of_code_that_a_reader_sees_as_one_stay_one(markup: str, text: str) -> None:
    assert texts_of(parse_page(f"<main><h2>A</h2><pre>{markup}</pre></main>")) == {"A": text}


def test_code_in_a_text_that_is_preformatted_keeps_the_text() -> None:
    page = (
        "<main><h1>Make</h1><pre><code class=language-sh>make</code><br>then wait an hour<br>"
        "<code class=language-sh>make install</code></pre></main>"
    )
    assert "then wait an hour" in " ".join(chunk.text for chunk in parse_page(page).chunks)


def test_one_of_many_listings_side_by_side_does_not_look_at_all_the_others() -> None:
    frame = html.fragment_fromstring("<pre>x</pre>" * 20_000, create_parent="main")
    assert {code_language(pre) for pre in frame} == {None}
