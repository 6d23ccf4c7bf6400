"""reStructuredText: what comes of its marks, and that a file reaches nothing beside itself."""

from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from schemas.errors import ParseError, UnsupportedMedia
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of

parse = partial(parse_file, path="guide/lamps.rst")


def test_titles_are_sections_with_the_ids_that_docutils_gives_them() -> None:
    fragment = parse(
        "=====\nLamps\n=====\n\nOil\n---\n\nText.\n\nPrice\n~~~~~\n\nHigh.\n\nWick\n----\n\nCotton.\n"
    )

    assert [(one.level, one.heading_path, one.fragment) for one in sections_of(fragment)][1:] == [
        (2, ("Lamps", "Oil"), "oil"),
        (3, ("Lamps", "Oil", "Price"), "price"),
        (2, ("Lamps", "Wick"), "wick"),
    ]
    assert (fragment.kind, fragment.title) == ("rst", "Lamps")


def test_tables_code_lists_and_notes_are_kept() -> None:
    fragment = parse(
        "Lamps\n=====\n\n"
        ".. list-table::\n   :header-rows: 1\n\n   * - Oil\n     - Price\n   * - rape\n     - 3\n\n"
        ".. code-block:: python\n   :linenos:\n\n   trim(1)\n\n- a\n- b\n\n.. warning:: Hot.\n\n"
        ".. seealso::\n\n   :doc:`Wicks <wicks>`, :py:func:`~lamp.trim` and :ref:`oil`\n"
    )

    text = texts_of(fragment)["Lamps"]
    for part in ("Oil | Price\nrape | 3", "trim(1)", "- a\n- b", "Warning\nHot.", "Wicks, trim and oil"):
        assert part in text
    assert {name for chunk in fragment.chunks for name in chunk.code_languages} == {"python"}


def test_links_are_resolved_against_the_file() -> None:
    fragment = parse("See `the oil`_ and `it <oil.html#price>`__.\n\n.. _the oil: https://example.org/oil\n")

    assert links_of(fragment)["the oil"].target == "https://example.org/oil"
    assert (links_of(fragment)["it"].target, links_of(fragment)["it"].fragment) == (
        "files://notes/guide/oil.html",
        "price",
    )


def test_nothing_beside_the_file_is_read_and_nothing_passes_through(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the hidden word")
    fragment = parse(
        f"Lamps\n=====\n\nText.\n\n.. include:: {secret}\n\n.. literalinclude:: {secret}\n\n"
        f".. csv-table::\n   :file: {secret}\n\n.. csv-table::\n   :url: file://{secret}\n\n"
        f".. raw:: html\n   :file: {secret}\n\n.. raw:: html\n\n   <p>passed</p>\n\n"
        ".. role:: out(raw)\n   :format: html\n\n:out:`<b>through</b>`\n"
    )

    text = "\n".join(texts_of(fragment).values())
    assert "hidden" not in text
    assert "<p>" not in text


def test_what_nothing_is_known_of_costs_no_other_text() -> None:
    fragment = parse(
        "Lamps\n=====\n\nBefore.\n\n.. strange:: thing\n\nA :odd:`role` here.\n\n"
        "Tail |x|.\n\nOil\n===\n\nEnd.\n"
    )

    text = "\n".join(texts_of(fragment).values())
    for part in ("Before.", "role", "Tail", "End."):
        assert part in text


@pytest.mark.parametrize(
    "text", ["", "Only text.", "====", "Lamps\n=", ".. _a: b_\n.. _b: a_\n\na_ x", "`" * 500]
)
def test_any_text_is_a_document(text: str) -> None:
    assert parse(f"{text}\n\nLast words.").chunks


DOUBLED = "".join(f".. |a{n}| replace:: |a{n + 1}| |a{n + 1}|\n" for n in range(40))


@pytest.mark.parametrize(
    "text",
    [
        f"{DOUBLED}.. |a40| replace:: x",
        DOUBLED,
        ".. |a| replace:: |b| |b|\n.. |b| replace:: |a| |a|\n\n|a|",
        f".. |A b| replace:: {'x ' * 500}\n   {'y ' * 500}\n\n{'|a  B| ' * 1_000}",
        "|a " * 20_000,
        "*a " * 20_000,
        "``a " * 20_000,
        "a_ " * 20_000,
    ],
)
def test_what_docutils_would_take_too_long_for_is_read_as_text(text: str) -> None:
    fragment = parse(f"Lamps\n=====\n\nFirst words.\n\n{text}\n\nLast |a0| words.\n")

    (told,) = fragment.warnings
    assert "read as plain text" in told
    said = " ".join(" ".join(chunk.text for chunk in fragment.chunks).split())
    assert all(part in said for part in ("Lamps", "First words.", "Last |a0| words."))
    assert len(said) >= len(" ".join(text.split()))


def test_substitutions_and_marks_in_common_numbers_are_read() -> None:
    text = ".. |v| replace:: version 3\n\n" + "".join(
        f"- Of |v| and ``{n}``, *as* said_\n" for n in range(400)
    )
    fragment = parse(f"{text}\n.. _said: https://x.example/\n")
    assert (fragment.warnings, "|v|" in fragment.chunks[0].text) == ((), False)


def test_what_docutils_stumbles_over_is_an_error_of_the_document() -> None:
    stumbles = mock.patch("docutils.core.publish_parts", side_effect=KeyError("a24"))
    with stumbles, pytest.raises(ParseError, match=r"lamps\.rst: docutils cannot read it"):
        parse("Text.")


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(UnsupportedMedia):
        parse(bytes(range(256)) * 9)


def test_a_footnote_at_the_end_of_a_file_stands_under_the_section_of_its_mark() -> None:
    fragment = parse(
        "Lamps\n=====\n\nOil\n---\n\nIt is dear [#n]_.\n\nRape.\n\n"
        "Wick\n----\n\nCotton.\n\n.. [#n] In winter.\n"
    )
    text = texts_of(fragment)
    assert text["Oil"].split() == ["It", "is", "dear", "[1].", "Rape.", "[1]", "In", "winter."]
    assert "winter" not in text["Wick"]


@pytest.mark.parametrize(
    ("directive", "said"),
    [
        (".. tab-set::\n\n   .. tab-item:: Linux\n\n      Run it.", "Linux\nRun it."),
        (".. tabs::\n\n   .. group-tab:: Linux\n\n      Run it.", "Linux\nRun it."),
        (".. tabs::\n\n   .. code-tab:: py Python\n\n      run(it)", "Python\nrun(it)"),
        (".. grid:: 2\n\n   .. grid-item-card:: Fast\n      :link: x\n\n      Run it.", "Fast\nRun it."),
        (".. dropdown:: *More* on it\n   :open:\n\n   Run it.", "More on it\nRun it."),
        (".. only:: html and draft\n\n   Run it.", "Run it."),
        (".. strange:: thing\n\n   Run it.", "thing\nRun it."),
        (".. my-box::\n   :class: x\n\n   Run it.", "Run it."),
        (".. autoclass:: lamps.Oil\n   :members:\n\n   Run it.", "lamps.Oil\n\nRun it."),
        ("10\\ :sup:`6` of H\\ :sub:`2`\\ O", "10⁶ of H₂O"),
        ("#. Stop\n#. Go", "1. Stop\n2. Go"),
    ],
)
def test_what_stands_in_a_directive_is_text_under_its_title(directive: str, said: str) -> None:
    assert texts_of(parse(f"{directive}\n")) == {"": said}


def test_a_file_that_is_taken_in_is_said() -> None:
    fragment = parse("Text.\n\n.. literalinclude:: ../a.py\n   :language: py\n\n.. include:: /b.rst\n")
    assert fragment.warnings == ("files that it takes in are not read: ../a.py, /b.rst",)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (".. productionlist:: g\n   a: b\n   c: d\n", "a: b\nc: d"),
        (".. productionlist::\n   a: b\n", "a: b"),
        (".. graphviz::\n   :name: x\n\n   a -> b\n", "a -> b"),
        (".. doctest::\n\n   >>> 1\n", ">>> 1"),
        ("B\n-\n\nb\n\nC\n=\n\nD\n~~\n\nd\n", "D\n\nd"),
        ("== ==\na  b\n== ==\ntoo wide c\n==\n", "== ==\na  b\n== ==\ntoo wide c\n=="),
        (".. code-block:: python\n   x = 1 + 2\n", ".. code-block:: python\n   x = 1 + 2"),
        ("a `b`_\n", "a `b`_"),
        ("a\n\n.. raw:: html\n\n   <b>\n", "a"),
    ],
)
def test_what_is_written_wrongly_or_without_an_empty_line_is_not_lost(written: str, said: str) -> None:
    assert sections_of(parse(f"A\n=\n\n{written}"))[-1].text == said
