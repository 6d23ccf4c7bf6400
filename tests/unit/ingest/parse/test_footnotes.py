"""A footnote stands under the section that holds its mark, whatever wrote the page."""

from typing import Any

import pytest

from ingest.parse.html.notes import MarkedPart, NoteEnd, NoteStart, place_notes
from ingest.parse.html.page import parse_html
from ingest.parse.markdown.page import parse_markdown
from ingest.parse.outline import Block, Heading
from schemas.fragment import GraphFragment, ParseRequest

TEXT = "<h1>Port</h1><h2 id=fees>Fees</h2><p>A berth costs a crown{mark} a day.</p><p>Boats pay it first.</p>"
LAST = "<h2 id=end>Tides</h2><p>The tide is at noon.</p>"

FOOTNOTES = {
    "docbook": (
        '<a href="#ftn.f1" class="footnote" name="f1"><sup class="footnote">[1]</sup></a>',
        '<div class="footnotes"><br><hr style="width:100"><div id="ftn.f1" class="footnote"><p>'
        '<a href="#f1" class="para"><sup class="para">[1] </sup></a>A silver one.</p></div></div>',
    ),
    "sphinx": (
        ' <a class="footnote-reference brackets" href="#id2" id="id1" role="doc-noteref">'
        '<span class="fn-bracket">[</span>1<span class="fn-bracket">]</span></a>',
        '<aside class="footnote-list brackets"><aside class="footnote brackets" id="id2" role="doc-footnote">'
        '<span class="label"><span>[</span><a role="doc-backlink" href="#id1">1</a><span>]</span></span>'
        "<p>A silver one.</p></aside></aside>",
    ),
    "sphinx 3": (
        '<a class="footnote-reference brackets" href="#id2" id="id1">1</a>',
        '<dl class="footnote brackets"><dt class="label" id="id2"><span class="brackets">'
        '<a class="fn-backref" href="#id1">1</a></span></dt><dd><p>A silver one.</p></dd></dl>',
    ),
    "docutils": (
        '<a class="footnote-reference" href="#id2" id="id1">[1]</a>',
        '<table class="docutils footnote" frame="void" id="id2" rules="none"><tbody><tr><td class="label">'
        '<a class="fn-backref" href="#id1">[1]</a></td><td>A silver one.</td></tr></tbody></table>',
    ),
    "python-markdown": (
        '<sup id="fnref:1"><a class="footnote-ref" href="#fn:1">1</a></sup>',
        '<div class="footnote"><hr><ol><li id="fn:1"><p>A silver one.&#160;'
        '<a class="footnote-backref" href="#fnref:1">&#8617;</a></p></li></ol></div>',
    ),
    "pandoc": (
        '<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a>',
        '<section id="footnotes" class="footnotes" role="doc-endnotes"><hr><ol><li id="fn1"><p>A silver one.'
        '<a href="#fnref1" class="footnote-back" role="doc-backlink">↩︎</a></p></li></ol></section>',
    ),
    "github": (
        '<sup><a href="#user-content-fn-1" id="user-content-fnref-1" data-footnote-ref>1</a></sup>',
        '<section data-footnotes class="footnotes"><h2 id="footnote-label">Footnotes</h2><ol>'
        '<li id="user-content-fn-1"><p>A silver one. <a href="#user-content-fnref-1">↩</a></p></li></ol>'
        "</section>",
    ),
    "asciidoctor": (
        '<sup class="footnote">[<a id="_footnoteref_1" class="footnote" href="#_footnotedef_1">1</a>]</sup>',
        '<div id="footnotes"><hr><div class="footnote" id="_footnotedef_1">'
        '<a href="#_footnoteref_1">1</a>. A silver one.</div></div>',
    ),
    "mediawiki": (
        '<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup>',
        '<ol class="references"><li id="cite_note-1"><span><a href="#cite_ref-1">^</a></span> '
        '<span class="reference-text">A silver one.</span></li></ol>',
    ),
}


@pytest.mark.parametrize("kind", FOOTNOTES)
def test_a_footnote_stands_under_the_section_of_its_mark(kind: str) -> None:
    mark, note = FOOTNOTES[kind]
    fragment = parse_page(TEXT.replace("{mark}", mark) + LAST + note)
    under = {chunk.heading_path[-1]: chunk.text for chunk in fragment.chunks}

    assert under.keys() == {"Fees", "Tides"}
    assert "A silver one." not in under["Tides"]
    assert under["Fees"].index("Boats pay it first.") < under["Fees"].index("A silver one.")


def test_a_mark_in_a_box_with_a_heading_keeps_its_footnote_in_the_box() -> None:
    mark, note = FOOTNOTES["docbook"]
    box = f"<div class=note><h3>Note</h3><p>It is cold{mark}.</p><p>Very.</p></div><p>Boats lie here.</p>"
    parts = [chunk.text for chunk in parse_page(f"<h2>Winter</h2>{box}{LAST}{note}").chunks]
    assert next(text for text in parts if "cold" in text).endswith("A silver one.")
    assert sum("A silver one." in text for text in parts) == 1


@pytest.mark.parametrize(
    "page",
    [
        TEXT.replace("{mark}", "") + '<p>See <a id=q1 href="#a1">how to moor</a>.</p>' + LAST
        + '<div id=a1><p>With a rope. <a href="#q1">Back</a></p></div>',
        TEXT.replace("{mark}", '<a href="#end">1</a>') + LAST,
        TEXT.replace("{mark}", '<a href="#gone">1</a>') + LAST,
        "<p>One section<a href='#n' id=m>1</a>.</p><p id=n><a href='#m'>1</a> A note.</p><p>More.</p>",
    ],
)  # fmt: skip
def test_nothing_else_moves(page: str) -> None:
    texts = " ".join(chunk.text for chunk in parse_page(page).chunks)
    said = [words for words in ("Boats pay", "The tide", "With a rope", "A note", "More.") if words in texts]
    assert [texts.index(words) for words in said] == sorted(texts.index(words) for words in said)


@pytest.mark.parametrize("box", ["<p>{}</p>", "<div>{}</div>", "<div class=footnote><p>{}</p></div>"])
def test_a_list_of_footnotes_in_one_block_stays_under_its_heading(box: str) -> None:
    mark = "<h2>Part {n}</h2><p>Said{n}<a href='#n{n}' id=m{n}>{n}</a>.</p>"
    note = "<a id=n{n} href='#m{n}'>{n}</a> Note {n}.<br>"
    text, notes = ("".join(one.format(n=n) for n in range(3)) for one in (mark, note))
    under = {
        chunk.heading_path[-1]: chunk.text
        for chunk in parse_page(f"{text}<h2>Notes</h2>{box.format(notes)}").chunks
    }
    assert list(under) == ["Part 0", "Part 1", "Part 2", "Notes"]
    assert [f"Note {n}." in under["Notes"] for n in range(3)] == [True] * 3


def test_footnotes_of_markdown_stand_under_the_sections_of_their_marks() -> None:
    fragment = parse_notes(
        "# Port\n\n## Fees\n\nA crown[^silver] a day, and two[^2] at night.\n\nFirst.\n\n"
        "## Tides\n\nAt noon.\n\n[^silver]: A silver one,\nnot a gold one.\n\n    Kept in a box.\n"
        "[^2]: Of `copper`.\n[^none]: Nobody asks.\n"
    )
    under = {chunk.heading_path[-1]: chunk.text for chunk in fragment.chunks}
    assert under == {
        "Fees": "A crown[1] a day, and two[2] at night.\n\nFirst.\n\n"
        "[1] A silver one, not a gold one.\n\nKept in a box.\n\n[2] Of copper.",
        "Tides": "At noon.\n\n[none] Nobody asks.",
    }


@pytest.mark.parametrize(
    "behind", ["## Next\n\nText.", "```\ncode\n```", "- one\n- two", "***\nText.", "> said"]
)
@pytest.mark.parametrize("around", ["{}", "> {}", "- {}"])
def test_a_footnote_of_markdown_ends_where_another_block_begins(behind: str, around: str) -> None:
    def texts(joint: str) -> list[tuple[tuple[str, ...], str]]:
        lines = f"# H\n\nA[^1].\n\n{around}".format(f"[^1]: note,\ngoes on.{joint}{behind}").split("\n")
        indent = {">": "> ", "-": "  "}.get(around[0], "")
        body = "\n".join([*lines[:5], *(indent + line for line in lines[5:])])
        return [(chunk.heading_path, chunk.text) for chunk in parse_notes(body).chunks]

    assert texts("\n") == texts("\n\n")


def test_many_footnotes_are_placed_without_a_search_for_each() -> None:
    class Counted(list[MarkedPart]):
        read = 0

        def __getitem__(self, at: Any) -> Any:
            found = super().__getitem__(at)
            self.read += len(found) if isinstance(at, slice) else 1
            return found

    number = 100
    text = Counted([Heading(text="H", level=1), *(Block(text=str(n)) for n in range(number))])
    for n in range(number):
        text += [NoteStart((str(n),)), Block(text=f"Note {n}"), NoteEnd()]
    assert len(place_notes(text, lambda part: (part.text,))) == 2 * number + 1
    assert 0 < text.read < 10 * len(text)


def parse_notes(body: str) -> GraphFragment:
    return parse_markdown(
        body.encode(),
        ParseRequest(uri="file:///port.md", source="s"),
        count_tokens=lambda text: len(text.split()),
    )


def parse_page(markup: str) -> GraphFragment:
    return parse_html(
        f"<!DOCTYPE html><title>Port</title><body>{markup}".encode(),
        ParseRequest(uri="https://docs.example/port.html", source="s"),
        count_tokens=lambda text: len(text.split()),
    )
