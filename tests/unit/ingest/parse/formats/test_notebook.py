"""Notebooks: what comes of cells and what they printed, and how bad files end."""

import json
from functools import partial
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from ingest.parse.formats.notebook import MAX_OUTPUT, shorten
from schemas.errors import ParseError
from tests.fakes.pages import links_of, parse_file, sections_of, texts_of
from tests.fakes.secret_samples import github_token

PYTHON = {"language_info": {"name": "Python"}}


parse = partial(parse_file, path="lamps/trim.ipynb")


def written(*cells: Any, **metadata: Any) -> bytes:
    text: str = nbformat.writes(new_notebook(cells=list(cells), metadata=metadata))
    return text.encode()


def test_cells_are_read_in_order_under_the_headings_of_markdown() -> None:
    printed = [
        new_output("stream", name="stdout", text="\x1b[32m18\x1b[0m\n"),
        new_output("execute_result", data={"text/plain": "36"}),
        new_output("display_data", data={"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}),
        new_output("error", ename="KeyError", evalue="'oil'", traceback=["..."]),
    ]
    fragment = parse(
        written(
            new_markdown_cell("# Lamps\n\nTrim [them](wicks.ipynb#Cut-it)."),
            new_code_cell("trim(1)\n", outputs=printed),
            new_raw_cell("raw"),
            new_markdown_cell("## Oil by season"),
            **PYTHON,
        )
    )

    assert texts_of(fragment) == {
        "Lamps": "Trim them.\n\ntrim(1)\n\nOutput:\n18\n\n36\nKeyError: 'oil'",
        "Oil by season": "Oil by season",
    }
    assert [section.fragment for section in sections_of(fragment)] == ["Lamps", "Oil-by-season"]
    assert {name for chunk in fragment.chunks for name in chunk.code_languages} == {"python"}
    assert links_of(fragment)["them"].target == "files://notes/lamps/wicks.ipynb"
    assert (fragment.kind, fragment.title) == ("notebook", "Lamps")


def test_a_cell_with_a_fence_that_is_left_open_ends_with_its_cell() -> None:
    fragment = parse(written(new_markdown_cell("```\nopen"), new_markdown_cell("# Next\n\nText.")))

    assert texts_of(fragment)["Next"] == "Text."


def test_how_often_cells_were_run_changes_nothing() -> None:
    once, often = (parse(written(new_code_cell("x", id="a", execution_count=n), title="T")) for n in (1, 9))

    assert once == often


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("", ""),
        ("one\n\n", "one"),
        ("x" * 1_200, "x" * MAX_OUTPUT + "\n[… 200 more characters]"),
        ("1\n" * 22, "\n".join(["1"] * 20) + "\n[… 4 more characters]"),
    ],
)
def test_what_a_cell_printed_is_kept_short(printed: str, kept: str) -> None:
    assert shorten(printed) == kept


def test_a_notebook_of_version_3_is_read() -> None:
    cell = {
        "cell_type": "code",
        "input": ["a = 1\n", "b"],
        "language": "python",
        "outputs": [],
        "metadata": {},
    }
    head = {"cell_type": "heading", "level": 1, "source": ["Lamps"], "metadata": {}}
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": "x"},
        "worksheets": [{"cells": [head, cell], "metadata": {}}],
    }
    data = json.dumps(old).encode()

    assert texts_of(parse(data)) == {"Lamps": "a = 1\nb"}
    assert parse(data) == parse(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"cells": [', "no notebook: NotJSONError"),
        (b"{}", "no notebook"),
        (
            b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "odd"}]}',
            "no notebook",
        ),
        (b'{"nbformat": 99, "nbformat_minor": 5, "metadata": {}, "cells": []}', "no notebook"),
        (b'{"nbformat": 4, "cells": 3}', "no notebook"),
        (b'{"a":' * 100_000, "no notebook"),
        (b'{"\xff\xfe": 1}', "no notebook: UnicodeDecodeError"),
        (bytes(range(256)) * 9, "no notebook"),
    ],
)
def test_a_bad_file_is_an_error_that_says_what_is_wrong(data: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=rf"trim\.ipynb: {reason}"):
        parse(data)


def test_a_secret_in_an_output_that_is_cut_is_told() -> None:
    log = "line\n" * 50 + f"token {github_token()}\n"

    fragment = parse(written(new_code_cell("x", outputs=[new_output("stream", name="stdout", text=log)])))

    assert fragment.secrets


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"text/markdown": "It is *so*.\n\n- one", "text/plain": "<obj>"}, "x\n\nIt is so.\n\n- one"),
        ({"text/latex": "$\\frac{a}{b}$", "text/plain": "a/b"}, "x\n\nOutput:\n\\frac{a}{b}"),
        ({"text/plain": "a/b"}, "x\n\nOutput:\na/b"),
    ],
)
def test_an_output_is_read_in_the_form_that_says_most(data: dict[str, str], said: str) -> None:
    cell = new_code_cell("x", outputs=[new_output("display_data", data=data)])
    assert texts_of(parse(written(cell))) == {"": said}
