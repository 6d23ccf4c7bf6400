"""Each family keeps the id of a section elsewhere; headings must be cited by it."""

import pytest

from tests.fakes.pages import parse_page, sections_of

SPHINX = """<meta name=generator content="Docutils 0.19"><div role=main><section id=install>
<span id=setup></span>
<h1><span class=section-number>1. </span>Install<a class=headerlink href=#install>¶</a></h1>
<p>Text of it.</p>
<section id=on-windows><h2>On Windows<a class=headerlink href=#on-windows>¶</a></h2><p>More.</p>
</section></section></div>"""
DOCBOOK = """<div class=navheader><table><tr><th>Next</th></tr></table></div><div class=sect1 id=INSTALL>
<div class=titlepage><div><div><h2 class=title>8.1. Install</h2></div></div></div>
<a id=id-1.5 class=indexterm></a>
<p>Text of it.</p><div class=sect2 id=ON-WINDOWS><div class=titlepage>
<h3 class=title>8.1.1. On Windows</h3></div>
<p>More.</p></div></div>"""
TEXINFO = """<meta name=generator content="makeinfo"><div class=chapter id=Top-Install><div class=header>
<a href=x>Next</a></div>
<span id=Install-1></span><h2 class=chapter>3 Install</h2><p>Text of it.</p>
<span id=index-win></span><span id=On-Windows></span><h3 class=section>3.1 On Windows</h3><p>More.</p>
</div>"""
ASCIIDOCTOR = """<meta name=generator content="AsciiDoc 10"><div id=content><div class=sect1>
<h2 id=_install>Install</h2>
<div class=sectionbody><p>Text of it.</p></div></div><div class=sect1><h2 id=_win>On Windows</h2>
<p>More.</p></div></div>"""
MKDOCS = """<meta name=generator content="mkdocs-1.6"><article>
<h1 id=install>Install<a class=headerlink href=#install
title="Permanent link">#</a></h1><p>Text of it.</p><h2 id=win>On Windows</h2><p>More.</p></article>"""
DOCUSAURUS = """<meta name=generator content="Docusaurus v3"><article>
<div class="theme-doc-markdown markdown">
<h1 id=install>Install<a class=hash-link href=#install>#</a></h1><p>Text of it.</p>
<h2 id=win>On Windows</h2><p>More.</p></div></article>"""
JAVADOC = """<meta name=generator content="javadoc/17"><main>
<section class=detail id="install(int,java.lang.String)">
<h3>Install</h3><p>Text of it.</p></section><a name="win--"></a><ul class=blockList><li>
<h4>On Windows</h4><p>More.</p></li></ul></main>"""
PLAIN = """<article><h1 id=install>Install</h1><p>Text of it.</p><p><a name=win></a></p>
<h2>On Windows</h2><p>More.</p></article>"""


@pytest.mark.parametrize(
    ("family", "page", "fragments"),
    [
        ("sphinx", SPHINX, ["install", "on-windows"]),
        ("docbook", DOCBOOK, ["INSTALL", "ON-WINDOWS"]),
        ("texinfo", TEXINFO, ["Install-1", "On-Windows"]),
        ("asciidoctor", ASCIIDOCTOR, ["_install", "_win"]),
        ("mkdocs", MKDOCS, ["install", "win"]),
        ("docusaurus", DOCUSAURUS, ["install", "win"]),
        ("javadoc", JAVADOC, ["install(int,java.lang.String)", "win--"]),
        ("plain", PLAIN, ["install", "win"]),
    ],
)
def test_headings_of_every_family_have_their_anchor(family: str, page: str, fragments: list[str]) -> None:
    fragment = parse_page(page)
    sections = sections_of(fragment)
    assert fragment.chunks[0].template_type == family
    assert [section.heading for section in sections] == ["Install", "On Windows"]
    assert [section.text for section in sections] == ["Text of it.", "More."]
    assert [section.fragment for section in sections] == fragments
    assert [chunk.fragment for chunk in fragment.chunks] == fragments


def test_only_the_first_element_with_an_id_is_its_target() -> None:
    sections = sections_of(parse_page("<main><h2 id=x>One</h2><p>a</p><h2 id=x>Two</h2><p>b</p></main>"))
    assert [section.fragment for section in sections] == ["x", None]


def test_a_passage_is_cited_by_the_nearest_id_before_it() -> None:
    long = "word " * 240
    fragment = parse_page(f"<main><h1 id=top>T</h1><p>{long}</p><p id=second>{long}</p></main>")
    assert [chunk.fragment for chunk in fragment.chunks] == ["top", "second"]


def test_text_before_the_first_id_has_no_fragment() -> None:
    fragment = parse_page("<main><p>Lead.</p><h2 id=a>A</h2></main>")
    assert [chunk.fragment for chunk in fragment.chunks] == [None, "a"]


def test_a_definition_is_cited_by_the_id_of_its_term() -> None:
    page = "<dl><dt id=f.open>open()</dt><dd>Opens.</dd></dl>"
    assert [c.fragment for c in parse_page(f"<main><h1 id=api>API</h1>{page}</main>").chunks] == ["f.open"]


def test_an_id_with_entities_is_kept_as_decoded() -> None:
    (section,) = sections_of(parse_page('<main><h1 id="a&amp;b(c,d)">T</h1></main>'))
    assert section.fragment == "a&b(c,d)"


RUSTDOC = """<meta name=generator content=rustdoc><nav class=sidebar>x</nav><main>
<section id=main-content class=content><h1>Enum Option</h1><p>Maybe.</p>
<h2 id=implementations>Implementations</h2>
<section id=method.is_some class=method><span class=rightside>1.0</span>
<h4 class=code-header>pub fn is_some()</h4></section>
<div class=docblock><p>Tells.</p><h5 id=examples>Examples</h5><pre>x</pre></div></section></main>"""


def test_a_declaration_heads_no_section_but_can_be_cited() -> None:
    fragment = parse_page(RUSTDOC)
    assert [section.heading for section in sections_of(fragment)] == ["Enum Option", "Implementations"]
    assert fragment.chunks[-1].text == "pub fn is_some()\nTells.\n\nExamples\nx"
    assert fragment.chunks[-1].fragment == "method.is_some"


def test_ids_of_forms_are_not_cited() -> None:
    long = "word " * 240
    form = "<form id=find><label id=name-of>Name</label></form>"
    fragment = parse_page(f"<main><h1 id=top>T</h1><p>{long}</p>{form}<p>{long}</p></main>")
    assert [chunk.fragment for chunk in fragment.chunks] == ["top", "top"]


def test_an_id_written_with_percent_signs_is_cited_as_it_stands() -> None:
    page = "<main><h2 id=%E4%B8%AD>Middle</h2><p>x</p><h2 id=\u4e2d>Other</h2><p>y</p></main>"
    assert [chunk.fragment for chunk in parse_page(page).chunks] == ["%E4%B8%AD", "\u4e2d"]


def test_the_first_member_of_a_class_is_cited_by_the_mark_behind_the_heading_above() -> None:
    page = """<!-- Generated by javadoc (1.8.0) --><div class=topNav><a href=o>O</a></div>
    <div class=header><h2 class=title>Class Lamp</h2></div><div class=contentContainer><p>A lamp.</p>
    <a name=method.detail></a><h3>Method Detail</h3><a name=on-int-></a><ul class=blockList><li><h4>on</h4>
    <p>Turns it on.</p></ul></div>"""
    sections = sections_of(parse_page(page))
    assert [(section.heading_path, section.fragment) for section in sections] == [
        (("Class Lamp",), None),
        (("Class Lamp", "Method Detail"), "method.detail"),
        (("Class Lamp", "Method Detail", "on"), "on-int-"),
    ]


def test_marks_behind_a_heading_lead_to_what_stands_under_it() -> None:
    page = "<main><h2 id=use>Use</h2><a id=index-1></a><a id=index-2></a><p>x</p></main>"
    (chunk,) = parse_page(page).chunks
    assert (chunk.fragment, chunk.fragments) == ("use", ("index-1", "index-2"))
