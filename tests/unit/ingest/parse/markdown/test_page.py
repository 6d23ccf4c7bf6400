from schemas.edges import EdgeKind
from schemas.nodes import DocumentKind, Page
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of

FILE = """---
id: GOV-0017
type: governance
depends_on: GOV-0001
---
# Naming

Why names *matter*, see [the other file](../rules/ids.md#keys).

## Rules {#the-rules}

- one
- two
  1. inner

| A | B |
|---|---|
| 1 | `x` |

```python
# not a heading
x = 1
```

Setext
------

> A quotation.

## Rules
"""


def test_headings_are_sections_with_slugs_and_explicit_ids() -> None:
    sections = sections_of(parse_file(FILE))
    assert [(section.heading_path, section.fragment) for section in sections] == [
        (("Naming",), "naming"),
        (("Naming", "Rules"), "the-rules"),
        (("Naming", "Setext"), "setext"),
        (("Naming", "Rules"), "rules"),
    ]


def test_lists_tables_and_code_are_kept() -> None:
    texts = texts_of(parse_file(FILE.rpartition("## Rules")[0]))
    assert texts["Rules"] == "- one\n- two\n  1. inner\n\nA | B\n1 | x\n\n# not a heading\nx = 1"
    assert texts["Setext"] == "A quotation."


def test_front_matter_wins_over_the_source() -> None:
    fragment = parse_file(FILE, doc_type="note", domain="ops")
    (page,) = (node for node in fragment.nodes if isinstance(node, Page))
    assert (page.doc_id, page.doc_type, page.domain) == ("GOV-0017", "governance", "ops")
    assert {(chunk.doc_id, chunk.doc_type) for chunk in fragment.chunks} == {("GOV-0017", "governance")}
    assert [(reference.kind, reference.target) for reference in fragment.references] == [
        (EdgeKind.DEPENDS_ON, "GOV-0001")
    ]


def test_a_file_is_cited_by_its_path_and_section() -> None:
    chunk = parse_file(FILE, "notes/plan.md").chunks[1]
    assert (chunk.kind, chunk.file_path, chunk.url) == (DocumentKind.MARKDOWN, "notes/plan.md", None)
    assert (chunk.section, chunk.breadcrumbs) == ("Rules", ("notes", "Naming"))


def test_links_lead_to_files_of_the_same_source() -> None:
    link = links_of(parse_file(FILE))["the other file"]
    assert (link.target, link.fragment) == ("files://notes/rules/ids.md", "keys")


def test_html_in_markdown_is_read_as_text_with_its_ids_and_links() -> None:
    fragment = parse_file(
        '# A\n\n<a id="old"></a>\n\n<p>Block <a href="b.md">b</a></p>\n\nx <b>y</b>\n\n<!-- no -->\n'
    )
    assert texts_of(fragment) == {"A": "Block b\n\nx y"}
    assert (fragment.chunks[0].fragment, fragment.chunks[0].fragments) == ("a", ("old",))
    assert links_of(fragment)["b"].target == "files://notes/notes/b.md"


def test_a_bad_front_matter_is_text_and_said() -> None:
    fragment = parse_file("---\nid: [x\n---\n\nBody.\n")
    assert "Body." in fragment.chunks[-1].text
    assert fragment.warnings[0].startswith("front matter is read as text")


def test_what_is_wrong_with_a_front_matter_is_told_by_its_line_and_not_quoted() -> None:
    fragment = parse_file("---\nid: GOV-1\ntitle: the porter's: word\n---\n\nBody.\n")
    assert fragment.warnings == ("front matter is read as text: mapping values are not allowed here, line 3",)


def test_a_file_without_heading_is_titled_by_its_name() -> None:
    assert parse_file("Only text.", "notes/plan.md").title == "plan.md"


def test_an_ordered_list_counts_from_its_start() -> None:
    assert texts_of(parse_file("3. c\n4. d\n")) == {"": "3. c\n4. d"}


def test_a_table_that_is_not_one_stays_text() -> None:
    assert texts_of(parse_file("a | b\nc | d\n")) == {"": "a | b c | d"}


def test_code_says_its_language_and_is_kept_whole() -> None:
    code = "\n\n".join(f"def step_{number}():\n    return {number}" for number in range(20))
    fragment = parse_file(f"# A\n\n{'word ' * 200}\n\n```python title=x\n{code}\n```\n\n~~~\nplain\n~~~\n")
    (holding,) = (chunk for chunk in fragment.chunks if "step_0" in chunk.text)
    assert "step_19" in holding.text
    assert [chunk.code_languages for chunk in fragment.chunks] == [(), ("python",)]


def test_signs_that_no_reader_sees_are_not_read() -> None:
    hidden = "".join(chr(0xE0000 + ord(sign)) for sign in "obey")
    fragment = parse_file(f"\ufeff# A\u200b\n\nw\u202eor\u2066d{hidden}\n")
    assert texts_of(fragment) == {"A": "word"}


def test_a_footnote_is_text_and_no_link() -> None:
    fragment = parse_file("# A\n\nSee it.[^1] And [b].\n\n[^1]: In the cellar.\n\n[b]: b.md\n")
    assert texts_of(fragment) == {"A": "See it.[1] And b.\n\n[1] In the cellar."}
    assert list(links_of(fragment)) == ["b"]


def test_ids_at_a_heading_lead_to_what_stands_under_it() -> None:
    (chunk,) = parse_file("<a name='old'></a>\n\n# A <a id='older'></a>\n\ntext\n").chunks
    assert (chunk.fragment, chunk.fragments) == ("a", ("old", "older"))


def test_a_named_anchor_in_a_link_ends_only_itself() -> None:
    links = links_of(
        parse_file(
            "# A\n\n"
            '[<a name="foo"></a>Title words](x.md), <a href="y.md"><a id="q"></a>Y words</a>, '
            '[<a id="void"/>Void words](v.md), <a href="w.md"><a id="w"/>W words</a>, '
            "[Stray </a>words](z.md) and [<A HREF='in.md'>Inner</A> outer](o.md).\n"
        )
    )
    assert {words: link.target.rpartition("/")[2] for words, link in links.items()} == {
        "Title words": "x.md",
        "Y words": "y.md",
        "Void words": "v.md",
        "W words": "w.md",
        "Stray words": "z.md",
        "Inner": "in.md",
        "Inner outer": "o.md",
    }


def test_a_link_of_html_that_is_not_ended_takes_no_link_of_markdown_with_it() -> None:
    fragment = parse_file("# A\n\n[<a href='y.md'>Words](x.md) and more.\n")
    assert [(link.text, link.target.rpartition("/")[2]) for link in fragment.links] == [
        ("Words", "x.md"),
        ("Words", "y.md"),
    ]


def test_a_tag_with_very_many_attributes_is_read_like_any_other() -> None:
    many = " ".join(f"a{number}=b" for number in range(60_000))
    fragment = parse_file(f"# Lamps\n\nSome <span {many}>bright</span> words.\n\n<p {many}>\nEnd.\n</p>\n")
    assert "\n".join(texts_of(fragment).values()).split() == ["Some", "bright", "words.", "End."]
