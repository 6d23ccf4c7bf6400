from schemas.edges import EdgeKind
from schemas.fragment import GraphFragment
from schemas.nodes import ChunkNode, Page
from tests.fakes.pages import parse_page, sections_of

PAGE = """<title>Guide</title><main><h1 id=top>Guide</h1><p>Welcome.</p>
<h2 id=install>Install</h2><p>Run setup_tool --now.</p><h3>Windows</h3><p>Click the icon of it twice.</p>
<h2 id=more>More about the setup</h2></main>"""


def joined(fragment: GraphFragment, kind: EdgeKind) -> set[tuple[str, str]]:
    names = {node.id: getattr(node, "heading", "") or type(node).__name__ for node in fragment.nodes}
    return {(names[edge.src], names[edge.dst]) for edge in fragment.edges if edge.kind is kind}


def test_a_page_contains_all_its_sections_and_they_their_chunks() -> None:
    contained = joined(parse_page(PAGE), EdgeKind.CONTAINS)
    headings = {"Guide", "Install", "Windows", "More about the setup"}
    assert contained == {("Page", name) for name in headings} | {(name, "ChunkNode") for name in headings}


def test_parent_of_keeps_the_nesting() -> None:
    assert joined(parse_page(PAGE), EdgeKind.PARENT_OF) == {
        ("Guide", "Install"),
        ("Install", "Windows"),
        ("Guide", "More about the setup"),
    }


def test_every_edge_joins_nodes_of_the_fragment() -> None:
    fragment = parse_page(PAGE)
    ids = {node.id for node in fragment.nodes}
    assert {end for edge in fragment.edges for end in (edge.src, edge.dst)} <= ids
    assert len({edge.id for edge in fragment.edges}) == len(fragment.edges)


def test_a_chunk_says_where_it_stands() -> None:
    fragment = parse_page(PAGE, doc_type="manual", domain="ops", status="live", version="3.1")
    chunk = fragment.chunks[1]
    install = sections_of(fragment)[1]
    assert chunk.heading_path == ("Guide", "Install")
    assert (chunk.section, chunk.section_id, chunk.fragment) == ("Install", install.id, "install")
    assert chunk.parent_ids == (fragment.doc, sections_of(fragment)[0].id, install.id)
    assert (chunk.doc_type, chunk.domain, chunk.status, chunk.version) == ("manual", "ops", "live", "3.1")
    assert chunk.codes == ("--now", "setup_tool")
    assert install.text[slice(*chunk.offsets)] == chunk.text == "Run setup_tool --now."


def test_a_section_without_text_is_a_chunk_of_its_heading() -> None:
    assert parse_page(PAGE).chunks[-1].text == "More about the setup"


def test_a_heading_without_id_is_cited_by_the_section_above() -> None:
    fragment = parse_page(PAGE)
    assert sections_of(fragment)[2].fragment is None
    assert fragment.chunks[2].fragment == "install"


def test_a_noindex_page_is_its_page_node_alone() -> None:
    fragment = parse_page('<meta name=robots content="NoIndex"><h1>Hidden</h1><a href=/x>x</a>')
    assert fragment.noindex
    assert [type(node) for node in fragment.nodes] == [Page]
    assert not fragment.chunks
    assert not fragment.edges
    assert [link.target for link in fragment.links] == ["http://docs.example/x"]


def test_equal_sections_and_texts_get_distinct_ids() -> None:
    fragment = parse_page("<h1>T</h1>" + "<h2>Note</h2><p>Same.</p>" * 3)
    assert len({node.id for node in fragment.nodes}) == len(fragment.nodes)
    assert sum(isinstance(node, ChunkNode) for node in fragment.nodes) == len(fragment.chunks) == 4


def test_the_content_hash_ignores_navigation_and_scripts() -> None:
    bare = parse_page(PAGE)
    dressed = parse_page(
        f"<nav><a href=/new>New</a></nav><script>now=1</script>{PAGE}<footer>12 May</footer>"
    )
    assert dressed.content_hash == bare.content_hash


def test_the_content_hash_sees_text_headings_and_where_links_lead() -> None:
    pages = [
        "<h1>A</h1><p>x <a href=/1>y</a></p>",
        "<h1>A</h1><p>x <a href=/2>y</a></p>",
        "<h1>A</h1><p>z <a href=/1>y</a></p>",
        "<h1>B</h1><p>x <a href=/1>y</a></p>",
    ]
    assert len({parse_page(page).content_hash for page in pages}) == len(pages)


def test_an_inserted_section_and_paragraph_change_no_other_id() -> None:
    before = parse_page(PAGE)
    after = parse_page(
        PAGE.replace("<h2 id=install>", "<h2>News</h2><p>A new thing.</p><p>Two.</p><h2 id=install>")
    )
    assert {node.id for node in before.nodes} < {node.id for node in after.nodes}
    assert {chunk.id for chunk in before.chunks} < {chunk.id for chunk in after.chunks}


def test_sections_have_a_hash_of_their_own_and_a_page_the_heading_above_all() -> None:
    before = parse_page("<h1>Guide</h1><p>One.</p><h2>Limits</h2><p>Two.</p><h2>Costs</h2><p>Three.</p>")
    after = parse_page("<h1>Guide</h1><p>One.</p><h2>Limits</h2><p>Two, now.</p><h2>Costs</h2><p>Three.</p>")
    held = {section.id: section.content_hash for section in sections_of(before)}
    changed = [one.heading for one in sections_of(after) if held[one.id] != one.content_hash]
    assert changed == ["Limits"]
    assert len(set(held.values())) == len(held) == 3
    paths = [
        next(node.heading_path for node in parse_page(page).nodes if isinstance(node, Page))
        for page in ("<h1>Guide</h1><h2>A</h2><p>x</p>", "<p>lead</p><h1>A</h1><h1>B</h1>", "<p>bare</p>")
    ]
    assert paths == [("Guide",), (), ()]
