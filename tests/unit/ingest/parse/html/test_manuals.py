"""Which headings name a whole manual, and stand in no path but their own."""

import pytest

from schemas.edges import EdgeKind
from tests.fakes.pages import parse_page, sections_of

TEXINFO = """<meta name=generator content="texi2any">
<h1 class=settitle>Lamp Manual</h1><a name=Top></a><h1 class=top>Lamps</h1><p>About lamps.</p>
<h2 class=chapter id=Use>1 Use</h2><p>Press it.</p><h3 class=section id=Dim>1.1 Dim it</h3><p>Turn it.</p>"""
BOOK = """<meta name=generator content="Asciidoctor 2.0"><body class="book toc2"><div id=header>
<h1>Lamp Manual</h1></div><div id=content><div class=sect1><h2 id=Use>Use</h2>
<div class=sectionbody><p>Press it.</p><div class=sect2><h3 id=Dim>Dim it</h3><p>Turn it.</p></div></div>
</div></div>"""
SINGLE_HTML = """<meta name=generator content="Docutils 0.20"><div role=main><section id=lamps>
<h1>Lamp Manual</h1><div class=toctree-wrapper><span id=document-use></span><section id=Use><h2>Use</h2>
<p>Press it.</p><section id=Dim><h3>Dim it</h3><p>Turn it.</p></section></section></div></section></div>"""


@pytest.mark.parametrize("page", [TEXINFO, BOOK, SINGLE_HTML])
def test_the_title_of_a_whole_manual_begins_no_path(page: str) -> None:
    fragment = parse_page(page)
    paths = [section.heading_path for section in sections_of(fragment)]
    assert paths[0] == ("Lamp Manual",)
    assert paths[-2:] == [("Use",), ("Use", "Dim it")]
    assert fragment.title == "Lamp Manual"
    assert fragment.chunks[-1].heading_path == ("Use", "Dim it")


def test_the_parents_of_a_passage_are_those_of_its_path() -> None:
    fragment = parse_page(TEXINFO)
    *_, use, dim = sections_of(fragment)
    assert fragment.chunks[-1].parent_ids == (fragment.doc, use.id, dim.id)
    nested = [(edge.src, edge.dst) for edge in fragment.edges if edge.kind is EdgeKind.PARENT_OF]
    assert nested == [(use.id, dim.id)]


@pytest.mark.parametrize(
    "page",
    [
        "<main><h1>Lamps</h1><p>a</p><h2>Use</h2><p>b</p></main>",
        BOOK.replace("book toc2", "article"),
        BOOK.replace("book toc2", "manpage"),
        SINGLE_HTML.replace("document-use", "use-it"),
    ],
)
def test_the_heading_of_a_page_among_others_stays_in_its_paths(page: str) -> None:
    first, second, *_ = (section.heading_path for section in sections_of(parse_page(page)))
    assert second == (*first, "Use")


def test_chapters_without_an_id_are_cited_by_the_title_above() -> None:
    page = BOOK.replace("<h1>", "<h1 id=top>").replace(" id=Use", "")
    assert [chunk.fragment for chunk in parse_page(page).chunks] == ["top", "top", "Dim"]


def test_what_texinfo_calls_a_subsubsection_is_below_a_subsection() -> None:
    deeper = "<h4 class=subsection>1.1.1 By hand</h4><h4 class=subsubsection>1.1.1.1 Left</h4><p>Slowly.</p>"
    assert parse_page(TEXINFO + deeper).chunks[-1].heading_path == ("Use", "Dim it", "By hand", "Left")


@pytest.mark.parametrize(("kind", "path"), [("chapter", ("Use", "Dim it")), ("sect1", ("Dim it",))])
def test_sections_of_a_docbook_chapter_are_below_it_though_both_are_h2(
    kind: str, path: tuple[str, ...]
) -> None:
    def title(text: str) -> str:
        return f"<div class=titlepage><div><div><h2 class=title>{text}</h2></div></div></div>"

    section = f"<div class=sect1>{title('2.1. Dim it')}<p>Turn it.</p></div>"
    chapter = f"<div class={kind}>{title('Chapter 2. Use')}<p>Press it.</p>{section}</div>"
    assert parse_page(f"<div class=navheader></div>{chapter}").chunks[-1].heading_path == path


@pytest.mark.parametrize(
    ("name", "path"),
    [("<span class=refentrytitle>lamp</span>", ("lamp", "Options")), ("Name", ("Options",))],
)
def test_sections_of_a_docbook_reference_page_are_below_its_name_though_both_are_h2(
    name: str, path: tuple[str, ...]
) -> None:
    named = f"<div class=refnamediv><h2>{name}</h2><p>lamp — lights a room</p></div>"
    section = "<div class=refsect1 id=opts><h2>Options</h2><p>Dim it.</p></div>"
    page = f"<div class=navheader></div><div class=refentry>{named}{section}</div>"
    assert parse_page(page).chunks[-1].heading_path == path
