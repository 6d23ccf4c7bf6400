"""AsciiDoc: what comes of its marks and blocks, and that a file reaches nothing beside itself."""

from functools import partial

import pytest

from ingest.parse.formats.asciidoc import asciidoc_to_html
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of

parse = partial(parse_file, path="guide/lamps.adoc")


def text_of(body: str) -> str:
    return "\n\n".join(texts_of(parse(body)).values())


def test_titles_are_sections_with_the_ids_that_asciidoctor_gives_them() -> None:
    fragment = parse(
        "= Lamps\n\n== Oil & Co.\n\nText.\n\n=== Price\n\nHigh.\n\n[[w]]\n== Wick ==\n\nCotton.\n\n"
        "Oil & Co.\n---------\n\nAgain.\n\n[discrete]\n==== Not a part\n\nEnd.\n"
    )

    assert [(one.level, one.heading, one.fragment) for one in sections_of(fragment)][1:] == [
        (2, "Oil & Co.", "_oil_co"),
        (3, "Price", "_price"),
        (2, "Wick", "w"),
        (2, "Oil & Co.", "_oil_co_2"),
        (4, "Not a part", "_not_a_part"),
    ]
    assert (fragment.kind, fragment.title) == ("asciidoc", "Lamps")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("*a* _b_ `c` #d# **e**f __g__h", "a b c d ef gh"),
        ("10^6^ of H~2~O", "10⁶ of H₂O"),
        ("2 * 3 * 4, a_b_c and __init__.py", "2 * 3 * 4, a_b_c and init.py"),
        ("`*.py` and `+{x}+` and +*y*+ and \\*z*", "*.py and {x} and *y* and *z*"),
        (":v: 2.1\n\nSince {v}, {unknown} and {lt}", "Since 2.1, {unknown} and <"),
        ("pass:[<u>a</u>] +++<b>b</b>+++ c <d>", "<u>a</u> b c <d>"),
        ("kbd:[Ctrl] btn:[OK] menu:File[Save] ((shown)) (((hidden))) icon:x[]", "Ctrl OK File > Save shown"),
        ("linkgit:git-add[1] stays", "linkgit:git-add[1] stays"),
        ("a +\nb", "a\nb"),
        ("// not\na\n// said\nb\n\n////\nc\n////", "a b"),
        ("ifdef::x[]\na\nendif::[]\nifndef::x,y[b]\nifeval::[{two-colons} == 1]\nc\nendif::[]\nd", "b d"),
        (":x:\n\nifdef::x[a]\nifdef::x+y[b]\nifdef::x,y[c]\n\\ifdef::x[]", "a c ifdef::x[]"),
        ("image::lamp.png[A lamp,200]\n\nb", "A lamp\n\nb"),
        ("NOTE: Hot.\nVery.", "Note\nHot. Very."),
        ("[TIP]\n--\na\n\nb\n--", "Tip\na\n\nb"),
        ("====\na\n\n=====\nb\n=====\n====", "a\n\nb"),
        ("[quote, Me]\nSaid.", "Said.\n\n— Me"),
        ("[comment]\nx\n\ny", "y"),
        ("a:: b\nc::\n  d\n+\ne\n\nf:::\n\n g", "a: b\n\nc: d\n\ne\n\nf: g"),
        (". a\n.. b\n. c\n+\nd\n\n* e\n\n\nf", "1. a\n  a. b\n2. c\nd\n  - e\n\nf"),
        ("|===\n|a |b\n\n.2+|c |d\n|e\n|===", "a | b\nc | d\nc | e"),
        ("[cols=3*]\n|===\n2*|x |y\n2+|z |w\n|===", "x | x | y\nz | z | w"),
        ('[cols="1a"]\n|===\n|\n!===\n!a !b\n!===\n|===', "a | b"),
        (",===\na,b\n,===", "a,b"),
    ],
)
def test_marks_and_blocks_are_read_as_asciidoctor_reads_them(written: str, said: str) -> None:
    assert text_of(written) == said


def test_code_keeps_its_lines_and_names_its_language() -> None:
    fragment = parse("[source,rust]\n----\nfn  a() <1>\n// b\n----\n\n```py\nx\n```\n\n  $ ls\n   -l\n")

    assert texts_of(fragment) == {"": "fn  a() (1)\n// b\n\nx\n\n$ ls\n -l"}
    assert {name for chunk in fragment.chunks for name in chunk.code_languages} == {"py", "rust"}


def test_links_and_references_lead_where_they_say() -> None:
    found = links_of(
        parse(
            "== Oil\n\nlink:a.html[A], https://x.example/b[B^], <https://x.example/c>, xref:d.adoc#e[D], "
            "<<_oil>>, <<Wick>>, <<f.adoc#g,F>>, mailto:a@b.example[mail].\n\n== Wick\n\nx\n"
        )
    )

    assert {text: (link.target, link.fragment) for text, link in found.items()} == {
        "A": ("files://notes/guide/a.html", None),
        "B": ("https://x.example/b", None),
        "https://x.example/c": ("https://x.example/c", None),
        "D": ("files://notes/guide/d.adoc", "e"),
        "Oil": ("files://notes/guide/lamps.adoc", "_oil"),
        "Wick": ("files://notes/guide/lamps.adoc", "_wick"),
        "F": ("files://notes/guide/f.adoc", "g"),
    }


def test_a_file_that_is_taken_in_is_said_and_not_read() -> None:
    fragment = parse(
        ":d: parts\n\nText.\n\ninclude::{d}/b.adoc[]\n\nifdef::x[]\ninclude::c.adoc[]\nendif::[]\n"
    )

    assert fragment.warnings == ("files that it takes in are not read: parts/b.adoc",)
    assert texts_of(fragment) == {"": "Text."}


VALUES = ":a0: xx\n" + "".join(f":a{n}: {{a{n - 1}}}{{a{n - 1}}}\n" for n in range(1, 40))


@pytest.mark.parametrize(
    "bomb",
    [
        f"{VALUES}\n{'{a39} ' * 20_000}",
        "".join("=" * (n + 4) + "\n" for n in range(500)),
        "* a\n** b\n\n+\n" * 5_000,
        "* a\n" + ".b\n" * 8_000,
        f"|===\n{'9' * 5_000}+|a\n|===",
        '[cols="²*"]\n|===\n|a\n|===',
        '[cols="1234x*"]\n|===\n|a\n|===',
        "[verse]\n____\n\n a\n____",
        "|===\n" + ".99999+|a " * 500 + "\n|===",
        "[cols=99999*]\n|===\n99*|a\n|===",
        *(mark * 20_000 for mark in ("** ", "*a ", "``a ", "+a ", "[[", "<<a", "a:b[[[[", "pass:[", "((")),
        "\x02 0\x03 \x04x\x04",
    ],
)
def test_no_text_stands_for_text_without_end_and_none_is_lost_behind_it(bomb: str) -> None:
    markup, _ = asciidoc_to_html(f"= Lamps\n\n{bomb}\n\nLast words.\n")

    assert "Last words." in markup
    assert len(markup) < 5 * len(bomb) + 2_000_000
