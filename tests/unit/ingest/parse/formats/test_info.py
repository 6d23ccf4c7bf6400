"""Info: what comes of nodes and their indentation, and which files are taken."""

import gzip
from pathlib import Path

import pytest

from ingest.parse.formats.registry import is_listed
from schemas.errors import ParseError
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of

SAMPLES = Path(__file__).parents[4] / "samples" / "formats"
BEGIN = "This is a.info, produced by makeinfo version 7.0 from a.texi.\n\n\x1f\n"


def node(body: str, name: str = "Top", title: str = "A\n*\n") -> str:
    return f"File: a.info,  Node: {name},  Up: (dir)\n\n{title}\n{body}\n\x1f\n"


def text_of(body: str) -> str:
    return texts_of(parse_file(BEGIN + node(body, title="A\n***\n"), "a.info"))["A"]


def test_nodes_are_sections_with_the_ids_that_makeinfo_gives_them_in_html() -> None:
    fragment = parse_file((SAMPLES / "info.1.info").read_bytes(), "doc/light.info")

    assert [(one.level, one.heading, one.fragment) for one in sections_of(fragment)] == [
        (1, "Keeping the light", "Top"),
        (2, "Trimming the wick", "Wicks"),
        (3, "1.1 Fuel by season", "Fuel-_0026-oil"),
    ]
    assert "wick: Wicks" not in "".join(texts_of(fragment).values()), "the index is none of the text"
    assert {text: link.fragment for text, link in links_of(fragment).items()} == {
        "Fuel & oil": "Fuel-_0026-oil",
        "Wicks": "Wicks",
        "Oil": "Fuel-_0026-oil",
        "Index": "Index",
    }


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a\nb\n\n   c\nd", "a b\n\nc d"),
        ("a:\n\n     $ b\n\n       c\n\nd", "a:\n\n$ b\n\n  c\n\nd"),
        ("'-a'\n'-b'\n     c\n     d\n\n     e\n\nf", "'-a', '-b': c d\n\ne\n\nf"),
        ("   • a\n     b\n\n        - c\n\n   • d", "- a b\n  - c\n\n- d"),
        ("  3. a\n\nb", "3. a\n\nb"),
        (" -- Command: c [-x]\n     d", "Command: c [-x]: d"),
        ("*Note x: (other)Node, and *note Y: Z.", "See x, and see Y."),
        ('a \0\b[image src="x.png" text="X"\0\b] b', "a b"),
    ],
)
def test_indentation_says_what_belongs_to_what(written: str, said: str) -> None:
    assert text_of(written) == said


def test_a_manual_in_parts_says_which_they_are() -> None:
    whole = parse_file((SAMPLES / "info.2.info.gz").read_bytes(), "boats.info.gz")
    assert whole.warnings == ("files that it takes in are not read: boats.info-1, boats.info-2",)
    part = parse_file(gzip.compress((BEGIN + node("Words of it.")).encode(), mtime=0), "a.info-2.gz")
    assert part.kind == "info"


@pytest.mark.parametrize(
    ("name", "data", "taken"),
    [
        ("a.info", BEGIN.encode(), True),
        ("a.info-12", BEGIN.encode(), True),
        ("a.info.gz", gzip.compress(BEGIN.encode() + b"words " * 2_000, mtime=0), True),
        ("module.info", b"name = Lamps\n", False),
        ("a.txt", BEGIN.encode(), False),
    ],
)
def test_of_files_named_so_only_those_of_makeinfo_are_listed(name: str, data: bytes, taken: bool) -> None:
    assert is_listed(f"doc/{name}", lambda: data[:4_096]) is taken


def test_what_is_packed_too_large_or_nested_too_deep_ends() -> None:
    packed = gzip.compress(BEGIN.encode() + b"a" * (17 << 20), mtime=0)
    with pytest.raises(ParseError, match=r"a\.info\.gz: unpacks to more than 16 MB"):
        parse_file(packed, "a.info.gz")
    steps = "\n".join(f"{' ' * 5 * depth}• a" for depth in range(300))
    assert "• a" in text_of(f"{steps}\n{'*note ' * 5_000}")


@pytest.mark.parametrize("path", ["a.md", "a.rst", "a.adoc", "a.info"])
def test_a_control_character_in_a_text_of_several_lines_costs_no_document(path: str) -> None:
    begin = BEGIN + node("", title="A\n***\n").removesuffix("\x1f\n") if path == "a.info" else ""
    words = "word " * 1_000  # past the bytes by which a format is told
    fragment = parse_file(f"{begin}{words}\n\nFirst\x0e\x01\nlast.\n", path)
    assert {"First", "last."} <= {word.strip("\x0e\x01") for word in fragment.chunks[-1].text.split()}
