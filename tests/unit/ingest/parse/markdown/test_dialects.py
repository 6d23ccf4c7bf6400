"""Markdown as sites write it: what each form says, what of it is no text, and what leads where."""

import time

import pytest

from tests.fakes.pages import links_of, parse_file, sections_of, texts_of

NOTES = {
    ":::warning Wet\nDry it.\n:::": "Warning: Wet\nDry it.",
    ":::tip[Wet *paint*]\n\nDry it.\n\n:::": "Tip: Wet paint\nDry it.",
    "::: info\nDry it.\n:::": "Info\nDry it.",
    ":::{note} Wet\n:class: dropdown\n\nDry it.\n:::": "Wet\nDry it.",
    '::: {.callout-tip title="Wet"}\nDry it.\n:::': "Tip: Wet\nDry it.",
    "::::danger\n:::note\nDry it.\n:::\nOut.\n::::": "Danger\n\nNote\nDry it.\n\nOut.",
    '!!! danger "Wet"\n    Dry it.\n\n    More.\n\nOut.': "Danger: Wet\nDry it.\n\nMore.\n\nOut.",
    "??? note\n    Dry it.": "Note\nDry it.",
    "/// warning | Wet\nDry it.\n///": "Warning: Wet\nDry it.",
    "> [!IMPORTANT]\n> Dry it.": "Important\nDry it.",
    "> [!faq]- Wet?\n> Dry it.": "Faq: Wet?\nDry it.",
    "```{warning} Wet\nDry *it*.\n```": "Warning: Wet\nDry it.",
    '<Callout type="warning" title="Wet">\n  Dry it.\n</Callout>': "Warning: Wet\nDry it.",
    '{{% alert title="Wet" color="warning" %}}\nDry it.\n{{% /alert %}}': "Warning: Wet\nDry it.",
    '{% hint style="danger" %}\nDry it.\n{% endhint %}': "Danger\nDry it.",
}


@pytest.mark.parametrize("written", NOTES)
def test_a_note_is_its_kind_its_title_and_its_text(written: str) -> None:
    (text,) = texts_of(parse_file(f"{written}\n")).values()
    assert text == NOTES[written]


HOLDERS = {
    '=== "Linux"\n\n    Run it.\n\n=== "Mac"\n\n    Buy it.': "Linux\nRun it.\n\nMac\nBuy it.",
    '<Tabs>\n  <TabItem value="a" label="Linux">\n\n    Run it.\n\n  </TabItem>\n</Tabs>': "Linux\nRun it.",
    "<Tabs items={['Linux', 'Mac']}>\n<Tab>\nRun it.\n</Tab>\n<Tab>\nBuy it.\n</Tab>\n</Tabs>": (
        "Linux\nRun it.\n\nMac\nBuy it."
    ),
    '{% tabs %}\n{% tab title="Linux" %}\nRun it.\n{% endtab %}\n{% endtabs %}': "Linux\nRun it.",
    '<Card title="Fast" href="/start">Begin *now*</Card>': "Fast\nBegin now",
    '<Card\n  title={"Fast"}\n  icon={<Icon a="b" />}\n  description="Begin now"\n/>': "Fast\nBegin now",
    'The <Badge text="beta" /> part of <b>it</b>.': "The beta part of it.",
    "<Highlight>Foo</Highlight> is a part.": "Foo is a part.",
    "::: code-group\n\n```js [a.js]\nlet a\n```\n\n:::": "a.js\nlet a",
    '```py title="a.py" {1}\nx = 1\n```': "a.py\nx = 1",
    "<details>\n<summary>More</summary>\n\nIt is *so*.\n\n</details>": "More\nIt is so.",
}


@pytest.mark.parametrize("written", HOLDERS)
def test_words_in_labels_and_attributes_stand_over_what_they_name(written: str) -> None:
    (text,) = texts_of(parse_file(f"{written}\n", "notes/plan.mdx")).values()
    assert text == HOLDERS[written]


NO_TEXT = (
    "import Tabs from '@theme/Tabs'",
    'import {\n  A,\n  B,\n} from "./x";',
    "export const Rate = ({children}) => {\n\n  return <b>{children}</b>;\n};",
    "{/* a comment */}",
    "<!-- a comment -->",
    "%% a comment %%",
    "[TOC]",
    "[[toc]]",
    "{: .lead }",
    "{#- a comment #}",
    "![[picture.png]]",
)


@pytest.mark.parametrize("written", NO_TEXT)
def test_what_readers_of_the_page_do_not_see_is_no_text(written: str) -> None:
    assert texts_of(parse_file(f"{written}\n\nWords.\n")) == {"": "Words."}


@pytest.mark.parametrize(
    "code",
    ["`{/* x */} <Tabs> [[a]]`", "```\nimport x from 'y'\n:::note\n{/* x */}\n[[a]]\n```", "~~~\n[TOC]\n~~~"],
)
def test_what_stands_in_code_stays_as_it_is(code: str) -> None:
    (text,) = texts_of(parse_file(f"{code}\n")).values()
    assert text == code.strip("`~\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Use List<String> and a<b.", "Use List<String> and a<b."),
        ("The <title> and <script> tags.", "The <title> and <script> tags."),
        ("<iframe src='x'>\n\nWords.", "Words."),
        ("<div><script>x\n\nWords.", "Words."),
        ("It is $5 and $6, as x*y is.", "It is $5 and $6, as x*y is."),
        ("Here $a_1 + b_1$ is.", "Here a_1 + b_1 is."),
        ("One<br>two, 10<sup>6</sup>, H<sub>2</sub>O.", "One\ntwo, 10⁶, H₂O."),
        ("Import the data from it.", "Import the data from it."),
        ("A value {{ version }}.", "A value {{ version }}."),
        ("| a | b |\n|---|---|\n| 1<br>2 | <ul><li>3</li><li>4</li></ul> |", "a | b\n1 2 | 3; 4"),
        ("Lamp\n: What gives light\n: A star", "Lamp: What gives light\n\nA star"),
        ("- [x] done\n- [ ] open", "- [x] done\n- [ ] open"),
        ("<ol><li>Stop</li><li>Go</li></ol>", "1. Stop\n2. Go"),
    ],
)  # fmt: skip
def test_text_and_html_in_it_are_read_as_a_browser_shows_them(text: str, said: str) -> None:
    (read,) = texts_of(parse_file(f"{text}\n")).values()
    assert read == said


@pytest.mark.parametrize(
    "heading",
    [
        "## Set up {#own}",
        "## Set up {/*own*/}",
        "## Set up {: #own }",
        "## Set up {: .big #own }",
        "## Set up { #own .big }",
        "Set up {#own}\n------",
        '<h2 id="own">Set up</h2>',
    ],
)
def test_an_id_at_a_heading_is_no_word_of_it(heading: str) -> None:
    (section,) = sections_of(parse_file(f"{heading}\n\nText.\n"))
    assert (section.heading, section.fragment) == ("Set up", "own")


@pytest.mark.parametrize(
    ("above", "path"),
    [
        ("---\ntitle: Lamps\n---\n\n## Oil\n", ("Lamps", "Oil")),
        ('+++\ntitle = "Lamps"\n+++\n\n## Oil\n', ("Lamps", "Oil")),
        ('export const title = "Lamps"\n\n## Oil\n', ("Lamps", "Oil")),
        ("export const meta = {\n  title: 'Lamps',\n};\n\n## Oil\n", ("Lamps", "Oil")),
        ("---\ntitle: Lamps\n---\n\n# Lamps!\n\n## Oil\n", ("Lamps!", "Oil")),
        ("---\ntitle: Lamps\n---\n\n# Light\n\n## Oil\n", ("Lamps", "Light", "Oil")),
        ("---\ntitle: Lamps\n---\n", ("Lamps",)),
        ("# Lamps\n\n## Oil\n", ("Lamps", "Oil")),
    ],
)
def test_the_title_is_in_every_heading_path(above: str, path: tuple[str, ...]) -> None:
    fragment = parse_file(f"{above}\nBurns.\n")
    assert [chunk.heading_path for chunk in fragment.chunks if "Burns" in chunk.text] == [path]
    assert fragment.title == "Lamps"


@pytest.mark.parametrize(
    "component",
    ['<Table of="oil" />', "::: lamps.Oil\n    options:\n      members: []", "<Oil></Oil>", "::oil{a=1}"],
)
def test_a_heading_over_nothing_but_a_component_is_no_passage(component: str) -> None:
    fragment = parse_file(
        f"# Lamps\n\nLight.\n\n## Props\n\n{component}\n\n## Use\n\nTrim.\n\n## All\n\n{component}\n"
    )
    assert [chunk.heading_path[-1] for chunk in fragment.chunks] == ["Lamps", "Use"]


@pytest.mark.parametrize(
    "include",
    [
        "{* ../x.py hl[1] *}", "<<< @/x.py{1}", '--8<-- "x.py"', "--8<--\nx.py\n--8<--",
        '{% include "x.py" %}', "```py\n{!> ../x.py!}\n```", "```{literalinclude} x.py\n```",
        '{{< readfile file="x.py" >}}',
    ],
)  # fmt: skip
def test_a_file_that_is_taken_in_is_said(include: str) -> None:
    fragment = parse_file(f"Before.\n\n{include}\n\nBehind.\n")
    assert "x.py" in fragment.warnings[0]
    assert " ".join(texts_of(fragment)[""].split()) == "Before. Behind."


def test_links_of_wikis_and_generators_lead_to_pages() -> None:
    links = links_of(parse_file('[[Oil lamps|shown]], [[Wicks#Trim]] and [x]({{< relref "b.md" >}}).\n'))
    assert {text: (link.target, link.fragment) for text, link in links.items()} == {
        "shown": ("files://notes/notes/Oil%20lamps", None),
        "Wicks#Trim": ("files://notes/notes/Wicks", "Trim"),
        "x": ("files://notes/notes/b.md", None),
    }


@pytest.mark.parametrize(
    "hostile",
    ["{/* ", '<A b="', "`" * 3 + "a\n", "!!! a\n    ", ":::a\n", "{% a ", "[[a", "<B>", "==a ", "%%\n"],
)
def test_marks_without_an_end_take_no_time(hostile: str) -> None:
    start = time.process_time()
    assert parse_file(f"First.\n\n{hostile * 3_000}\n").chunks
    assert time.process_time() - start < 10
