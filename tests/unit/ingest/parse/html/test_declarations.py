"""Pages of generators that document an interface: declarations stand whole, and no vote takes any away."""

import pytest

from tests.fakes.pages import parse_page, texts_of

DOXYGEN = """<meta name=generator content="Doxygen 1.9.8"><title>Lamp: Members</title>
<div class=header><div class=headertitle><div class=title>Lamp Class</div></div></div><div class=contents>
<table class="memberdecls"><tr class=heading><td colspan=2>
<h2 class=groupheader><a id=pub></a>Functions</h2>
</td></tr><tr class="memitem:a1"><td class=memItemLeft>int&#160;</td><td class=memItemRight>
<a href="#a1">dim</a> (int by)</td></tr>
<tr class="memdesc:a1"><td class=mdescLeft>&#160;</td>
<td class=mdescRight>Dims it.</td></tr></table><h2 class=groupheader>Details of functions</h2>
<p>All of them.</p><a id=a1></a><h2 class="memtitle">dim()</h2><div class=memitem><div class=memproto>
<div class=memtemplate>template&lt;class T&gt;</div><table class="mlabels"><tr><td class=mlabels-left>
<table class="memname"><tr><td class=memname>int Lamp::dim</td><td>(</td>
<td class=paramtype>int&#160;</td>
<td class=paramname><em>by</em>,</td></tr><tr><td></td><td></td><td>bool&#160;</td><td><em>now</em></td></tr>
<tr><td></td><td>)</td><td></td></tr></table></td>
<td class=mlabels-right><span>inline</span></td></tr></table>
</div><div class=memdoc><p>Dims it.</p></div></div></div>"""

HADDOCK = """<script src="haddock-bundle.min.js"></script><title>Data.Lamp</title><div id=content>
<div id=module-header><p class=caption>Data.Lamp</p></div>
<div id=table-of-contents><a href="#g:1">Use</a></div>
<h1 id=g:1>Use</h1><div class=top><p class=src><a id=v:dim>dim</a> :: <a href=Int.html>Int</a>
<a class=link href=src>Source</a><a class=selflink href="#v:dim">#</a></p></div></div>"""

PDOC = """<meta name=generator content="pdoc 14"><main class=pdoc><section id=dim>
<input class=view-source-toggle-state type=checkbox><div class="attr function"><span class=def>def</span>
<span>dim</span>(by):<label class=view-source-button>View Source</label></div>
<div class="pdoc-code codehilite"><pre>def dim(by): pass</pre></div><div class=docstring><p>Dims it.</p>
<div class="pdoc-code codehilite"><pre>dim(1)</pre></div></div></section></main>"""

TYPEDOC = """<header class=tsd-page-toolbar>Menu</header><div class=container><div class=col-content>
<ul class=tsd-breadcrumb><li>Lamp</li></ul><h1>Class Lamp</h1>
<section><h4>Type Parameters</h4><p>T</p></section>
<details class="tsd-panel-group tsd-accordion">
<summary class="tsd-accordion-summary"><h2>Properties</h2></summary>
<section><h3 id=by><code class="tsd-tag">Readonly</code><span>by</span></h3>
<p>How far.</p></section></details>
</div><div class=col-sidebar>Loading...</div></div>"""

JSDOC = """<div id=main><h1 class=page-title>Class: Lamp</h1><section><header><h2>Lamp()</h2>
<div class=class-description>Lights a room</div></header><article>
<h4 class=name id=dim>dim<span class=type-signature> number</span></h4></article></section></div>
<nav><a href=index.html>Home</a></nav>"""


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (
            DOXYGEN,
            {
                "Functions": "int dim (int by)\n\nDims it.",
                "Details of functions": "All of them.",
                "dim()": "template<class T>\n\nint Lamp::dim ( int by, bool now ) inline\n\nDims it.",
            },
        ),
        (HADDOCK, {"Use": "dim :: Int"}),
        (PDOC, {"": "def dim(by):\n\nDims it.\n\ndim(1)"}),
        (
            TYPEDOC,
            {"Type Parameters": "T", "Readonly by": "How far."},
        ),
        (JSDOC, {"Lamp()": "Lights a room", "dim number": "dim number"}),
    ],
)
def test_a_declaration_is_read_whole_and_stands_with_what_is_said_about_it(
    page: str, texts: dict[str, str]
) -> None:
    read = texts_of(parse_page(page))
    assert {heading: read.get(heading) for heading in texts} == texts
    assert not {"Menu", "Loading...", "Source", "Home"} & set(" ".join(read.values()).split())


@pytest.mark.parametrize(
    ("page", "path"),
    [
        (DOXYGEN, ("Lamp Class", "Details of functions", "dim()")),
        (TYPEDOC, ("Class Lamp", "Properties", "Readonly by")),
        (HADDOCK, ("Use",)),
    ],
)
def test_a_member_stands_below_its_group(page: str, path: tuple[str, ...]) -> None:
    assert parse_page(page).chunks[-1].heading_path == path


def test_a_module_of_haddock_is_called_by_its_name_and_not_by_its_first_section() -> None:
    assert parse_page(HADDOCK).title == "Data.Lamp"


@pytest.mark.parametrize(
    "theme", ["<main><article class=bd-article>{}</article>{}</main>", "<main>{}{}</main>"]
)
def test_what_themes_of_sphinx_put_beside_the_text_or_on_paper_alone_is_not_read(theme: str) -> None:
    beside = "<div class=onlyprint><h1>Lamp</h1><p>Contents</p></div>"
    beside += "<div>On this page</div>" if "article" in theme else ""
    page = theme.format("<section id=lamp><h1>Lamp</h1><p>It glows.</p></section>", beside)
    fragment = parse_page(f"<script src=documentation_options.js></script>{page}")
    assert [chunk.text for chunk in fragment.chunks] == ["It glows."]
