import pytest
from lxml import html

from ingest.parse.html.languages import code_language
from tests.fakes.pages import parse_page


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
