"""Notes say what they are, tabs and fold-outs keep their labels."""

import pytest
from lxml.html import HtmlElement

from ingest.parse.html.dom import classes_of, parse_tree
from ingest.parse.html.lists import find_tabs
from tests.fakes.pages import links_of, parse_page, texts_of


def read(markup: str) -> str:
    return texts_of(parse_page(f"<main><h2>A</h2>{markup}</main>"))["A"]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<div class=warning><p>Do not touch.</p></div>", "Warning\nDo not touch."),
        ("<blockquote class='book-hint warning'><p>Stop.</p></blockquote>", "Warning\nStop."),
        ("<div class='alert alert-danger' role=alert>Stop.</div>", "Danger\nStop."),
        ("<div class=note><p>Note: it drips.</p></div>", "Note: it drips."),
        (
            "<div class='admonition warning'><p class=admonition-title>Wet paint</p><p>Mind it.</p></div>",
            "Warning: Wet paint\nMind it.",
        ),
        (
            "<div class='admonition tip'><p class=admonition-title>Tip</p><p>Mind it.</p></div>",
            "Tip\nMind it.",
        ),
        (
            "<div class='admonitionblock caution'><table><tr><td class=icon><img src=x alt=Caution></td>"
            "<td class=content>Hot.</td></tr></table></div>",
            "Caution\nHot.",
        ),
        (
            "<div class='warning custom-block'><p class=custom-block-title>Mind</p><p>Hot.</p></div>",
            "Warning: Mind\nHot.",
        ),
        ("<details class=warning><summary>Why?</summary><p>So.</p></details>", "Warning: Why?\nSo."),
        ("<details><summary>Why?</summary><p>So.</p></details>", "Why?\nSo."),
    ],
)
def test_a_note_says_what_it_is(markup: str, text: str) -> None:
    assert read(markup) == text


@pytest.mark.parametrize(
    "markup",
    [
        "<div class=tabbed-set><input><div class=tabbed-labels><label>Linux</label>"
        "<label>Windows</label></div>"
        "<div class=tabbed-content><div class=tabbed-block><p>One</p></div>"
        "<div class=tabbed-block><p>Two</p></div></div></div>",
        "<ul role=tablist><li role=tab>Linux</li><li role=tab>Windows</li></ul>"
        "<div><div role=tabpanel class=x>One</div><div role=tabpanel class=x hidden>Two</div></div>",
        "<div role=tablist><button role=tab id=t1>Linux</button><button role=tab id=t2>Windows</button></div>"
        "<div role=tabpanel aria-labelledby=t1>One</div><div role=tabpanel aria-labelledby=t2>Two</div>",
        "<ul class='nav nav-tabs'><li><a href='#p1'>Linux</a></li><li><a href='#p2'>Windows</a></li></ul>"
        "<div class=tab-content><div class=tab-pane id=p1>One</div><div class=tab-pane id=p2>Two</div></div>",
        "<div><div class=tabs><input type=radio><label>Linux</label><input type=radio><label>Windows</label>"
        "</div><div class=blocks><div>One</div><div>Two</div></div></div>",
        "<div class=sd-tab-set><input><label class=sd-tab-label>Linux</label>"
        "<div class=sd-tab-content>One</div>"
        "<input><label class=sd-tab-label>Windows</label><div class=sd-tab-content>Two</div></div>",
    ],
)
def test_the_label_of_a_tab_stands_over_its_panel(markup: str) -> None:
    assert read(markup) == "Linux\nOne\n\nWindows\nTwo"


def test_labels_that_are_not_as_many_as_the_panels_beside_them_stay_where_they_are() -> None:
    boxes = "<input type=radio><label>Yes</label><input type=radio><label>No</label>"
    assert "Yes" in read(f"<div><div>{boxes}</div><div><p>One</p><p>Two</p><p>Three</p></div></div>")


def test_the_name_of_a_file_stands_over_its_code_and_no_other_name_does() -> None:
    code = "<div class=highlight><span class=filename>app.py</span><pre><code>x = 1</code></pre></div>"
    page = parse_page(f"<main><h2>A</h2><p>Use <span class=filename>b.py</span> now.</p>{code}</main>")
    assert texts_of(page)["A"] == "Use b.py now.\n\napp.py\nx = 1"
    assert [chunk.captions for chunk in page.chunks] == [("app.py",)]


def test_a_footnote_is_reached_from_its_reference() -> None:
    page = parse_page(
        "<div role=main><h2 id=a>A</h2><p>It holds.<a href='#f1' id=r1>[1]</a></p>"
        "<aside class=footnote id=f1><span class=label>[1]</span><p>Until it breaks.</p></aside></div>"
    )
    link = links_of(page)["[1]"]
    note = next(chunk for chunk in page.chunks if "Until it breaks." in chunk.text)
    assert link.fragment in {note.fragment, *note.fragments}


def test_of_hundreds_of_panels_each_sibling_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(element: HtmlElement) -> frozenset[str]:
        nonlocal looks
        looks += 1
        return classes_of(element)

    monkeypatch.setattr("ingest.parse.html.lists.classes_of", counted)
    labels = "".join(f"<label>Label {n}</label>" for n in range(300))
    panels = "".join(f"<div class=tabbed-block><p>Panel {n}.</p></div>" for n in range(300))
    tree = parse_tree(f"<body><div class=tabbed-labels>{labels}</div>{panels}</body>", subject="x")
    found = find_tabs(tree, {})
    assert [text for _, text in sorted(found.labels.items(), key=lambda one: int(one[1].split()[1]))] == [
        f"Label {n}" for n in range(300)
    ]
    assert looks < 3 * 300


def test_a_passage_that_begins_with_the_label_of_a_tab_leads_to_its_panel() -> None:
    said = {name: f"<p>{' '.join([f'{name} word'] * 150)}.</p>" for name in ("bash", "fish", "cmd")}
    tabs = "".join(f"<button role=tab id=tab-{name}>{name.title()}</button>" for name in said)
    panels = "".join(
        f"<div role=tabpanel id=panel-{name} aria-labelledby=tab-{name}>{text}</div>"
        for name, text in said.items()
    )
    page = parse_page(f"<main><h2 id=a>A</h2><div role=tablist>{tabs}</div>{panels}</main>")

    begun = {chunk.text.split()[0]: chunk.fragment for chunk in page.chunks if chunk.text[0].isupper()}

    assert {"Fish": "panel-fish", "Cmd": "panel-cmd"}.items() <= begun.items()


def test_the_heading_of_a_panel_and_its_list_lead_to_the_panel_too() -> None:
    tabs = "<div role=tablist><button role=tab id=t1>Bash</button><button role=tab id=t2>Fish</button></div>"
    titled = "<div role=tabpanel id=p1 aria-labelledby=t1><h3>Set</h3><p>Type it in.</p></div>"
    entries = "<dt>key</dt><dd>opens</dd><dt>bar</dt><dd>shuts</dd>"
    listed = f"<dl role=tabpanel id=p2 aria-labelledby=t2>{entries}</dl>"
    page = parse_page(f"<main><h2 id=a>A</h2>{tabs}{titled}{listed}</main>")

    found = {chunk.text.split("\n")[0]: (chunk.fragment, chunk.heading_path[-1]) for chunk in page.chunks}
    assert found == {
        "Bash": ("p1", "A"),
        "Type it in.": ("p1", "Set"),
        "key: opens": ("p2", "key"),
        "bar: shuts": ("p2", "bar"),
    }
